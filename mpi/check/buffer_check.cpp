// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/buffer_check.h"

#include "mpi/check/finding.h"
#include "object/convertor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace patchbay::check {

namespace {

struct Block {
    std::uintptr_t begin;
    std::uintptr_t end;
};

// The blocks of memory of a buffer by address; empty: there are too many to compare.
std::vector<Block> blocks_of(const MessageCall& call) {
    constexpr std::size_t most = 4096;
    std::vector<Block> blocks;
    Convertor data(*call.type, call.count, call.buffer);
    std::array<iovec, 64> vectors;
    while (data.remaining() > 0) {
        const std::size_t filled = data.next_blocks(vectors, data.remaining());
        for (std::size_t i = 0; i < filled; ++i) {
            const auto begin = reinterpret_cast<std::uintptr_t>(vectors[i].iov_base);
            blocks.push_back({begin, begin + vectors[i].iov_len});
        }
        if (blocks.size() > most) {
            return {};
        }
    }
    std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.begin < b.begin; });
    return blocks;
}

// The number of bytes that two buffers share.
std::size_t shared_bytes(const MessageCall& first, const MessageCall& second) {
    const std::vector<Block> a = blocks_of(first);
    const std::vector<Block> b = blocks_of(second);
    std::size_t shared = 0;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        const std::uintptr_t begin = std::max(i->begin, j->begin);
        const std::uintptr_t end = std::min(i->end, j->end);
        shared += begin < end ? end - begin : 0;
        i->end < j->end ? ++i : ++j;
    }
    return shared;
}

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

bool set_range(const MessageCall& call, std::uintptr_t* begin, std::uintptr_t* end) noexcept {
    const Datatype& type = *call.type;
    if (call.count <= 0 || type.size <= 0) {
        return false;
    }
    const MPI_Aint reach = (call.count - 1) * type.extent;
    const auto first = reinterpret_cast<std::uintptr_t>(call.buffer) + std::uintptr_t(type.true_lower_bound);
    *begin = first + std::uintptr_t(std::min<MPI_Aint>(reach, 0));
    *end = first + std::uintptr_t(type.true_extent) + std::uintptr_t(std::max<MPI_Aint>(reach, 0));
    return true;
}

} // namespace

void BufferCheck::begin(Use& use, const MessageCall& call, const CallSite& site) noexcept {
    if (!_on || use._active || !set_range(call, &use._begin, &use._end)) {
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
        use._place = _uses.emplace(use._begin, &use);
        use._active = true;
        _longest = std::max(_longest, use._end - use._begin);
        if (call.sends() && call.type->dense) {
            use._pages.protect(use._begin, use._end);
        }
    });
}

void BufferCheck::look_at(const MessageCall& call) noexcept {
    Use use;
    if (!_on || !set_range(call, &use._begin, &use._end)) {
        return;
    }
    use._call = &call;
    unless_exhausted([&] {
        const std::lock_guard lock(_mutex);
        if (!_uses.empty()) {
            find_overlap(use, CallSite::here());
        }
    });
}

void BufferCheck::find_overlap(const Use& use, const CallSite& site) {
    const std::uintptr_t lowest = use._begin > _longest ? use._begin - _longest : 0;
    for (auto other = _uses.lower_bound(lowest); other != _uses.end() && other->first < use._end; ++other) {
        const Use& used = *other->second;
        if (used._end <= use._begin || (used._call->sends() && use._call->sends())) {
            continue;
        }
        if (const std::size_t shared = shared_bytes(*use._call, *used._call); shared > 0) {
            print_finding("buffers",
                fmt::format("{}: {} {} of argument buf {} in use by {}. Complete that operation before, or use other "
                            "memory",
                    use._call->text(site), shared, shared == 1 ? "byte" : "bytes", shared == 1 ? "is" : "are",
                    used._call->text(*used._site)));
            return;
        }
    }
}

void BufferCheck::end(Use& use) noexcept {
    if (!use._active) {
        return;
    }
    const PageGuard::Write write = use._pages.release();
    release(use);
    unless_exhausted([&] {
        if (write.address != 0) {
            print_finding("buffers",
                fmt::format("{}: the program changed byte {} of the send buffer at {}, before the send was complete. "
                            "Complete it (MPI_Wait, MPI_Test) before the buffer is changed",
                    use._call->text(*use._site), write.address - use._begin, CallSite::at(write.instruction).text()));
        } else if (use._call->sends()) {
            compare(use);
        }
    });
}

void BufferCheck::compare(const Use& use) {
    const MessageCall& call = *use._call;
    std::string what;
    Convertor data(*call.type, call.count, call.buffer);
    if (data.total() > longest_copy) {
        what = hash_of(call) != use._hash ? "the send buffer" : "";
    } else {
        std::vector<std::byte> now(data.total());
        data.pack(now.data(), now.size());
        const auto [was, is] = std::mismatch(use._copy.begin(), use._copy.end(), now.begin());
        if (was != use._copy.end()) {
            what = fmt::format("byte {} of the send buffer (was {:#04x}, is {:#04x})", was - use._copy.begin(),
                std::to_integer<unsigned>(*was), std::to_integer<unsigned>(*is));
        }
    }
    if (!what.empty()) {
        print_finding("buffers",
            fmt::format("{}: the program changed {} before the send was complete. Complete it (MPI_Wait, MPI_Test) "
                        "before the buffer is changed",
                call.text(*use._site), what));
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
    _uses.erase(use._place);
    use._active = false;
}

} // namespace patchbay::check
