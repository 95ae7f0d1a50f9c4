// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/collectives.h"
#include "components/coll/sm/place.h"
#include "frameworks/coll/coll.h"
#include "frameworks/context.h"

#include <memory>

namespace patchbay::coll::sm {

struct Settings {
    // Of the calls on a communicator so many are passed on first, because many communicators have only a few.
    std::uint32_t after;
    // The bytes of a contribution; longer ones are passed on. At most longest_contribution.
    MPI_Count longest;
};

// Blocking collectives of the processes of one node, by the memory that they share. Communicators share it: what it has
// of one, the communicator keeps (Place).
class SmModule final : public Module {
public:
    SmModule(Context& context, const Below& below, Settings settings) noexcept
        : _context(context),
          _below(below),
          _settings(settings) {}

    Provided provides() const noexcept override;
    void blocking_failed(const Call& call, Communicator& comm, int failed) noexcept override;
    int barrier(Communicator& comm) noexcept override;
    int bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept override;
    int gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, int root, Communicator& comm) noexcept override;
    int scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, int root, Communicator& comm) noexcept override;
    int allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, Communicator& comm) noexcept override;
    int alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv, MPI_Count recv_count,
        const Datatype& recv_type, Communicator& comm) noexcept override;
    int reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
        Communicator& comm) noexcept override;
    int allreduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op,
        Communicator& comm) noexcept override;

private:
    // Called once in each blocking call, in all members alike, which count the same calls and so make their places in
    // the same one; nullptr: the call is passed on.
    Place* place_in(Communicator& comm, Function function) noexcept {
        if (CommData* const place = data_of(comm)) [[likely]] {
            return static_cast<Place*>(place);
        }
        return comm.coll_calls > _settings.after ? nullptr : make_place_after(comm, function);
    }
    Place* make_place_after(Communicator& comm, Function function) noexcept;
    // Whether that many blocks are a contribution that is not passed on. Equal in all members.
    bool is_short(MPI_Count count, const Datatype& type, int blocks) const noexcept {
        return count <= _settings.longest && count * type.size * blocks <= _settings.longest;
    }
    // *passed_on: whether the members have learnt that the next component serves the call.
    int run_bcast(Place& place, const Bcast& what, bool* passed_on, int failed) const noexcept;
    // Whether the blocking function that `call` names does not pass it on; not for bcast, whose root decides.
    bool is_served(const Call& call, const Communicator& comm) const noexcept;
    Module& below(Function function) const noexcept { return *_below.find(function, Form::blocking); }

    Context& _context;
    const Below& _below;
    const Settings _settings;
};

} // namespace patchbay::coll::sm
