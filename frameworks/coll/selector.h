// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework.h"
#include "frameworks/coll/coll.h"

#include <array>
#include <mutex>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {
namespace coll {

// Stands before every module of a communicator, outside of the components that parameter coll_wrap names.
class Outermost {
public:
    // Called with each module of a new communicator, by every member, on the thread that constructs it. Must not
    // communicate. Puts a module of its own in the place of `module`, which owns the former one and provides the same.
    // Throws std::bad_alloc.
    virtual void wrap(Communicator& comm, std::unique_ptr<Module>& module) = 0;

protected:
    ~Outermost() = default;
};

// Finds the table of a new communicator: for each function and form the best module among those that provide it. One
// per instance. Keeps the tables that communicators can share: those for which every offer and every refusal is the
// same for each communicator of that size and kind, and with that kind of topology. So a table depends on the
// communicator only, and not on those that this process had before; all members select the same modules. Thread-safe.
class Selector {
public:
    Selector(Framework<Component>& framework, Engine& engine) noexcept
        : _framework(framework),
          _engine(engine) {}
    ~Selector() { clear(); }
    Selector(const Selector&) = delete;
    Selector& operator=(const Selector&) = delete;

    // `only` is a selection list that overrides the job's ("" for none). The caller gets a reference of its own. Local.
    // Errc::not_available when no component provides some function.
    Result<Table*> select(Context& context, Communicator& comm, const std::string& only,
        const std::shared_ptr<ThreadTeam>& team = nullptr);
    // The error that select() ends in because of the list alone.
    Status check_list(const std::string& only) { return _framework.check_list("a communicator", only); }
    // Before the first selection; nullptr: none, which is the default.
    void set_outermost(Outermost* outermost) noexcept { _outermost = outermost; }
    // Before the framework's components go.
    void clear() noexcept;

private:
    // What the communicators that share a table have in common.
    struct Key {
        int size;
        bool is_inter;
        int topology; // MPI_UNDEFINED: none
        bool of_threads;

        bool operator==(const Key&) const = default;
    };
    struct Kept {
        Key key;
        Table* table;
    };
    static constexpr std::size_t most_kept = 16;

    static Key key_of(const Communicator& comm) noexcept;
    Table* find(const Communicator& comm) noexcept;
    void keep(const Communicator& comm, Table& table) noexcept;
    Result<Table*> make(
        Context& context, Communicator& comm, const std::string& only, const std::shared_ptr<ThreadTeam>& team);
    // Has the interposers wrap the modules of the table, which belong to the components with these names.
    Status wrap(Context& context, Communicator& comm, const std::string& object, const std::vector<std::string>& names,
        Table& table);

    Framework<Component>& _framework;
    Engine& _engine;
    Outermost* _outermost = nullptr;
    std::mutex _mutex;
    std::array<Kept, most_kept> _kept{}; // those in front were used last
    std::size_t _count = 0;
};

} // namespace coll
} // namespace patchbay
