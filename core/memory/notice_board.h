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
    // That one process has pinned up and not everybody has read yet. With more unread it is crowded: whoever pins up
    // another one waits until it may_go_on(), so that nobody gets further ahead of the slow.
    static constexpr std::uint32_t crowded = 32;
    // All that there can be, for which a process would need 1,000 threads that wait; memory is taken as it is needed.
    static constexpr std::uint32_t notices_per_rank = 1023;

    struct Notice {
        std::uint64_t kind;
        std::uint64_t word;
        bool operator==(const Notice&) const = default;
    };
    enum class Answer : std::uint8_t {
        pinned, // `notice` holds
        found,  // an earlier one holds and is in `notice` now
        full,   // ask again when can_answer()
    };
    // A notice that this process has pinned up.
    struct Pinned {
        std::uint32_t slot = 0;
        std::uint32_t serial = 0;
    };

    // Maps the board, and takes memory for this rank's first notices. `segment` lives longer.
    static Result<std::unique_ptr<NoticeBoard>> open(NodeSegment& segment);

    // `askers` processes of this node, two at least, ask about `subject`, each of them once; after the last one the
    // notice is gone, and the subject may come again. Does not block. Sets *pinned where the answer is that.
    Answer ask(std::string_view subject, std::uint32_t askers, Notice& notice, Pinned* pinned) noexcept;
    // After `full`: there is room, or a notice about it. Whoever reads a notice as the last one rings the bell of the
    // rank that pinned it up; nobody does for a notice that another rank has room for. Only looks.
    bool can_answer(std::string_view subject) const noexcept;
    // What has been pinned up is read, or it is crowded no more.
    bool may_go_on(const Pinned& pinned) const noexcept;

private:
    struct Slot;
    struct Rank;
    struct Board;
    NoticeBoard(NodeSegment& segment, const NodeRegion& region) noexcept;
    Status prepare();
    Rank& own() const noexcept;
    std::size_t offset_of_own() const noexcept;
    Slot& slot(std::uint32_t place) const noexcept;
    std::uint32_t* find(std::string_view subject, std::uint32_t hash) const noexcept;
    std::uint32_t take_slot() noexcept;
    Answer pin_up(std::string_view subject, std::uint32_t hash, std::uint32_t askers, const Notice& notice,
        Pinned* pinned) noexcept;

    NodeSegment& _segment;
    const NodeRegion _region;
    Board* const _board;
    Rank* const _ranks;
    std::size_t _committed = 0; // bytes of our own notices
};

} // namespace patchbay
