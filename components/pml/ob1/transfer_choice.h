// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace patchbay::pml::ob1 {

// The ways in which the contents of a rendezvous message reach the receiver.
enum class Way : std::uint8_t {
    stream, // the sender's fragments
    get,    // the receiver's btl.get()
    halves, // get() of the first half, while the sender writes the second one by btl.put()
};
inline constexpr std::uint8_t ways = 3;

// Which way the messages of one sender take where none is always the fastest one (btl::Limits::get_is_timed). A get of
// what the sender has just written, or of what is in the cache of a distant core, takes two to four times as long as a
// stream, whose two copies run on both cores at the same time. Of what has not changed, or where both sides send at
// once, a stream takes up to twice as long. Halves take half as long as a get, where the sender is waiting. So all ways
// are timed, for each size of message apart: some messages by the way in use, then as many by each other one; the one
// with the shortest time is used for a while.
class TransferChoice {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Clock = Time (*)() noexcept;

    static constexpr std::size_t least = std::size_t(64) << 10; // shorter ones are streams
    // Messages of each way in a trial. Those before them find the caches as the way before has left them: the memory of
    // a stream, 128 KiB with btl/sm, is not in the cache any more when it has not been used for a while.
    static constexpr std::uint8_t counted = 4; // two pairs
    static constexpr std::size_t cold_bytes = std::size_t(256) << 10;
    static constexpr std::size_t most_bytes_to_stay = std::size_t(256) << 20;
    static std::uint8_t uncounted(std::size_t bytes) noexcept {
        return std::uint8_t(std::clamp<std::size_t>(cold_bytes / std::bit_floor(bytes), 1, 4));
    }
    static int per_way(std::size_t bytes) noexcept { return uncounted(bytes) + counted; }
    // Messages until the next trial: twice as many after each one.
    static constexpr std::uint32_t first_stay = 8; // the first ones find memory that has never been used
    static constexpr std::uint32_t shortest_stay = 64;
    static std::uint32_t longest_stay(std::size_t bytes) noexcept {
        return std::uint32_t(std::clamp<std::size_t>(most_bytes_to_stay / std::bit_floor(bytes), shortest_stay, 1024));
    }

    struct Next {
        Way way;
        bool is_timed; // note() is to be called when the message has arrived
        bool resumes;  // a stream, after messages that have come otherwise
    };
    // Called once for each message, when its transfer begins.
    Next next(std::size_t bytes) noexcept {
        if (bytes < least) {
            return {Way::stream, false, false};
        }
        SizeClass& size = class_of(bytes);
        size.sent = 0;
        if (size.adopted != 0) {
            return size.take(Way(size.adopted - 1), false);
        }
        if (size.left != 0) {
            --size.left;
            return size.take(size.way, false);
        }
        return size.take(size.tried(), true);
    }
    // What a way takes in an exchange depends on the way of the other direction, so that one of both processes decides
    // for both. It calls announce() for each message that it sends, and the other one adopt() with the result, when the
    // message is announced: 0 is none, where the deciding process receives no such messages itself.
    unsigned announce(std::size_t bytes) noexcept {
        if (bytes < least || class_of(bytes).sent == most_sent) {
            return 0;
        }
        SizeClass& size = class_of(bytes);
        ++size.sent;
        return unsigned(size.left != 0 ? size.way : size.tried()) + 1;
    }
    void adopt(std::size_t bytes, unsigned announced) noexcept {
        if (bytes >= least && (announced != unsigned(Way::halves) + 1 || _halves_work)) {
            class_of(bytes).adopted = std::uint8_t(announced);
        }
    }
    // A timed message has arrived, whose transfer had begun at that time. It counts from the end of the last one, if
    // that was later: several may be under way. What was before the transfer counts as well, up to `most_before` times
    // as much as the transfer: the sender may have written the next message meanwhile, to lines that the last transfer
    // has brought into the cache of this process's core.
    void note(Way way, std::size_t bytes, Time began, Time now) noexcept {
        using Span = std::chrono::duration<float, std::nano>;
        const Span transfer = now - std::max(began, _last_end);
        const Span before = std::max(began - _last_end, Time::duration::zero());
        _last_end = now;
        SizeClass& size = class_of(bytes);
        if (size.left == 0 && way == size.tried()) { // else it was under way when the trial went on
            const Span time = transfer + std::min(before, most_before * transfer);
            size.note(time.count() / float(bytes), bytes, _halves_work);
        }
    }
    // The sender cannot write to the memory of this process.
    void forbid_halves() noexcept {
        _halves_work = false;
        for (SizeClass& size : _classes) {
            if (size.way == Way::halves || size.adopted == std::uint8_t(Way::halves) + 1 ||
                (size.left == 0 && size.tried() == Way::halves)) {
                size = {};
            }
        }
    }
    Way way_of(std::size_t bytes) noexcept { return bytes < least ? Way::stream : class_of(bytes).way; }

private:
    static constexpr float none = std::numeric_limits<float>::max();
    // What another way has to save to be taken: the times of two trials differ by chance.
    static constexpr float gain = 0.93F;
    static constexpr float most_before = 4;
    static constexpr std::uint8_t most_sent = 8;
    // A way that takes so many times as long is given up for this trial: its other messages take the best one so far.
    // Those that are not counted may be slow for another reason.
    static constexpr float hopeless = 1.5F;
    static constexpr float hopeless_at_first = 3;

    struct SizeClass {
        Way way = Way::stream;
        std::uint8_t step = 0;           // of the trial: how many ways have been timed
        std::uint8_t noted = 0;          // messages by the next one
        bool given_up = false;           // which is not timed any longer
        std::uint32_t left = first_stay; // messages until the next trial; 0: it is under way
        std::uint32_t stay = shortest_stay;
        float first_of_two = 0;
        std::array<float, ways> fastest{none, none, none}; // ns per byte
        std::uint8_t sent = most_sent; // messages to the other process since the last one from there, up to this
        std::uint8_t adopted = 0;      // as announced
        Way last = Way::stream;        // of the last message

        Next take(Way next, bool is_timed) noexcept {
            const bool resumes = next == Way::stream && last != Way::stream;
            last = next;
            return {next, is_timed, resumes};
        }
        Way best() const noexcept { return Way(std::ranges::min_element(fastest) - fastest.begin()); }
        Way tried() const noexcept { return given_up ? best() : Way((std::uint8_t(way) + step) % ways); }
        void note(float time, std::size_t bytes, bool halves_work) noexcept {
            if (!given_up) {
                look_at(time, noted - uncounted(bytes));
            }
            if (++noted >= per_way(bytes)) {
                end_step(bytes, halves_work);
            }
        }
        // `number`: among those that count, negative: before. In an exchange a message that comes early is followed by
        // a late one, so that two count together.
        void look_at(float time, int number) noexcept {
            float& own = fastest[std::uint8_t(tried())];
            float most = hopeless_at_first;
            if (number >= 0 && number % 2 == 0) {
                first_of_two = time;
                return;
            }
            if (number >= 0) {
                time = (first_of_two + time) / 2;
                own = std::min(own, time);
                most = hopeless;
            }
            given_up = step > 0 && time > most * *std::ranges::min_element(fastest);
        }
        void end_step(std::size_t bytes, bool halves_work) noexcept {
            given_up = false;
            noted = 0;
            ++step;
            if (step < ways && tried() == Way::halves && !halves_work) {
                ++step;
            }
            if (step >= ways) {
                decide(bytes);
            }
        }
        void decide(std::size_t bytes) noexcept {
            if (fastest[std::uint8_t(best())] < gain * fastest[std::uint8_t(way)]) {
                way = best();
            }
            left = stay;
            stay = std::min(2 * stay, longest_stay(bytes));
            step = 0;
            fastest.fill(none);
        }
    };

    // From `least` on, those between two powers of two; the last one has all above.
    SizeClass& class_of(std::size_t bytes) noexcept {
        const auto number = std::size_t(std::bit_width(bytes)) - std::size_t(std::bit_width(least));
        return _classes[std::min(number, _classes.size() - 1)];
    }

    std::array<SizeClass, 9> _classes; // the last one from 8 MiB on
    Time _last_end;
    bool _halves_work = true; // as far as is known
};

} // namespace patchbay::pml::ob1
