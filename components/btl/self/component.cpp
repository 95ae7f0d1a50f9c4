// SPDX-License-Identifier: BSD-3-Clause
#include "components/btl/self/module.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/context.h"

namespace patchbay::btl::self {

namespace {

constexpr ParamSpec params[] = {
    {"eager_limit", ParamType::size, "16KiB",
        "bytes up to which a message to the process itself is buffered; larger ones are copied once when they match",
        nullptr, ParamLevel::tuner_basic, ParamScope::local},
    {"queue_limit", ParamType::size, "1MiB", "bytes of messages to the process itself that may wait for a poll",
        nullptr, ParamLevel::tuner_detail, ParamScope::local},
};

class SelfComponent final : public btl::Component {
public:
    Status open(Core& core) override {
        _eager_limit = core.params.at("btl_self_eager_limit").as_size();
        _queue_limit = core.params.at("btl_self_queue_limit").as_size();
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self;
    }
    Result<Candidate> query(Context& context) override {
        return Candidate{
            50, std::make_unique<SelfModule>(context.self(), context.progress(), _eager_limit, _queue_limit)};
    }

private:
    std::size_t _eager_limit = 0;
    std::size_t _queue_limit = 0;
};

} // namespace

} // namespace patchbay::btl::self

PATCHBAY_COMPONENT = patchbay::describe<patchbay::btl::self::SelfComponent>("btl", patchbay::btl::interface_version,
    "self", "1.0.0", "the process's way to itself", patchbay::btl::self::params);
