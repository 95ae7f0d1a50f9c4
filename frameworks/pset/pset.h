// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "frameworks/pset/set.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// pset: names sets of processes (MPI-5.0, 11.3.2).
//
// A component is a source of names: the launcher, parameters. All sources are used together; where two have the same
// name, that of the source with the higher priority counts. The framework itself provides the sets that every process
// can determine by itself (mpi://WORLD, mpi://SELF, mpix://SHARED). See frameworks/pset/sets.h.
namespace pset {

inline constexpr std::uint32_t interface_version = 3;

class Module {
public:
    virtual ~Module() = default;

    // names() and find() are called by one thread at a time and may block to ask a server; they must not make MPI
    // progress.
    //
    // The names of all sets that there are now, whether this process is a member or not.
    virtual Result<std::vector<std::string>> names() = 0;
    // One set, as it is now. Errc::not_found: there is none of that name (one may come later). Errc::unsupported: it
    // has members that we cannot name.
    virtual Result<Set> find(const std::string& name) = 0;

    // Whether a set that find() has returned is still the current version of its name, as far as this process has been
    // notified. Local. Called from any thread, also while the other functions run.
    virtual bool is_current(const Set& set) const noexcept {
        (void)set;
        return true;
    }
    // How many requests were sent to a server so far. From any thread.
    virtual std::uint64_t requests() const noexcept { return 0; }
};

struct Candidate {
    int priority = 0; // higher is believed first
    std::unique_ptr<Module> module;
};

class Component : public patchbay::Component {
public:
    // Called when a name is first needed that the framework does not know itself, on any thread, once per instance. May
    // query a server. Errc::not_available: the component offers no source here.
    virtual Result<Candidate> query(Context& context) = 0;
};

} // namespace pset
} // namespace patchbay
