// SPDX-License-Identifier: BSD-3-Clause
#include "components/chan/rdma/partner.h"

#include "components/common/run_operation.h"

#include <cstring>

namespace patchbay::chan::rdma {

Result<Partner> Partner::find(btl::Transports& transports, ProcessId process) {
    Partner partner;
    btl::Module* const module = transports.one_sided_to(process, needed);
    btl::Way way;
    if (module != nullptr) {
        const btl::Transports::Guard guard(transports);
        way = transports.connect(*module, process);
    }
    if (!way) {
        return Error{Errc::not_available, "chan/rdma: no connection to the partner by a btl with put and atomics"};
    }
    partner._one_sided = module->one_sided();
    partner._endpoint = way.endpoint;
    partner._name = module->name();
    return partner;
}

std::string Partner::use_control(const btl::RemoteKey& key) {
    const btl::Offers offers = _one_sided->offered(*_endpoint, key);
    _control = key;
    if (has_all(offers, btl::Offers::map | btl::Offers::notify)) {
        _mapped_control = _one_sided->map(*_endpoint, key);
        _bell = _one_sided->bell(*_endpoint);
    }
    if (_mapped_control != nullptr && _bell != nullptr) {
        return {};
    }
    _mapped_control = nullptr;
    return has_all(offers, needed) ? std::string()
                                   : std::string("btl/") + _name + " has no atomics for memory of the partner";
}

std::string Partner::use_landing(const Landing& landing) {
    _landing = landing;
    _mapped_landing = nullptr;
    const btl::Offers offers = _one_sided->offered(*_endpoint, landing.key);
    if (has_all(offers, btl::Offers::map)) {
        _mapped_landing = _one_sided->map(*_endpoint, landing.key);
    }
    return has_all(offers, btl::Offers::put) ? std::string()
                                             : std::string("btl/") + _name +
            " cannot write to the buffer of the partner: the system does not permit it. A buffer of MPI_Alloc_mem, or "
            "another component (info key patchbay_chan), helps";
}

int Partner::write_control(
    Progress& progress, std::uint64_t place, const void* from, std::size_t bytes) const noexcept {
    if (_mapped_control != nullptr) {
        std::memcpy(_mapped_control + place, from, bytes);
        return 0;
    }
    const iovec local{const_cast<void*>(from), bytes};
    const btl::RemotePiece remote{place, bytes};
    const int error = common::run_operation(progress, [&](btl::Completion* end) {
        return _one_sided->put(*_endpoint, {&local, 1}, _control, {&remote, 1}, btl::Wake::nobody, end);
    });
    return error != 0 ? error : common::run_operation(progress, [&](btl::Completion* end) { return flush(end); });
}

int Partner::write_word(Progress& progress, std::uint64_t place, std::uint64_t value) const noexcept {
    return common::run_operation(progress, [&](btl::Completion* end) { return set_word(place, value, end); });
}

} // namespace patchbay::chan::rdma
