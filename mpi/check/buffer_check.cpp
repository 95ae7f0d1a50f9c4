// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/buffer_check.h"

#include "mpi/check/finding.h"
#include "object/convertor.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>

namespace patchbay::check {

namespace {

// FNV-1a over words; zero bytes fill the last one.
std::uint64_t hash_of(const MessageCall& call) noexcept {
    Convertor data(*call.type, call.count, call.buffer);
    std::uint64_t hash = 0xcbf29ce484222325;
    std::array<std::uint64_t, 512> chunk;
    while (data.remaining() > 0) {
        chunk.fill(0);
        const std::size_t size = data.pack(chunk.data(), sizeof chunk);
        for (std::size_t i = 0; i < (size + 7) / 8; ++i) {
            hash = (hash ^ chunk[i]) * 0x100000001b3;
        }
    }
    return hash;
}

// The words for the buffer of a call, its operation, and how that is completed.
struct Words {
    const char* buffer;
    const char* operation;
    const char* completion;
};

Words words_of(const MessageCall& call) noexcept {
    if (call.window != nullptr) {
        return {"origin buffer", "operation", "MPI_Win_flush or MPI_Win_flush_local, or the end of the epoch"};
    }
    return {call.partition >= 0 ? "partition" : "send buffer", call.collective ? "operation" : "send",
        "MPI_Wait, MPI_Test"};
}

} // namespace

void BufferCheck::begin(Use& use, const MessageCall& call, const CallSite& site) noexcept {
    if (!_on || use._active || !call.range().bounds(&use._begin, &use._end)) {
        return;
    }
    unless_exhausted([&] {
        use._call = &call;
        use._site = &site;
        if (call.sends()) {
            Convertor data(*call.type, call.count, call.buffer);
            const bool short_enough = data.total() <= longest_copy;
            use._copy.resize(short_enough ? data.total() : 0);
            if (short_enough) {
                data.pack(use._copy.data(), use._copy.size());
            } else {
                use._hash = hash_of(call);
            }
        }
        const std::lock_guard lock(_mutex);
        find_overlap(use, site);
        use._place = _classes[class_of(use)].emplace(use._begin, &use);
        use._active = true;
        // Other processes write to the memory of windows, which may be beside the buffer.
        if (call.sends() && call.type->dense && call.window == nullptr) {
            use._pages.protect(use._begin, use._end);
        }
    });
}

void BufferCheck::look_at(const MessageCall& call) noexcept {
    Use use;
    if (!_on || !call.range().bounds(&use._begin, &use._end)) {
        return;
    }
    use._call = &call;
    unless_exhausted([&] {
        const std::lock_guard lock(_mutex);
        if (std::any_of(_classes.begin(), _classes.end(), [](const Class& uses) { return !uses.empty(); })) {
            find_overlap(use, CallSite::here());
        }
    });
}

std::size_t BufferCheck::class_of(const Use& use) noexcept {
    return std::size_t(std::bit_width(use._end - use._begin)) - 1; // a use has at least one byte
}

void BufferCheck::find_overlap(const Use& use, const CallSite& site) {
    for (std::size_t i = 0; i < _classes.size(); ++i) {
        const std::uintptr_t longest = (std::uintptr_t(2) << i) - 1;
        const Use* used = _classes[i].empty() ? nullptr : overlapping(_classes[i], longest, use);
        if (used == nullptr) {
            continue;
        }
        const std::size_t shared = shared_bytes(use._call->range(), used->_call->range());
        print_finding("buffers",
            fmt::format("{}: {} {} of {} {} in use by {}. Complete that operation before, or use other memory",
                use._call->text(site), shared, shared == 1 ? "byte" : "bytes",
                use._call->is_of_one_buffer() ? "argument buf" : "its buffer", shared == 1 ? "is" : "are",
                used->_call->text(*used->_site)));
        return;
    }
}

// The first of the uses, none of which is longer than `longest`, that may not share memory with `use` but does.
const BufferCheck::Use* BufferCheck::overlapping(const Class& uses, std::uintptr_t longest, const Use& use) const {
    const std::uintptr_t lowest = use._begin > longest ? use._begin - longest : 0;
    for (auto other = uses.lower_bound(lowest); other != uses.end() && other->first < use._end; ++other) {
        const Use& used = *other->second;
        if (used._end > use._begin && !(used._call->sends() && use._call->sends()) &&
            shared_bytes(use._call->range(), used._call->range()) > 0) {
            return &used;
        }
    }
    return nullptr;
}

void BufferCheck::end(Use& use) noexcept {
    if (!use._active) {
        return;
    }
    const PageGuard::Write write = use._pages.release();
    release(use);
    unless_exhausted([&] {
        if (write.address != 0) {
            const Words words = words_of(*use._call);
            print_finding("buffers",
                fmt::format("{}: the program changed byte {} of the {} at {}, before the {} was complete. "
                            "Complete it ({}) before the buffer is changed",
                    use._call->text(*use._site), write.address - use._begin, words.buffer,
                    CallSite::at(write.instruction).text(), words.operation, words.completion));
        } else if (use._call->sends()) {
            compare(use);
        }
    });
}

void BufferCheck::compare(const Use& use) {
    const MessageCall& call = *use._call;
    const Words words = words_of(call);
    std::string what;
    Convertor data(*call.type, call.count, call.buffer);
    if (data.total() > longest_copy) {
        what = hash_of(call) != use._hash ? fmt::format("the {}", words.buffer) : "";
    } else {
        std::vector<std::byte> now(data.total());
        data.pack(now.data(), now.size());
        const auto [was, is] = std::mismatch(use._copy.begin(), use._copy.end(), now.begin());
        if (was != use._copy.end()) {
            what = fmt::format("byte {} of the {} (was {:#04x}, is {:#04x})", was - use._copy.begin(), words.buffer,
                std::to_integer<unsigned>(*was), std::to_integer<unsigned>(*is));
        }
    }
    if (!what.empty()) {
        print_finding("buffers",
            fmt::format("{}: the program changed {} before the {} was complete. Complete it ({}) before the buffer is "
                        "changed",
                call.text(*use._site), what, words.operation, words.completion));
    }
}

void BufferCheck::give_up(Use& use) noexcept {
    if (use._active) {
        use._pages.release();
        release(use);
    }
}

void BufferCheck::release(Use& use) noexcept {
    const std::lock_guard lock(_mutex);
    _classes[class_of(use)].erase(use._place);
    use._active = false;
}

} // namespace patchbay::check
