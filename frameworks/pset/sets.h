// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/component/framework.h"
#include "frameworks/pset/pset.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace pset {

inline constexpr char world_name[] = "mpi://WORLD";
inline constexpr char self_name[] = "mpi://SELF";
inline constexpr char shared_name[] = "mpix://SHARED"; // the processes of this job on this node
// These three are found in upper and lower case; any other name is its source's matter and comes back as it is.
std::string_view spelt_properly(std::string_view name);

// All process sets that this process can name: its own and those of the sources. Thread-safe. What is known already is
// returned at once; otherwise a call may block while it queries a source, and several such calls are serialized. None
// makes MPI progress.
class Sets {
public:
    using SetPtr = std::shared_ptr<const Set>; // stays valid when the name gets a later version

    // The data of which sets are made without a query. `local_peers`: ranks on this node, ascending, `self` included.
    struct Job {
        ProcessId self;
        std::uint32_t size;
        std::span<const std::uint32_t> local_peers;
    };
    Sets(Framework<Component>& framework, Core& core, Context& context, const Job& job);
    ~Sets();
    Sets(const Sets&) = delete;
    Sets& operator=(const Sets&) = delete;

    // The sets of which this process is a member (MPI_Session_get_num_psets): queries the sources for new names. The
    // number only grows, and a number once given keeps its name. Errors: a source failed, or the user's choice of
    // components is wrong.
    Result<std::size_t> count();
    // The name of one of them (MPI_Session_get_nth_pset). Local. Errc::invalid: count() has not given that number.
    Result<std::string> name(std::size_t number) const;

    // A set by its name, whether this process is in it or not. A source is queried once per name and version, and again
    // whenever the name is unknown. Errc::not_found: no such set.
    Result<SetPtr> find(std::string_view name);

    // Requests that the sources have sent to a server, for the rule that a set costs at most one.
    std::uint64_t requests() const;

private:
    using Offer = Framework<Component>::Selected<Module>;
    struct Known {
        SetPtr set;
        const Module* source; // null: our own
    };

    Status open_sources();
    SetPtr known(std::string_view name) const;
    Result<SetPtr> ask(const std::string& name);
    void remember(const SetPtr& set, const Module* source);

    Framework<Component>& _framework;
    Core& _core;
    Context& _context;
    const ProcessId _self;
    const std::uint32_t _size; // of the own job

    // Held while a source is queried. Never taken with _mutex held.
    std::mutex _asking;
    Lease _lease;
    bool _opened = false;
    std::string _no_source; // why there is no source

    mutable std::mutex _mutex; // guards what follows; never held while a source is queried
    std::vector<Offer> _sources;
    std::map<std::string, Known, std::less<>> _known;
    std::vector<std::string> _listed; // by number; only grows
};

} // namespace pset
} // namespace patchbay
