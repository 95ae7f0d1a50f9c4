// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/socket/runtime_services.h"

#include <cstring>
#include <span>

namespace patchbay::btl::socket {

namespace {
Result<Address> address_in(const std::vector<std::byte>& bytes) {
    PublishedAddress published;
    if (bytes.size() != sizeof published) {
        return Error{Errc::invalid, "it has published an address of another version of this library"};
    }
    std::memcpy(&published, bytes.data(), sizeof published);
    if (published.version != protocol_version || !published.address.is_set()) {
        return Error{Errc::invalid, "it has published an address of another version of this library"};
    }
    return published.address;
}
} // namespace

Status RuntimeServices::publish(const Address& address) {
    const PublishedAddress published{protocol_version, 0, address};
    if (Status put = _runtime.put(key, std::as_bytes(std::span(&published, 1))); !put) {
        return put;
    }
    return _runtime.commit();
}

std::optional<Result<Address>> RuntimeServices::find(ProcessId process) {
    auto known = _requests.find(process);
    if (known == _requests.end()) {
        Result<GetRequest> request = _runtime.get_start(process, key);
        if (!request) {
            return Result<Address>(request.error());
        }
        known = _requests.emplace(process, std::move(*request)).first;
    }
    if (!known->second.done()) {
        return std::nullopt;
    }
    const Result<std::vector<std::byte>> value = known->second.value();
    _requests.erase(known);
    return value ? address_in(value.value()) : Result<Address>(value.error());
}

} // namespace patchbay::btl::socket
