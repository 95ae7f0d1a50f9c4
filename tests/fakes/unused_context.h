// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/context.h"

#include <cstdlib>
#include <string>
#include <string_view>

namespace patchbay {

// For components that call no function of their context.
class UnusedContext : public Context {
public:
    Core& core() noexcept override { std::abort(); }
    Runtime& runtime() noexcept override { std::abort(); }
    Progress& progress() noexcept override { std::abort(); }
    ProcessId self() const noexcept override { std::abort(); }
    std::uint64_t unique_number() noexcept override { std::abort(); }
    std::string operation_name(const Group&, std::string_view) override { std::abort(); }
    HwResources& hw_resources() noexcept override { std::abort(); }
    Result<btl::Transports*> transports() override { std::abort(); }
    cid::IndexTable& communicators() noexcept override { std::abort(); }
    cid::Directory& directory() noexcept override { std::abort(); }
    cid::Counters& cid_counters() noexcept override { std::abort(); }
};

} // namespace patchbay
