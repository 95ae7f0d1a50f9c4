// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "frameworks/pset/set.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;

// pset: names sets of processes (MPI-4.1, 11.3.2).
//
// A component is a source of names: the launcher, parameters. All sources that can serve do so together; where two know
// the same name, the one with the higher priority is believed. What every process knows by itself (mpi://WORLD,
// mpi://SELF, mpix://SHARED) is the framework's own and is asked of no source. See frameworks/pset/sets.h.
namespace pset {

inline constexpr std::uint32_t interface_version = 1;

class Module {
public:
    virtual ~Module() = default;

    // names() and find() are called by one thread at a time and may block to ask a server; they must not make MPI
    // progress.
    //
    // The names of all sets that there are now, whoever is in them.
    virtual Result<std::vector<std::string>> names() = 0;
    // One set, as it is now. Errc::not_found: there is none of that name (one may come later). Errc::unsupported: it
    // has members that we cannot name.
    virtual Result<Set> find(const std::string& name) = 0;

    // Whether a set that find() has answered is still what its name means, as far as we have heard; asks nobody. Called
    // from any thread, also while the others run.
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
    // ask a server. Errc::not_available: nothing to offer here.
    virtual Result<Candidate> query(Instance& instance) noexcept = 0;
};

} // namespace pset
} // namespace patchbay
