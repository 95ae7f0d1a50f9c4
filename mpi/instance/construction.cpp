// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/construction.h"

#include "frameworks/coll/selector.h"
#include "mpi/instance/error_code.h"
#include "mpi/instance/hints.h"
#include "mpi/instance/instance.h"
#include "mpi/instance/session.h"

namespace patchbay {

namespace {

// The module that a component offers stays the component's own; selection passes it around in this.
struct NamingOffer {
    cid::Module& module;
};

} // namespace

Construction::Construction(Instance& instance, Ref<Communicator> comm, Communicator& parent, bool whole_parent, int tag)
    : _instance(instance), _parent(Ref<Communicator>::share(&parent)), _comm(std::move(comm)),
      _agreement(parent, *_comm->group, tag),
      _what{*_comm, &parent, whole_parent, std::uint64_t(parent.index) << 32 | std::uint32_t(tag)} {}

Construction::~Construction() = default;

int Construction::begin() noexcept {
    auto chosen = _instance.cid_framework().select_one(
        "new communicators",
        [this](cid::Component& component) -> Result<Choice<NamingOffer>> {
            auto offer = component.query(_instance, _what);
            if (!offer) {
                return offer.error();
            }
            return Choice<NamingOffer>{offer->priority, std::make_unique<NamingOffer>(*offer->module)};
        },
        hint(*_comm, "patchbay_cid"));
    if (!chosen) {
        return report_cause(chosen.error());
    }
    _assignment = chosen->module->module.begin(_what, _agreement);
    return _assignment != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

bool Construction::advance(int* code) noexcept {
    if (!_assignment->advance(code)) {
        return false;
    }
    if (*code == MPI_SUCCESS) {
        *code = open_communicator(_instance, *_comm);
    }
    return true;
}

int open_communicator(Instance& instance, Communicator& comm) noexcept {
    comm.pml = &instance.pml();
    instance.communicators().bind(comm.index, &comm);
    if (const int code = comm.pml->add_comm(comm); code != MPI_SUCCESS) {
        return code;
    }
    // The name of a predefined communicator says more than "communicator".
    const std::string object = comm.name.empty() ? "communicators of " + std::to_string(comm.size) + " processes"
                                                 : comm.name;
    auto table = coll::Selector::select(instance.coll_framework(), instance, comm, object, hint(comm, "patchbay_coll"));
    if (!table) {
        return report_cause(table.error());
    }
    comm.coll = table->release();
    enter_session(comm);
    return MPI_SUCCESS;
}

} // namespace patchbay
