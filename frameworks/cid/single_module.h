// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/core.h"
#include "frameworks/cid/cid.h"

#include <memory>
#include <mutex>

namespace [[gnu::visibility("default")]] patchbay {
namespace cid {

// The base of components that have one module for all communicators, which is made for the first allocation. A
// component adds its capabilities, its parameters and its module.
class SingleModule : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at(_priority_name).as_int());
        return {};
    }
    // The caller has destroyed all communicators before it closes the component.
    void close() noexcept override { _module.reset(); }
    Capability capabilities() const noexcept override { return _capabilities; }
    Result<Choice> query(Context& context) override {
        std::call_once(_made, [&] { _module = make(context); });
        if (_module == nullptr) {
            return Error{Errc::out_of_memory, "no memory for the module"};
        }
        return Choice{_priority, _module.get()};
    }

protected:
    // `priority`: the parameter, which must live as long as this.
    SingleModule(const char* priority, Capability capabilities)
        : _priority_name(priority),
          _capabilities(capabilities) {}

    // nullptr: out of memory.
    virtual std::unique_ptr<Module> make(Context& context) noexcept = 0;

private:
    const char* const _priority_name;
    const Capability _capabilities;
    int _priority = 0;
    std::once_flag _made;
    std::unique_ptr<Module> _module;
};

} // namespace cid
} // namespace patchbay
