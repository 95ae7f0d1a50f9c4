// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/construction.h"

#include "core/base/out_of_memory.h"
#include "core/progress/waiter.h"
#include "frameworks/coll/selector.h"
#include "mpi/communicators/hints.h"
#include "mpi/communicators/session_list.h"
#include "mpi/instance/instance.h"
#include "object/error_code.h"

namespace patchbay {

namespace {

// The offer of a cid component to the selection. The component owns the module.
struct CidOffer {
    cid::Module& module;
};

// Selects the cid module; nullptr: there is none, and *code is the error. `only` is the component that the
// constructor's info names; if it is empty, the selection is the job's, which is made once.
cid::Module* choose_cid_module(Instance& instance, const std::string& only, int* code) {
    if (only.empty()) {
        if (cid::Module* known = instance.cid_module()) {
            return known;
        }
    }
    auto chosen = instance.cid_framework().select_one(
        "new communicators",
        [&](cid::Component& component) -> Result<Choice<CidOffer>> {
            auto offer = component.query(instance);
            if (!offer) {
                return offer.error();
            }
            return Choice<CidOffer>{offer->priority, std::make_unique<CidOffer>(CidOffer{*offer->module})};
        },
        only);
    if (!chosen) {
        *code = note_cause(chosen.error());
        return nullptr;
    }
    cid::Module* module = &chosen->module->module;
    if (only.empty()) {
        instance.set_cid_module(module);
    }
    return module;
}

} // namespace

Construction::Construction(Instance& instance, Ref<Communicator> comm, Communicator& parent, bool collective, int tag)
    : _instance(instance),
      _parent(Ref<Communicator>::share(&parent)),
      _comm(std::move(comm)),
      _members(std::in_place, parent, *_comm->group, tag),
      _what{*_comm, &parent, *_members, nullptr, cid::constructor_key(parent, tag)} {
    if (collective && _comm->size == parent.size) {
        _what.whole = &*_members;
    } else if (collective) {
        _what.whole = &_whole.emplace(parent, *parent.group, tag);
    }
}

Construction::Construction(Instance& instance, Ref<Communicator> comm, Communicator* parent,
    std::unique_ptr<cid::GroupReduction> members, const cid::ConstructorKey& key)
    : _instance(instance),
      _parent(Ref<Communicator>::share(parent)),
      _comm(std::move(comm)),
      _other(std::move(members)),
      _what{*_comm, parent, *_other, parent != nullptr ? _other.get() : nullptr, key} {}

Construction::~Construction() = default;

int Construction::begin() noexcept {
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [this] {
        int code = MPI_SUCCESS;
        cid::Module* cid_module = choose_cid_module(_instance, hint_of_new(*_comm, "patchbay_cid"), &code);
        if (cid_module != nullptr) {
            _instance.cid_counters().named.add();
            _allocation = cid_module->begin(_what, &code);
        }
        return code;
    });
    if (code != MPI_SUCCESS) {
        _what.members.withdraw();
    }
    // The construction of local_comm begins here and not later, because all members must begin their constructors in
    // the same order.
    if (code == MPI_SUCCESS && _local != nullptr) {
        _local_code = _local->begin();
        if (_local_code != MPI_SUCCESS) {
            _local.reset(); // this process goes on, because the other group waits for its part
        }
    }
    return code;
}

bool Construction::ready() const noexcept {
    return (!_open && (_allocation == nullptr || _allocation->ready())) || (_local != nullptr && _local->ready());
}

bool Construction::advance(int* code) noexcept {
    *code = MPI_SUCCESS;
    if (!_open && (_allocation == nullptr || _allocation->advance(code))) {
        _allocation.reset(); // its destructor may release a mask that other allocations wait for
        if (*code == MPI_SUCCESS) {
            *code = unless_out_of_memory(MPI_ERR_NO_MEM, [this] { return open_communicator(_instance, *_comm); });
        }
        _open = true;
    }
    if (*code == MPI_SUCCESS && _local != nullptr && _local->advance(&_local_code)) {
        if (_local_code == MPI_SUCCESS) {
            _comm->local_comm = _local->take().detach();
        }
        _local.reset();
    }
    if (*code != MPI_SUCCESS) {
        return true;
    }
    if (!_open || _local != nullptr) {
        return false;
    }
    *code = _local_code;
    return true;
}

int Construction::complete() noexcept {
    int code = begin();
    while (code == MPI_SUCCESS && !advance(&code)) {
        wait_until(_instance.progress(), [this] { return ready(); });
    }
    return code;
}

int participate_in_construction(Communicator& parent, int tag, const std::string& only) {
    int code = MPI_SUCCESS;
    cid::Module* cid_module = choose_cid_module(*parent.instance, only, &code);
    if (cid_module == nullptr) {
        return code;
    }
    ParentReduction whole(parent, *parent.group, tag);
    const auto allocation = cid_module->participate(parent, whole);
    while (allocation != nullptr && !allocation->advance(&code)) {
        wait_until(parent.instance->progress(), [&] { return allocation->ready(); });
    }
    return code;
}

int open_communicator(Instance& instance, Communicator& comm) {
    comm.pml = &instance.pml();
    instance.communicators().bind(comm.index, &comm);
    if (const int code = comm.pml->add_comm(comm); code != MPI_SUCCESS) {
        return code;
    }
    if (comm.coll == nullptr) { // a duplicate may already have the table of its parent
        auto table = instance.coll_selector().select(instance, comm, hint_of_new(comm, "patchbay_coll"));
        if (!table) {
            return note_cause(table.error());
        }
        comm.coll = *table;
    }
    add_to_session(comm);
    return MPI_SUCCESS;
}

} // namespace patchbay
