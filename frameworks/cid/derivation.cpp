// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/cid/derivation.h"

#include "core/base/out_of_memory.h"
#include "include/mpi.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace patchbay::cid {

std::string ExtendedId::text() const {
    char text[40];
    std::snprintf(text, sizeof text, "%" PRIx64 ".%016" PRIx64, pgcid, fields);
    return text;
}

Derivation::Derivation(ExtendedId id, int active, std::uint32_t last) noexcept
    : _own{id, active},
      _own_size(active > 0 ? last : 0) {}

Derivation::~Derivation() = default;

Derivation::ChildNumber Derivation::take() noexcept {
    const std::uint32_t number = _taken.fetch_add(1, std::memory_order_relaxed);
    if (number < _own_size) {
        return {0, number + 1, false};
    }
    const std::uint32_t beyond = number - _own_size;
    return {1 + beyond / block_size, 1 + beyond % block_size, beyond % block_size == 0};
}

bool Derivation::ready(const ChildNumber& child_number) const noexcept {
    if (child_number.block == 0) {
        return true;
    }
    std::lock_guard lock(_mutex);
    const auto found = _blocks.find(child_number.block);
    return found != _blocks.end() ? found->second.known : child_number.block <= _lost;
}

std::optional<Derivation::Child> Derivation::resolve(const ChildNumber& child_number, int* code) noexcept {
    if (child_number.block == 0) {
        return child_of(_own, child_number.value);
    }
    std::lock_guard lock(_mutex);
    const auto found = _blocks.find(child_number.block);
    if (found == _blocks.end() || !found->second.known) {
        *code = MPI_ERR_NO_MEM; // the block is lost
        return std::nullopt;
    }
    const Block block = found->second;
    count(found);
    *code = block.code;
    if (block.code != 0) {
        return std::nullopt;
    }
    return child_of({{block.pgcid, 0}, top_field}, child_number.value);
}

void Derivation::skip(const ChildNumber& child_number) noexcept {
    if (child_number.block != 0) {
        std::lock_guard lock(_mutex);
        unless_out_of_memory(false, [&] {
            count(_blocks.try_emplace(child_number.block).first);
            return true;
        }); // otherwise the block's entry stays, which is all
    }
}

void Derivation::renew(const ChildNumber& child_number, std::uint64_t pgcid, int code) noexcept {
    std::lock_guard lock(_mutex);
    const bool noted = unless_out_of_memory(false, [&] {
        Block& block = _blocks[child_number.block];
        block.pgcid = pgcid;
        block.code = code;
        block.known = true;
        while (!block.waiters.empty()) {
            std::exchange(block.waiters.pop_front()->next, nullptr)->count_down();
        }
        return true;
    });
    if (!noted) {
        _lost = std::max(_lost, child_number.block);
    }
}

int Derivation::attach(const ChildNumber& child_number, Waiter& waiter, Continuation& next) noexcept {
    if (child_number.block == 0) {
        return MPI_SUCCESS;
    }
    std::lock_guard lock(_mutex);
    if (child_number.block <= _lost && !_blocks.contains(child_number.block)) {
        return MPI_SUCCESS;
    }
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        Block& block = _blocks[child_number.block];
        if (!block.known) {
            next.count_up();
            waiter.next = &next;
            block.waiters.push_back(waiter);
        }
        return MPI_SUCCESS;
    });
}

void Derivation::detach(const ChildNumber& child_number, Waiter& waiter) noexcept {
    if (child_number.block == 0) {
        return; // nothing was attached
    }
    std::lock_guard lock(_mutex);
    if (waiter.next != nullptr) {
        _blocks.find(child_number.block)->second.waiters.erase(waiter);
        std::exchange(waiter.next, nullptr)->count_down();
    }
}

void Derivation::count(std::map<std::uint32_t, Block>::iterator block) noexcept {
    if (++block->second.resolved == block_size) {
        _blocks.erase(block);
    }
}

Derivation::Child Derivation::child_of(const Base& base, std::uint32_t value) noexcept {
    const int shift = 8 * base.active;
    return {{base.id.pgcid, base.id.fields | std::uint64_t(value) << shift}, base.active - 1};
}

} // namespace patchbay::cid
