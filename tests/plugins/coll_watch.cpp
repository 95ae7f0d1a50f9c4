// SPDX-License-Identifier: BSD-3-Clause
// coll/watch: wraps the modules that provide MPI_Barrier alone, and prints how often that was called.
#include "core/component/describe.h"
#include "core/log.h"
#include "frameworks/coll/coll.h"
#include "frameworks/context.h"

#include <string>

using namespace patchbay;

namespace {

class WatchModule final : public coll::Module {
public:
    explicit WatchModule(std::unique_ptr<coll::Module> wrapped)
        : _wrapped(std::move(wrapped)) {}
    ~WatchModule() override { log_warn("coll/watch: " + std::to_string(_calls) + " barriers"); }
    std::uint32_t provides() const noexcept override { return _wrapped->provides(); }
    int barrier(Communicator& comm) noexcept override {
        ++_calls;
        return _wrapped->barrier(comm);
    }

private:
    std::unique_ptr<coll::Module> _wrapped;
    int _calls = 0;
};

class WatchComponent final : public coll::Component {
public:
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }
    Result<Candidate> query(Context&, Communicator&) noexcept override {
        return Error{Errc::not_available, "it only wraps others"};
    }
    Status wrap(Context&, Communicator&, std::unique_ptr<coll::Module>& module) noexcept override {
        if (module->provides() != 1u << int(coll::Function::barrier)) {
            return Error{Errc::not_available, "it wraps what provides MPI_Barrier alone"};
        }
        module = std::make_unique<WatchModule>(std::move(module));
        return {};
    }
};

} // namespace

PATCHBAY_COMPONENT = describe<WatchComponent>("coll", coll::interface_version, "watch", "1.0.0", "counts barriers");
