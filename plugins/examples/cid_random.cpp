// SPDX-License-Identifier: BSD-3-Clause
// cid/random: names each communicator by 64 random bits, which one member draws and a group reduction sends to all.
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "frameworks/cid/directory.h"
#include "frameworks/cid/index_table.h"
#include "frameworks/cid/single_module.h"
#include "frameworks/context.h"
#include "object/error_cause.h"

#include <random>

using namespace patchbay;
using namespace patchbay::cid;

namespace {

constexpr ParamSpec params[] = {{"priority", ParamType::integer, "60", "priority in the selection", "0..100"}};

// The name of one communicator, and the indices of its members: each one chooses its own, and first messages carry it.
class RandomId final : public CommunicatorId {
public:
    RandomId(const Communicator& comm, std::uint64_t bits)
        : _id{bits, 0},
          _indices(std::size_t(comm.remote_size)) {
        if (!comm.is_inter) {
            _indices[std::size_t(comm.rank)] = comm.index;
        }
    }
    std::optional<std::uint16_t> peer_index(int rank) const noexcept override { return _indices[std::size_t(rank)]; }
    void learned(int rank, std::uint16_t index) noexcept override { _indices[std::size_t(rank)] = index; }
    const ExtendedId* extended_id() const noexcept override { return &_id; }

private:
    const ExtendedId _id;
    std::vector<std::optional<std::uint16_t>> _indices;
};

// All members take part until the end, also one that has no index left: then all of them return that error.
class RandomAllocation final : public Allocation {
public:
    RandomAllocation(Context& context, const NewCommunicator& what)
        : _context(context),
          _what(what),
          _index(context.communicators().reserve_lowest(0)) {}
    ~RandomAllocation() override {
        if (_index) {
            _context.communicators().release(*_index);
        }
    }
    int start() {
        std::random_device random;
        _words = {_what.is_leader() ? std::uint64_t(random()) << 32 | random() : 0, _index ? 0u : 1u};
        return _what.members.start(_words, GroupReduction::Operation::maximum);
    }
    bool ready() const noexcept override { return _what.members.ready(); }
    int attach(Continuation& next) noexcept override { return _what.members.attach(next); }
    bool advance(int* code) noexcept override {
        const bool finished = _what.members.advance(code);
        if (finished && *code == MPI_SUCCESS) {
            *code = unless_out_of_memory(MPI_ERR_NO_MEM, [this] { return finish(); });
            if (*code == MPI_ERR_NO_MEM && _what.refusals != nullptr) { // the others have the communicator
                _what.refusals->refuse({_words[0], 0}, *code);
            }
        }
        return finished;
    }

private:
    int finish() {
        if (_words[1] != 0) {
            return note_cause(MPI_ERR_NO_SPACE, "cid/random: a member has no index left; free some communicators");
        }
        _what.comm.index = std::uint16_t(*_index);
        auto id = std::make_unique<RandomId>(_what.comm, _words[0]);
        if (!_context.directory().bind(*id->extended_id(), &_what.comm)) {
            return note_cause(MPI_ERR_INTERN, "cid/random: two communicators drew the same 64 bits");
        }
        _what.comm.id = id.release();
        _index.reset(); // it belongs to the communicator now
        return MPI_SUCCESS;
    }

    Context& _context;
    const NewCommunicator _what;
    std::optional<std::uint32_t> _index;
    std::array<std::uint64_t, 2> _words{}; // the name, and whether a member has no index
};

class RandomModule final : public Module {
public:
    explicit RandomModule(Context& context)
        : _context(context) {}
    std::unique_ptr<Allocation> begin(const NewCommunicator& what, int* code) noexcept override {
        std::unique_ptr<RandomAllocation> allocation;
        *code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            allocation = std::make_unique<RandomAllocation>(_context, what);
            return allocation->start();
        });
        return allocation;
    }

private:
    Context& _context;
};

class RandomComponent final : public SingleModule {
public:
    RandomComponent()
        : SingleModule("cid_random_priority", Capability::thread_multiple | Capability::sessions) {}
    std::unique_ptr<Module> make(Context& context) noexcept override {
        return std::unique_ptr<Module>(new (std::nothrow) RandomModule(context));
    }
};

} // namespace

PATCHBAY_COMPONENT = describe<RandomComponent>("cid", interface_version, "random", "1.0.0", "draws 64 bits", params);
