// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/btl_words.h"

#include "components/common/run_operation.h"
#include "components/osc/rdma/errors.h"

namespace patchbay::osc::rdma {

BtlWords::BtlWords(int rank, int size, std::byte* own, Progress& progress)
    : Words(rank, size),
      _progress(progress),
      _ways(new Way[std::size_t(size)]()) {
    auto* const block = reinterpret_cast<Place*>(own);
    set_own(block);
    // Where others use operations of a btl, these are atomic with those of the processor (Members::connect).
    set_mapped(rank, block, &progress.doorbell()); // other threads of this process may wait
}

// An atomic operation, also for a load or a store, so that all of them have one order at the target.
int BtlWords::fetch_op(
    int member, btl::Atomic op, Word word, std::uint64_t operand, std::uint64_t& before, btl::Wake wake) noexcept {
    const Way& way = _ways[std::size_t(member)];
    std::uint64_t fetched = 0;
    const int error = common::run_operation(_progress, [&](btl::Completion* end) {
        return way.one_sided->fetch_op(
            *way.endpoint, op, btl::Width::bits64, way.key, word * sizeof(std::uint64_t), operand, &fetched, wake, end);
    });
    before = fetched; // it has come back, so that the operation is complete at the target, too
    return report_failure(error, member);
}

int BtlWords::far_load(int member, Word word, std::uint64_t& value) noexcept {
    return fetch_op(member, btl::Atomic::load, word, 0, value, btl::Wake::nobody);
}

int BtlWords::far_set(int member, Word word, std::uint64_t value, bool wake) noexcept {
    std::uint64_t before = 0;
    return fetch_op(member, btl::Atomic::swap, word, value, before, wake ? btl::Wake::target : btl::Wake::nobody);
}

int BtlWords::far_exchange(int member, Word word, std::uint64_t value) noexcept {
    return far_set(member, word, value, false);
}

int BtlWords::far_fetch_add(int member, Word word, std::uint64_t amount, std::uint64_t& before) noexcept {
    return fetch_op(member, btl::Atomic::add, word, amount, before, btl::Wake::nobody);
}

int BtlWords::far_compare_swap(
    int member, Word word, std::uint64_t expected, std::uint64_t desired, bool& swapped) noexcept {
    const Way& way = _ways[std::size_t(member)];
    std::uint64_t fetched = 0;
    const int error = common::run_operation(_progress, [&](btl::Completion* end) {
        return way.one_sided->compare_swap(*way.endpoint, btl::Width::bits64, way.key, word * sizeof(std::uint64_t),
            expected, desired, &fetched, btl::Wake::nobody, end);
    });
    swapped = error == 0 && fetched == expected;
    return report_failure(error, member);
}

} // namespace patchbay::osc::rdma
