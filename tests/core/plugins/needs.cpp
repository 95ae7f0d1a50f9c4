// SPDX-License-Identifier: BSD-3-Clause
// Needs a symbol that nothing at run time has, or a library that is not there at run time; the build decides which.
#include "core/component/describe.h"
#include "tests/core/plugins/demo.h"

extern "C" int patchbay_test_gone();

namespace {

class Needs : public demo::Component {
public:
    patchbay::Capability capabilities() const noexcept override { return patchbay::Capability::none; }
    patchbay::Result<patchbay::Choice<demo::Module>> query(int) override {
        return patchbay::Error{patchbay::Errc::not_available, std::to_string(patchbay_test_gone())};
    }
};

} // namespace

PATCHBAY_COMPONENT = patchbay::describe<Needs>("demo", demo::version, DEMO_NAME, "1.0.0", "needs what is gone");
