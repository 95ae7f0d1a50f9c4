// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/rdma/control.h"
#include "core/base/result.h"
#include "frameworks/btl/transports.h"
#include "frameworks/context.h"
#include "include/mpi.h"

#include <cerrno>
#include <cstdint>
#include <string>

namespace patchbay::chan::rdma {

// What a btl must offer: put for messages, atomics for the words that say that they have arrived.
inline constexpr btl::Offers needed =
    btl::Offers::put | btl::Offers::atomics_64 | btl::Offers::processor_atomics | btl::Offers::notify;

// The other half, as this process reaches it. The functions that start operations return what btl::OneSided says.
class Partner {
public:
    // Connects. Errc::not_available.
    static Result<Partner> find(btl::Transports& transports, ProcessId process);

    btl::OneSided& module() const noexcept { return *_one_sided; }
    const char* module_name() const noexcept { return _name; }

    // The partner's control memory. The text is the reason why it cannot be used; empty: it can.
    std::string use_control(const btl::RemoteKey& key);
    // Where the partner's messages go. The text likewise.
    std::string use_landing(const Landing& landing);
    const Landing& landing() const noexcept { return _landing; }
    // Where the landing is mapped, from its first byte on; null: nowhere.
    std::byte* mapped_landing() const noexcept { return _mapped_landing; }
    // The same for the control memory.
    std::byte* mapped_control() const noexcept { return _mapped_control; }

    btl::Started put(const void* from, std::uint64_t bytes, std::uint64_t place, btl::Completion* end) const noexcept {
        const iovec local{const_cast<void*>(from), bytes};
        const btl::RemotePiece remote{place, bytes};
        return _one_sided->put(*_endpoint, {&local, 1}, _landing.key, {&remote, 1}, btl::Wake::nobody, end);
    }
    btl::Started flush(btl::Completion* end) const noexcept { return _one_sided->flush(*_endpoint, end); }
    // Publishes what has been written before, and wakes the partner.
    btl::Started set_word(std::uint64_t place, std::uint64_t value, btl::Completion* end) const noexcept {
        if (_mapped_control != nullptr) [[likely]] {
            reinterpret_cast<Word*>(_mapped_control + place)->store(value, std::memory_order_release);
            _bell->notify();
            return {};
        }
        return _one_sided->fetch_op(
            *_endpoint, btl::Atomic::swap, btl::Width::bits64, _control, place, value, nullptr, btl::Wake::target, end);
    }
    // Adds to a word that only this process changes, and wakes the partner. Several of these may be under way at once,
    // whose order does not matter.
    btl::Started add_to_word(std::uint64_t place, std::uint64_t amount) const noexcept {
        if (_mapped_control != nullptr) [[likely]] {
            auto& word = *reinterpret_cast<Word*>(_mapped_control + place);
            word.store(word.load(std::memory_order_relaxed) + amount, std::memory_order_release);
            _bell->notify();
            return {};
        }
        return _one_sided->fetch_op(*_endpoint, btl::Atomic::add, btl::Width::bits64, _control, place, amount, nullptr,
            btl::Wake::target, nullptr);
    }
    // Writes to the control memory what a later set_word() publishes; blocks until the transport has done it.
    int write_control(Progress& progress, std::uint64_t place, const void* from, std::size_t bytes) const noexcept;
    int write_word(Progress& progress, std::uint64_t place, std::uint64_t value) const noexcept;

private:
    Partner() = default;
    btl::OneSided* _one_sided = nullptr;
    btl::Endpoint* _endpoint = nullptr;
    const char* _name = "";
    btl::RemoteKey _control;
    std::byte* _mapped_control = nullptr;
    Doorbell* _bell = nullptr;
    Landing _landing;
    std::byte* _mapped_landing = nullptr;
};

// The MPI code for an errno of btl::Started.
inline int code_of(int error) noexcept {
    return error == ESRCH ? MPI_ERR_PROC_ABORTED : error == ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

} // namespace patchbay::chan::rdma
