// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/hosts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace patchbay {

namespace {

bool same_name(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// The text of an address; empty: it is of another protocol.
std::string_view text_of(const sockaddr* address, std::array<char, INET6_ADDRSTRLEN>& room) noexcept {
    const void* bytes = nullptr;
    if (address != nullptr && address->sa_family == AF_INET) {
        bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    } else if (address != nullptr && address->sa_family == AF_INET6) {
        bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    }
    const char* text = bytes == nullptr ? nullptr : inet_ntop(address->sa_family, bytes, room.data(), room.size());
    return text == nullptr ? std::string_view() : text;
}

bool is_own_address(std::string_view name) noexcept {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) {
        return false;
    }
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> interfaces(list, &freeifaddrs);
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
        std::array<char, INET6_ADDRSTRLEN> room;
        if (text_of(one->ifa_addr, room) == name) {
            return true;
        }
    }
    return false;
}

bool is_loopback(std::string_view name) noexcept {
    return name == "::1" || (name.starts_with("127.") && name.find_first_not_of("0123456789.") == name.npos);
}

} // namespace

bool names_this_host(std::string_view name, std::string_view own) noexcept {
    return same_name(name, own) || same_name(name, own.substr(0, own.find('.'))) || same_name(name, "localhost") ||
        is_loopback(name) || (!name.empty() && is_own_address(name));
}

} // namespace patchbay
