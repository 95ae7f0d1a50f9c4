// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/node_segment.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// Where processes of one node come to the same answer without waiting for one another: whoever is first to ask about a
// subject pins up what shall hold, and all others find it. In the node segment, under a lock that is held for some ten
// nanoseconds and survives the death of its holder. Thread-safe.
class NoticeBoard {
public:
    // Of subjects; longer ones have no place.
    static constexpr std::size_t longest_subject = 216;
    // That one process has pinned up and not everybody has read yet. From half of it on it is `crowded`: whoever pins
    // up another one waits until that is read, and so leaves room for others in its process, for whom the slow may
    // wait.
    static constexpr std::uint32_t notices_per_rank = 64;
    static constexpr std::uint32_t crowded = notices_per_rank / 2;

    struct Notice {
        std::uint64_t kind;
        std::uint64_t word;
        bool operator==(const Notice&) const = default;
    };
    enum class Answer : std::uint8_t {
        pinned, // `notice` holds
        found,  // an earlier one holds and is in `notice` now
        full,   // ask again when has_room()
    };
    // A notice that this process has pinned up.
    struct Pinned {
        std::uint32_t slot = 0;
        std::uint32_t serial = 0;
    };

    // Maps the board, and takes memory for this rank's notices. `segment` lives longer.
    static Result<std::unique_ptr<NoticeBoard>> open(NodeSegment& segment);

    // `askers` processes of this node, two at least, ask about `subject`, each of them once; after the last one the
    // notice is gone, and the subject may come again. Does not block. Sets *pinned where the answer is that.
    Answer ask(std::string_view subject, std::uint32_t askers, Notice& notice, Pinned* pinned) noexcept;
    // After `full`. Whoever reads a notice as the last one rings the bell of the rank that pinned it up. Only looks.
    bool has_room() const noexcept;
    // Must whoever has pinned this up wait until is_read()?
    static bool is_crowded(const Pinned& pinned) noexcept { return pinned.slot >= crowded; }
    bool is_read(const Pinned& pinned) const noexcept;

private:
    struct Slot;
    struct Rank;
    struct Board;
    explicit NoticeBoard(NodeSegment& segment) noexcept
        : _segment(segment) {}
    Slot& slot(std::uint32_t place) const noexcept;
    Answer pin_up(std::string_view subject, std::uint32_t hash, std::uint32_t askers, const Notice& notice,
        Pinned* pinned) noexcept;

    NodeSegment& _segment;
    Board* _board = nullptr;
    Rank* _ranks = nullptr;
};

} // namespace patchbay
