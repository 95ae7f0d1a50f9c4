// SPDX-License-Identifier: BSD-3-Clause
// One field of the descriptor, named by the build, is not what this library requires.
#include "core/component/describe.h"
#include "tests/core/plugins/demo.h"

#include <cstdlib>

namespace {

class Incompatible : public demo::Component {
public:
    Incompatible() { std::abort(); } // no code of an incompatible plugin may run
    patchbay::Capability capabilities() const noexcept override { return patchbay::Capability::none; }
    patchbay::Result<patchbay::Choice<demo::Module>> query(int) override { std::abort(); }
};

constexpr patchbay::ComponentDescriptor changed() {
    auto descriptor = patchbay::describe<Incompatible>("demo", demo::version, DEMO_NAME, "1.0.0", "does not fit");
    descriptor.DEMO_FIELD = DEMO_VALUE;
    return descriptor;
}

} // namespace

PATCHBAY_COMPONENT = changed();
