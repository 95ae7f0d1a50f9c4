// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/collective_check.h"

#include "core/progress/waiter.h"
#include "frameworks/coll/forward.h"
#include "mpi/check/buffer_uses.h"
#include "mpi/check/call_exchange.h"
#include "mpi/check/call_record.h"
#include "mpi/check/collective_buffers.h"
#include "mpi/check/finding.h"
#include "object/error_cause.h"
#include "object/origins.h"

#include <new>

namespace patchbay::check {

namespace {

// A process of an intercommunicator whose group has the root takes no part in the blocking forms, unless it is the
// root.
bool is_compared(const coll::Call& call, const Communicator& comm) noexcept {
    return !comm.is_inter || (call.root != MPI_ROOT && call.root != MPI_PROC_NULL);
}

// make_record(site) returns the record of a call at that place. nullptr: memory is exhausted. Then the others wait in
// the comparison, as in the collective.
template <class MakeRecord>
std::shared_ptr<CallExchange> begin_exchange(
    Progress& progress, Communicator& comm, const MakeRecord& make_record) noexcept {
    std::shared_ptr<CallExchange> exchange;
    unless_exhausted([&] { exchange = CallExchange::begin(progress, comm, make_record(CallSite::here().text())); });
    return exchange;
}

// nullptr: the call is not compared, or as above.
std::shared_ptr<CallExchange> compare_calls(
    Progress& progress, const coll::Call& call, coll::Form form, Communicator& comm) noexcept {
    if (!is_compared(call, comm)) {
        return nullptr;
    }
    return begin_exchange(progress, comm, [&](const std::string& site) { return record_of(call, form, comm, site); });
}

// Waits for the result, whose cause is noted. `exchange` may be null.
int wait_for_result(Progress& progress, const std::shared_ptr<CallExchange>& exchange) noexcept {
    if (exchange == nullptr) {
        return MPI_SUCCESS;
    }
    wait_until(progress, [&exchange] { return exchange->has_ended(); });
    const int code = exchange->code();
    return code == MPI_SUCCESS ? code : note_cause(code, printed_cause);
}

class CallGate final : public coll::Gate {
public:
    explicit CallGate(std::shared_ptr<CallExchange> exchange) noexcept
        : _exchange(std::move(exchange)) {}
    ~CallGate() override {
        Origins* const origins = Origins::active();
        if (_noted && origins != nullptr) {
            origins->remove(this);
        }
    }
    void note_request(const coll::Call& call, coll::Form form, const Communicator& comm) {
        if (Origins* const origins = Origins::active()) {
            origins->add(this, ObjectKind::request, name_of_call(call.function, form), comm.describe());
            _noted = true;
        }
    }
    // The buffers are in use from begin() to finish().
    void watch_buffers(
        const coll::Call& call, coll::Form form, Communicator& comm, std::shared_ptr<BufferCheck> check) {
        const std::vector<MessageCall> buffers = buffers_of(call, name_of_call(call.function, form), comm);
        _check = std::move(check);
        _uses = std::make_unique<BufferUses>(*_check, buffers.size());
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            _uses->describe(i, buffers[i]);
        }
    }
    bool follows_completion() const noexcept override { return _uses != nullptr; }
    void begin() noexcept override {
        const CallSite site = CallSite::here();
        for (std::size_t i = 0; i < _uses->count(); ++i) {
            _uses->begin(i, site);
        }
    }
    void finish() noexcept override { _uses->end_all(); }
    void start(coll::Completion& done) noexcept override {
        if (_exchange != nullptr) {
            _exchange->notify(done);
        } else {
            done.end(MPI_SUCCESS);
        }
    }
    std::string_view cause() const noexcept override { return printed_cause; }

private:
    const std::shared_ptr<CallExchange> _exchange;
    bool _noted = false;
    std::shared_ptr<BufferCheck> _check;
    std::unique_ptr<BufferUses> _uses;
};

// Whether this thread is in a collective that has been compared: those of which it consists are not.
thread_local bool inside = false;

// The blocking forms.
class CheckedCollectives final : public coll::Forward {
public:
    // `buffers`: null where they are not checked; `compares`: the calls of the members.
    CheckedCollectives(Progress& progress, bool compares, std::shared_ptr<BufferCheck> buffers,
        std::unique_ptr<coll::Module> wrapped) noexcept
        : Forward(std::move(wrapped)),
          _progress(progress),
          _compares(compares),
          _buffers(std::move(buffers)) {}

    int blocking(const coll::Call& call, Communicator& comm) noexcept override {
        if (inside) {
            return wrapped().run_blocking(call, comm);
        }
        look_at_buffers(call, comm);
        const auto exchange = _compares ? compare_calls(_progress, call, coll::Form::blocking, comm) : nullptr;
        int code = wait_for_result(_progress, exchange);
        if (code == MPI_SUCCESS) {
            inside = true;
            code = wrapped().run_blocking(call, comm);
            inside = false;
        }
        return code;
    }

private:
    // Another operation may be using them.
    void look_at_buffers(const coll::Call& call, Communicator& comm) noexcept {
        if (_buffers != nullptr) {
            unless_exhausted([&] {
                for (const MessageCall& buffer :
                    buffers_of(call, name_of_call(call.function, coll::Form::blocking), comm)) {
                    _buffers->look_at(buffer);
                }
            });
        }
    }

    Progress& _progress;
    const bool _compares;
    const std::shared_ptr<BufferCheck> _buffers;
};

} // namespace

std::unique_ptr<coll::Gate> CollectiveCheck::look_at(
    const coll::Call& call, coll::Form form, Communicator& comm) noexcept {
    const bool notes = _checks.leaks && form == coll::Form::nonblocking; // the bindings note persistent requests
    if (!_checks.collectives && !notes && !_checks.buffers) {
        return nullptr;
    }
    auto exchange = _checks.collectives ? compare_calls(_progress, call, form, comm) : nullptr;
    std::unique_ptr<CallGate> gate(new (std::nothrow) CallGate(std::move(exchange)));
    if (gate != nullptr && notes) {
        unless_exhausted([&] { gate->note_request(call, form, comm); });
    }
    if (gate != nullptr && _checks.buffers) {
        unless_exhausted([&] {
            gate->watch_buffers(call, form, comm, _buffers);
            if (form == coll::Form::nonblocking) { // MPI_Start begins a persistent one
                gate->begin();
            }
        });
    }
    return gate;
}

int CollectiveCheck::compare_constructor(const char* function, Communicator& comm) noexcept {
    if (!_checks.collectives) {
        return MPI_SUCCESS;
    }
    const auto exchange = begin_exchange(
        _progress, comm, [&](const std::string& site) { return record_of_constructor(function, comm, site); });
    return wait_for_result(_progress, exchange);
}

void CollectiveCheck::wrap(Communicator&, std::unique_ptr<coll::Module>& module) {
    if (_checks.collectives || _checks.buffers) {
        void* const memory = ::operator new(sizeof(CheckedCollectives));
        module.reset(::new (memory) CheckedCollectives(
            _progress, _checks.collectives, _checks.buffers ? _buffers : nullptr, std::move(module)));
    }
}

} // namespace patchbay::check
