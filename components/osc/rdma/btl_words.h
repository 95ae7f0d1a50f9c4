// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/words.h"
#include "core/progress/progress.h"
#include "frameworks/btl/one_sided.h"

#include <cstddef>
#include <memory>

namespace patchbay::osc::rdma {

// The control blocks of a window whose members reach each other by btls.
class BtlWords final : public Words {
public:
    // `own`: the control block of this process.
    BtlWords(int rank, int size, std::byte* own, Progress& progress);

    // How this process reaches the control block of another member.
    struct Way {
        btl::OneSided* one_sided = nullptr;
        btl::Endpoint* endpoint = nullptr;
        btl::RemoteKey key;
    };
    void set_way(int member, const Way& way) noexcept { _ways[std::size_t(member)] = way; }
    // All members have all control blocks mapped: this process accesses that of `member` there.
    void use_mapped(int member, std::byte* block) noexcept {
        set_mapped(member, reinterpret_cast<Place*>(block),
            _ways[std::size_t(member)].one_sided->bell(*_ways[std::size_t(member)].endpoint));
    }

protected:
    int far_load(int member, Word word, std::uint64_t& value) noexcept override;
    int far_set(int member, Word word, std::uint64_t value, bool wake) noexcept override;
    int far_exchange(int member, Word word, std::uint64_t value) noexcept override;
    int far_fetch_add(int member, Word word, std::uint64_t amount, std::uint64_t& before) noexcept override;
    int far_compare_swap(
        int member, Word word, std::uint64_t expected, std::uint64_t desired, bool& swapped) noexcept override;

private:
    int fetch_op(
        int member, btl::Atomic op, Word word, std::uint64_t operand, std::uint64_t& before, btl::Wake wake) noexcept;

    Progress& _progress;
    std::unique_ptr<Way[]> _ways;
};

} // namespace patchbay::osc::rdma
