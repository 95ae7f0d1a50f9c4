// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "core/component/framework.h"

#include <memory>
#include <string>

// A framework that exists for the tests of the core only.
namespace demo {

inline constexpr std::uint32_t version = 3;

class Module {
public:
    virtual ~Module() = default;
    virtual std::string greet() const = 0;
};

class Component : public patchbay::Component {
public:
    virtual patchbay::Result<patchbay::Choice<Module>> query(int object) = 0;
};

} // namespace demo
