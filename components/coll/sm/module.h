// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/sm/collectives.h"
#include "components/coll/sm/persistent.h"
#include "frameworks/coll/coll.h"
#include "frameworks/context.h"

#include <memory>

namespace patchbay::coll::sm {

struct Settings {
    // Of the calls on a communicator so many are passed on first, because many communicators have only a few.
    std::uint32_t after;
    // The bytes of a contribution; longer ones are passed on. At most longest_contribution.
    MPI_Count longest;
    MPI_Count longest_mutual; // of the functions in which all members wait for each other
    int most_persistent;      // operations that are served at a time
};

// A member returns from these only when all have called. Memory is taken in such calls only: MPI lets every collective
// wait for all members, but where a root has returned early so far it does so still.
inline constexpr FunctionSet waits_for_all{
    Function::barrier, Function::allgather, Function::alltoall, Function::allreduce};

// Blocking and persistent collectives of the processes of one node, by the memory that they share. Communicators share
// it: what it has of one, the communicator keeps (Place).
class SmModule final : public Module {
public:
    SmModule(Context& context, const Below& below, Settings settings) noexcept
        : _context(context),
          _below(below),
          _settings(settings),
          _limit(settings.most_persistent) {}

    Provided provides() const noexcept override;
    // Those of the next component, which serve a persistent operation where the members do not all have memory.
    int plan(const Call& call, Schedule& schedule) noexcept override;
    int make_joint_start(const Call& call, Communicator& comm, std::unique_ptr<JointStart>* made) noexcept override;
    // Number 0 is the one that goes by the memory, where the call is served; the others are those of the next
    // component.
    std::size_t candidates(const Call& call, const Communicator& comm) const noexcept override;
    int plan_candidate(std::size_t number, const Call& call, Schedule& schedule) noexcept override;
    void keep_candidate(std::size_t number, const Call& call, const Communicator& comm) noexcept override;
    std::string candidate_name(std::size_t number, const Call& call, const Communicator& comm) const override;

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
    // Whether that many blocks are a contribution that is not passed on. Equal in all members: it follows from the
    // number of bytes, of which there are none also in any number of elements of an empty type.
    bool is_short(Function function, MPI_Count count, const Datatype& type, int blocks) const noexcept {
        const MPI_Count longest = waits_for_all.has(function) ? _settings.longest_mutual : _settings.longest;
        return count == 0 || type.size == 0 ||
            (count <= longest && type.size <= longest && count * type.size * blocks <= longest);
    }
    // *passed_on: whether the members have learnt that the next component serves the call.
    int run_bcast(Place& place, const Bcast& what, bool* passed_on, int failed) const noexcept;
    // Whether the blocking function that `call` names does not pass it on; not for bcast, whose root decides.
    bool is_served(const Call& call, const Communicator& comm) const noexcept;
    // How many candidates stand before those of the next component.
    std::size_t own_candidates(const Call& call, const Communicator& comm) const noexcept {
        return is_served(call, comm) ? 1 : 0;
    }
    Module& below(Function function, Form form = Form::blocking) const noexcept { return *_below.find(function, form); }

    Context& _context;
    const Below& _below;
    const Settings _settings;
    PlaceLimit _limit;
};

} // namespace patchbay::coll::sm
