// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/job_table.h"
#include "mpi/communicators/bridge_reduction.h"
#include "mpi/communicators/construction.h"
#include "mpi/communicators/process_words.h"
#include "mpi/communicators/split.h"

#include <memory>
#include <vector>

namespace patchbay {

// What the constructors of intercommunicators have in common (intercommunicators.h).

// Makes `comm` an intercommunicator with this remote group.
void set_remote_group(Communicator& comm, Ref<Group> group) noexcept;

// The hint patchbay_coll is not inherited here, because different components implement the collectives of
// intercommunicators and of intracommunicators.
void remove_collectives_hint(Communicator& comm);

// The construction of local_comm. It belongs to its intercommunicator, with which it is freed.
std::unique_ptr<Construction> local_side(Communicator& parent, const Ref<Group>& group, bool collective, int tag);

// The jobs by which the messages between the groups name the processes.
const JobTable& jobs_of(const Communicator& comm) noexcept;

// Reads the remote group from words of append_group(). Jobs that this process does not know are looked up at the
// launcher, so that this may block. *references as in read_group(). *code is an MPI code; the result is null after an
// error.
Ref<Group> read_remote_group(const Communicator& local, std::span<const std::uint64_t> words,
    std::shared_ptr<const JobReferences>* references, int* code);
// Has the communicator keep the jobs of its remote group, beside those that it has inherited.
void keep_jobs(Communicator& comm, std::shared_ptr<const JobReferences> references);

// The arguments of MPI_Comm_split of all processes of the remote group, by rank. `arguments`: those of the local group.
// `bridge` is significant at rank 0 of each group. Collective over both groups. Returns an MPI code.
int exchange_split_arguments(Communicator& inter, const Bridge& bridge, const std::vector<SplitArguments>& arguments,
    std::vector<SplitArguments>* remote);

// Whether the local group is the first one in an order of the two groups that is the same in both.
bool is_first(const Communicator& inter);

} // namespace patchbay
