// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/construction.h"

#include "core/base/out_of_memory.h"
#include "core/progress/waiter.h"
#include "frameworks/coll/selector.h"
#include "frameworks/pml/pml.h"
#include "mpi/communicators/hints.h"
#include "mpi/communicators/intercommunicator_parts.h"
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
    // Where components must support several threads, choose_locking() has opened the framework for that.
    if (Status opened = instance.open_cid(Capability::none); !opened) {
        *code = note_cause(opened.error());
        return nullptr;
    }
    auto chosen = instance.cid_framework().select_one(
        "new communicators",
        [&](cid::Component& component) -> Result<Choice<CidOffer>> {
            auto offer = component.query(instance);
            if (!offer) {
                return offer.error();
            }
            if (offer->module == nullptr) {
                return FrameworkBase::no_module();
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

// This process has an identifier for the communicator, and fails nevertheless. Where the identifier has no exCID, all
// members have exchanged messages in the CID allocation; what fails afterwards is not sent to them.
void refuse_communicator(Instance& instance, const Communicator& comm, int code) noexcept {
    const cid::ExtendedId* excid = comm.id != nullptr ? comm.id->extended_id() : nullptr;
    if (excid != nullptr) {
        instance.pml().refuse(comm, *excid, code);
    }
}

} // namespace

Construction::Construction(Instance& instance, Ref<Communicator> comm, Communicator& parent, bool collective, int tag)
    : _instance(instance),
      _parent(&parent),
      _comm(std::move(comm)),
      _members(std::in_place, parent, *_comm->group, tag),
      _what{*_comm, &parent, *_members, nullptr, cid::constructor_key(parent, tag), this} {
    if (collective && _comm->size == parent.size) {
        _what.whole = &*_members;
    } else if (collective) {
        _what.whole = &_whole.emplace(parent, *parent.group, tag);
    }
}

Construction::Construction(Instance& instance, Ref<Communicator> comm, Communicator* parent,
    std::unique_ptr<cid::GroupReduction> members, const cid::ConstructorKey& key)
    : _instance(instance),
      _parent(parent),
      _comm(std::move(comm)),
      _other(std::move(members)),
      _what{*_comm, parent, *_other, parent != nullptr ? _other.get() : nullptr, key, this,
          !_comm->is_inter || is_first(*_comm)} {}

Construction::~Construction() = default;

int Construction::begin() noexcept {
    _code = unless_out_of_memory(MPI_ERR_NO_MEM, [this] {
        int code = MPI_SUCCESS;
        const std::string only = hint_of_new(*_comm, "patchbay_cid");
        if (_local != nullptr && !_instance.communicators().has_free(2)) {
            refuse_with(MPI_ERR_NO_SPACE); // if local_comm fails later, the other group does not learn of it
        }
        cid::Module* cid_module = choose_cid_module(_instance, only, &code);
        if (cid_module == nullptr && !only.empty() && !_what.members.withdraw_from_all()) {
            // The others may have named another one, or none.
            refuse_with(code);
            cid_module = choose_cid_module(_instance, "", &code);
        }
        _what.refusal = _refusal;
        if (cid_module != nullptr) {
            code = MPI_SUCCESS;
            _instance.cid_counters().communicators.add();
            _allocation = cid_module->begin(_what, &code);
        }
        return code;
    });
    _allocated = _allocation == nullptr;
    if (_code != MPI_SUCCESS) {
        _what.members.withdraw();
        _allocation.reset();
        _allocated = true;
    }
    // The construction of local_comm begins here and not later, because all members must begin their constructors in
    // the same order. It begins after an error too, because the other members of the local group need the part of this
    // process, and take the next child number.
    if (_local != nullptr) {
        _local_code = _local->begin();
        if (_local_code != MPI_SUCCESS) {
            _local.reset(); // this process goes on, because the other group waits for its part
        }
    }
    return _local != nullptr ? MPI_SUCCESS : _code;
}

bool Construction::ready() const noexcept {
    const bool allocation_ready = !_allocated && _allocation->ready();
    const bool local_ready = _local != nullptr && _local->ready();
    return allocation_ready || local_ready || (_allocated && _local == nullptr);
}

bool Construction::advance(int* code) noexcept {
    const bool allocated = advance(Part::allocation);
    if (!advance(Part::local_side) || !allocated) {
        return false;
    }
    *code = open();
    return true;
}

bool Construction::advance(Part part) noexcept {
    if (part == Part::allocation) {
        if (!_allocated && _allocation->advance(&_code)) {
            _allocation.reset(); // its destructor may release a mask that other allocations wait for
            _allocated = true;
        }
        return _allocated;
    }
    if (_local != nullptr && _local->advance(&_local_code)) {
        if (_local_code == MPI_SUCCESS) {
            _comm->local_comm = _local->take().detach();
        }
        _local_refused = _local->_refused;
        _local.reset();
    }
    return _local == nullptr;
}

// A local_comm is an intracommunicator: it has one part.
int Construction::attach(Part part, Continuation& next) noexcept {
    return part == Part::allocation ? _allocation->attach(next) : _local->attach(Part::allocation, next);
}

// Opens the communicator, after its local_comm: if another member refuses it, the pml lets operations on both fail.
// After an error of this process alone the other members get a refusal, because they may have the communicator.
int Construction::open() noexcept {
    int code = first_error(_refusal, first_error(_code, _local_code));
    if (code == MPI_SUCCESS) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [this] { return open_communicator(_instance, *_comm); });
        if (code != MPI_SUCCESS && _comm->pml_data != nullptr) {
            refuse_communicator(_instance, *_comm, code);
        } else {
            _refused = code != MPI_SUCCESS && code != MPI_ERR_NO_MEM; // by add_comm
        }
    } else if (_code == MPI_SUCCESS && !_local_refused) {
        refuse_communicator(_instance, *_comm, code);
    }
    if (code != MPI_SUCCESS && !_refused && _comm->local_comm != nullptr) {
        refuse_communicator(_instance, *_comm->local_comm, code);
    }
    return code;
}

void Construction::refuse(const cid::ExtendedId& id, int code) noexcept {
    _instance.pml().refuse(*_comm, id, code);
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
    const std::string only = comm.coll == nullptr ? hint_of_new(comm, "patchbay_coll") : std::string();
    if (const int code = comm.pml->add_comm(comm); code != MPI_SUCCESS) {
        // Another member has refused the communicator. A cause that this process has as well explains more.
        const Status listed = instance.coll_selector().check_list(only);
        return listed ? code : note_cause(listed.error());
    }
    if (comm.coll == nullptr) { // a duplicate may already have the table of its parent
        auto table = instance.coll_selector().select(instance, comm, only);
        if (!table) {
            return note_cause(table.error());
        }
        comm.coll = *table;
    }
    add_to_session(comm);
    return MPI_SUCCESS;
}

} // namespace patchbay
