// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/describe.h"
#include "tests/core/plugins/demo.h"

#ifndef DEMO_LIMIT
#define DEMO_LIMIT "4KiB"
#endif

namespace {

class GoodModule : public demo::Module {
public:
    std::string greet() const override { return "hello from " DEMO_NAME; }
};

class Good : public demo::Component {
public:
    patchbay::Capability capabilities() const noexcept override { return patchbay::Capability::none; }
    patchbay::Result<patchbay::Choice<demo::Module>> query(int) override {
        return patchbay::Choice<demo::Module>{DEMO_PRIORITY, std::make_unique<GoodModule>()};
    }
};

constexpr patchbay::ParamSpec params[] = {
    {"limit", patchbay::ParamType::size, DEMO_LIMIT, "largest greeting in bytes"},
    {"patience", patchbay::ParamType::duration, "10us", "how long to wait for an answer"},
};

} // namespace

PATCHBAY_COMPONENT = patchbay::describe<Good>("demo", demo::version, DEMO_NAME, "1.0.0", "greets", params);
