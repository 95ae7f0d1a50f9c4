// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_idup of communicators whose ranks are threads.
#include "core/base/out_of_memory.h"
#include "mpi/communicators/new_communicator.h"
#include "mpi/communicators/thread_constructors.h"
#include "mpi/communicators/thread_contexts.h"
#include "mpi/threads/engine.h"
#include "object/error_cause.h"
#include "object/origins.h"

#include <new>
#include <string>
#include <utility>

namespace patchbay::threads {

namespace {

// The request: waits for the reduction of the members, in polls of the thread that has made it.
class Duplication final : public Request {
public:
    Duplication(Communicator& parent, Ref<Communicator> comm, std::unique_ptr<cid::GroupReduction> reduction,
        MPI_Comm* result) noexcept
        : _parent(Ref<Communicator>::share(&parent)),
          _copy(comm),
          _comm(std::move(comm)),
          _result(result),
          _reduction(std::move(reduction)),
          _after(*parent.progress, *this) {
        belong_to(parent);
        progress = parent.progress;
        parent.view->engine.count_request(1);
    }

    int start() noexcept override { return MPI_ERR_REQUEST; } // never persistent
    // A constructor cannot be cancelled (MPI-5.0, 3.8.4).
    int cancel() noexcept override { return MPI_ERR_REQUEST; }
    std::string_view cause() const noexcept override { return _cause; }

    // After an error the request has not begun.
    int begin(int refused) noexcept {
        _words = contribution_of(*_parent, _parent->is_inter, refused);
        const int code = _reduction->start(_words, cid::GroupReduction::Operation::maximum);
        if (code != MPI_SUCCESS) {
            return code;
        }
        set_active();
        if (advance()) {
            set_complete();
        }
        return MPI_SUCCESS;
    }
    // After an error.
    int finish(MPI_Status*) noexcept override {
        if (_copy) {
            delete_copied_attributes(*std::exchange(_copy, {}));
        }
        return error;
    }
    int retire() noexcept override {
        _parent->view->engine.count_request(-1);
        delete this;
        return MPI_SUCCESS;
    }

private:
    struct After final : Continuation {
        After(Progress& waits, Duplication& owner) noexcept
            : Continuation(waits, &ReadyItem::call<After, &After::go_on>),
              owner(owner) {}
        void go_on() noexcept {
            if (owner.advance()) {
                owner.complete();
            }
        }
        Duplication& owner;
    };

    // false: a poll goes on, when the messages that the reduction waits for are complete.
    bool advance() noexcept {
        int code = MPI_SUCCESS;
        while (!_reduction->advance(&code)) {
            _after.open();
            _reduction->attach(_after); // without an error: the reduction waits for messages
            if (!_after.close()) {
                return false;
            }
        }
        end(code);
        return true;
    }
    void end(int code) noexcept {
        error = code != MPI_SUCCESS ? code : construct();
        if (error == MPI_SUCCESS) {
            _copy.reset();
        } else {
            _comm.reset();
            calls_back = !_copy->attributes.empty();
            _cause = unless_out_of_memory(std::string(), [this] { return std::string(noted_cause(error)); });
        }
        fill_empty_status(status);
        _complete_reference.set(*_parent);
    }
    int construct() noexcept {
        Contexts contexts;
        if (const int code = result_of(_words, &contexts); code != MPI_SUCCESS) {
            return code;
        }
        return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            Communicator* made = nullptr;
            const int code = complete_duplicate(*_parent, std::move(_comm), contexts, &made);
            if (code == MPI_SUCCESS) {
                *_result = to_handle(made);
                if (Origins* const origins = Origins::active()) {
                    origins->add(*_result, ObjectKind::communicator, "MPI_Comm_idup", {}, _site);
                }
            }
            return code;
        });
    }

    const Ref<Communicator> _parent;
    Ref<Communicator> _copy; // until the program has it
    Ref<Communicator> _comm; // until it is complete
    MPI_Comm* const _result;
    const CallSite _site = Origins::site();
    const std::unique_ptr<cid::GroupReduction> _reduction;
    ContextWords _words{};
    After _after;
    CompleteReference _complete_reference; // to the parent
    std::string _cause;
};

} // namespace

int start_duplicate(Communicator& parent, const Info* info, MPI_Comm* made, Request** request) {
    Ref<Communicator> comm;
    const int copied = prepare_duplicate(parent, info, &comm);
    auto* duplication = new (std::nothrow) Duplication(parent, comm, context_reduction(parent), made);
    if (duplication == nullptr) {
        delete_copied_attributes(*comm);
        return MPI_ERR_NO_MEM;
    }
    if (const int code = duplication->begin(copied); code != MPI_SUCCESS) {
        duplication->retire();
        delete_copied_attributes(*comm);
        return code;
    }
    *request = duplication;
    return MPI_SUCCESS;
}

} // namespace patchbay::threads
