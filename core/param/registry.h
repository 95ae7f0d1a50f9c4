// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/param/param.h"
#include "core/param/sources.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// All parameters of a process. Precedence, highest first: program, mpirun --mca, environment, user file, system file,
// default. A value is parsed when its parameter is defined, so that an ill-typed one is known from then on.
// All members are safe from any thread.
class ParamRegistry {
public:
    ParamRegistry() = default;
    ParamRegistry(const ParamRegistry&) = delete;
    ParamRegistry& operator=(const ParamRegistry&) = delete;

    // Reads files and environment. Call once, before the first define.
    Status read(const ParamSources& places);

    // Makes a table's parameters known as <framework>_<component>_<name>; empty parts (core-level, framework-level) are
    // left out. The table is copied. Defining the same table again changes nothing and returns the same. Errc::invalid
    // names the parameter, value, type and origin of each value that is ill-typed or out of range (the parameter then
    // has its default), or a name defined twice.
    Status define(std::string_view framework, std::string_view component, const ParamSpec* specs, std::size_t count);
    template <std::size_t N>
    Status define(std::string_view framework, std::string_view component, const ParamSpec (&specs)[N]) {
        return define(framework, component, specs, N);
    }

    // Errc::invalid: a default of the table has not the type that the table gives it, or is out of its range, or a
    // range is ill-formed.
    static Status check_table(
        std::string_view framework, std::string_view component, const ParamSpec* specs, std::size_t count);

    // By full name. at() is for a parameter that the caller's own table defines: its absence is a bug, and an
    // assertion.
    const Param* find(std::string_view name) const;
    const Param& at(std::string_view name) const;

    // In order of definition; an index stays valid as long as the registry exists (MPI_T needs that).
    std::size_t count() const;
    const Param& by_index(std::size_t index) const;
    std::vector<std::string> names() const;
    // Whether anything gives a value to a parameter whose name begins with `prefix`, also to one that is not defined
    // yet.
    bool gives_any(std::string_view prefix) const;

    // Set by the program. Errc::not_found (with the nearest name), Errc::invalid (ill-typed), Errc::not_available
    // (frozen).
    Status set(std::string_view name, std::string_view value);
    // The same by ParamValue::number, for the types that have one. A bool is true for every number but 0, and keeps the
    // number; other numbers must be values of the type.
    Status set_number(std::string_view name, std::int64_t number);

    // From now on the program cannot change the parameters of this framework (empty: the core-level ones), because they
    // have been read. thaw() when it closes.
    void freeze(std::string_view framework);
    void thaw(std::string_view framework);

    // Names that files, environment or command line give a value and that no table defines. One text each, with origin
    // and nearest known name; each is returned once only. `define_more(name)` is called first for a name that is not
    // known yet and may define further tables (the descriptors of components that are not open); `define_all()` is
    // called once before names are compared for a suggestion.
    std::vector<std::string> take_unknown(
        const std::function<void(const std::string& name)>& define_more, const std::function<void()>& define_all);

private:
    Status set_locked(Param& param, std::string_view value, std::optional<std::int64_t> number);
    Status define_one(std::string_view framework, std::string_view component, const ParamSpec& spec);
    std::vector<std::string> undefined() const;
    const Param* find_locked(std::string_view name) const;

    mutable std::shared_mutex _mutex;
    std::map<std::string, RawParam, std::less<>> _raw;
    std::map<std::string, Error, std::less<>> _ill_typed; // by parameter: a table that is defined again fails again
    std::set<std::string, std::less<>> _reported;         // unknown names that were answered already
    std::set<std::string, std::less<>> _frozen;           // frameworks
    std::deque<std::unique_ptr<Param>> _params;
    std::map<std::string_view, Param*, std::less<>> _by_name; // keys are the parameters' own names
};

} // namespace patchbay
