// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/tuned/candidates.h"
#include "components/coll/tuned/chosen.h"
#include "components/coll/tuned/table.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/coll/schedule.h"

#include <array>
#include <memory>

namespace patchbay::coll::tuned {

// What the algorithms of each function are, for communicators of one size.
struct Settings {
    std::array<Decisions, function_count> decisions;
    // By parameter coll_tuned_<function>: used where it applies; calls that it does not apply to are passed on.
    std::array<std::optional<Choice>, function_count> forced;
    // Blocking calls with fewer bytes are those of pair.h.
    std::array<std::uint64_t, function_count> pair_below{};
    int ranks = 0;
};

// Several algorithms for each function. The choice depends on what is equal in all members: function, form, size of the
// communicator, bytes, and whether the op commutes.
class TunedModule final : public Module {
public:
    // `chosen` exists as long as the component is open.
    TunedModule(std::shared_ptr<const Settings> settings, const Below& below, ChosenAlgorithms& chosen) noexcept
        : _settings(std::move(settings)),
          _below(below),
          _chosen(chosen) {}

    Provided provides() const noexcept override { return Provided::planned(served); }
    int plan(const Call& call, Schedule& schedule) noexcept override;
    std::size_t candidates(const Call& call, const Communicator& comm) const noexcept override;
    int plan_candidate(std::size_t number, const Call& call, Schedule& schedule) noexcept override;
    void keep_candidate(std::size_t number, const Call& call, const Communicator& comm) noexcept override;
    std::string candidate_name(std::size_t number, const Call& call, const Communicator& comm) const override;
    int blocking(const Call& call, Communicator& comm) noexcept override;
    // Calls of two ranks have a way of their own.
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
    int scan(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op,
        Communicator& comm) noexcept override;
    int exscan(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op,
        Communicator& comm) noexcept override;

private:
    bool serves_pair(
        Function function, MPI_Count count, const Datatype& type, const Communicator& comm) const noexcept {
        if (std::uint64_t(count) * std::uint64_t(type.size) >= _settings->pair_below[std::size_t(function)]) {
            return false;
        }
        _chosen.note_pair(comm, function);
        return true;
    }
    Choice choose(const Call& call, Form form, const Communicator& comm) const noexcept;
    Choice decide(const Call& call, Form form, int rank) const noexcept;
    Candidates candidates_of(const Call& call, const Communicator& comm) const noexcept;
    int plan(const Call& call, const Choice& choice, Schedule& schedule) noexcept;

    std::shared_ptr<const Settings> _settings;
    const Below& _below;
    ChosenAlgorithms& _chosen;
};

// The steps of one call; `Steps` is Immediate or Schedule.
template <class Steps>
void bcast(Steps& steps, const Call& call, const Choice& choice) noexcept;
template <class Steps>
void gather(Steps& steps, const Call& call, const Choice& choice) noexcept;
template <class Steps>
void scatter(Steps& steps, const Call& call, const Choice& choice) noexcept;
template <class Steps>
void allgather(Steps& steps, const Call& call, const Choice& choice) noexcept;
template <class Steps>
void alltoall(Steps& steps, const Call& call, const Choice& choice) noexcept;
template <class Steps>
void reduce(Steps& steps, const Call& call, const Choice& choice) noexcept;
template <class Steps>
void allreduce(Steps& steps, const Call& call, const Choice& choice) noexcept;
template <class Steps>
void scan(Steps& steps, const Call& call, const Choice& choice) noexcept;
template <class Steps>
void exscan(Steps& steps, const Call& call, const Choice& choice) noexcept;

} // namespace patchbay::coll::tuned
