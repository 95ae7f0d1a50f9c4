// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/sm/module.h"

#include <map>
#include <mutex>

namespace patchbay::osc::sm {

// The memory that a member has attached to a dynamic window. Any member may call.
class AttachedMemory {
public:
    // MPI_ERR_RMA_ATTACH: no memory for the region.
    int attach(void* base, std::uint64_t bytes) noexcept;
    void detach(void* base) noexcept;
    // MPI_ERR_RMA_RANGE: some bytes of the elements at the address `place` are not attached.
    int check(std::uint64_t place, MPI_Count count, const Datatype& type) const noexcept;

private:
    bool covers(std::uint64_t from, std::uint64_t to) const noexcept;

    mutable std::mutex _mutex;
    std::map<std::uint64_t, std::uint64_t> _regions; // the end of each, by its beginning
};

// A dynamic window whose members are threads of this process: their memory is where its addresses say. Each operation
// looks first whether what it accesses is attached.
class DynamicSm final : public Sm {
public:
    DynamicSm(Progress& progress, Window& window) noexcept
        : Sm(progress, nullptr, window) {}

    int put(const Origin& origin, const Target& target, Request** request) noexcept override;
    int get(const Fetched& result, const Target& target, Request** request) noexcept override;
    int accumulate(const Origin& origin, const Target& target, const Op& op, Request** request) noexcept override;
    int get_accumulate(const Origin& origin, const Fetched& result, const Target& target, const Op& op,
        Request** request) noexcept override;
    int fetch_and_op(const void* origin, void* result, const Datatype& type, int rank, std::uint64_t place,
        const Op& op) noexcept override;
    int compare_and_swap(const void* origin, const void* compare, void* result, const Datatype& type, int rank,
        std::uint64_t place) noexcept override;

    int attach(void* base, std::uint64_t bytes) noexcept override { return _attached.attach(base, bytes); }
    int detach(void* base) noexcept override {
        _attached.detach(base);
        return MPI_SUCCESS;
    }

protected:
    AttachedMemory* attached() noexcept override { return &_attached; }

private:
    int check(const Target& target) const noexcept {
        return attached_by(target.rank).check(target.place, target.count, *target.type);
    }

    AttachedMemory _attached;
};

} // namespace patchbay::osc::sm
