// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/pending_binding.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/chan/tags.h"
#include "mpi/channels/null_channel.h"
#include "mpi/communicators/hints.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"
#include "object/error_code.h"
#include "object/origins.h"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <span>

namespace patchbay {

namespace {

chan::Binding binding_of(const NewChannel& what) noexcept {
    pml::PersistentRequest bound{};
    what.in->bound(&bound);
    chan::Binding binding{};
    binding.side = {bound.mode.has_value(), bound.mode == pml::SendMode::synchronous, bound.buffer, bound.count,
        bound.type, what.slackness, what.increment_bytes, !what.is_of_operation()};
    binding.comm = what.in->comm;
    binding.peer = bound.peer;
    binding.tag = bound.tag;
    binding.bytes = std::uint64_t(bound.count) * std::uint64_t(bound.type->size);
    return binding;
}

std::string component_list(const NewChannel& what) {
    return what.component.empty() ? hint(*what.in->comm, "patchbay_chan") : what.component;
}

std::string noted_text(int code) {
    return std::string(noted_cause(code));
}

} // namespace

PendingBinding::PendingBinding(Channels& owner, const NewChannel& what)
    : _owner(owner),
      _in(*what.in),
      _out(what.out),
      _operation(what.channel),
      _use(what.use),
      _comm(Ref<Communicator>::share(what.in->comm)),
      _only(component_list(what)),
      _function(what.function),
      _what(binding_of(what)),
      _next(progress(), *this) {}

Progress& PendingBinding::progress() const noexcept {
    return _comm->progress_or(_owner.instance().progress());
}

int PendingBinding::begin(Channels& owner, const NewChannel& what) noexcept {
    PendingBinding* binding = nullptr;
    int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        binding = new PendingBinding(owner, what);
        owner.add(*binding);
        return MPI_SUCCESS;
    });
    if (code == MPI_SUCCESS) {
        if (binding->_what.peer == MPI_PROC_NULL) {
            code = binding->make_null_channel();
        } else {
            binding->_number = owner.take_number();
            code = binding->_number == Channels::no_number ? MPI_ERR_NO_MEM
                : binding->_what.side.sends                ? binding->begin_proposal()
                                                           : binding->begin_search();
        }
    }
    if (code == MPI_SUCCESS) {
        what.in->borrow();
        if (what.is_of_operation()) {
            *what.channel = nullptr;
        } else {
            *what.out = MPI_REQUEST_NULL;
        }
    } else if (binding != nullptr) {
        owner.remove(*binding);
        owner.give_back_number(binding->_number);
        delete binding;
    }
    return code;
}

int PendingBinding::make_null_channel() noexcept {
    auto made = std::unique_ptr<NullChannel>(new (std::nothrow) NullChannel(progress(), _what));
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        _owner.instance().bound_channels().add(*made);
        return MPI_SUCCESS;
    });
    if (code != MPI_SUCCESS) {
        return code;
    }
    _channel = made.release();
    _step = Step::end;
    _next.post();
    return MPI_SUCCESS;
}

// The side that receives. If it names the other process, it posts the receive for that one's half now: that ends with
// an error if the process fails.
int PendingBinding::begin_search() noexcept {
    _step = Step::search;
    // Here, and not in the poll in which a proposal arrives; an error comes again there.
    unless_out_of_memory(false, [&] { return bool(_owner.instance().open_chan()); });
    int code = MPI_SUCCESS;
    if (_what.peer != MPI_ANY_SOURCE) {
        code = receive_bytes(&_incoming, sizeof _incoming, _what.peer, chan::setup_tag(_number), *_comm, &_receiving);
    }
    if (code == MPI_SUCCESS) {
        code = _owner.matching().add(*_comm, *this);
        if (code != MPI_SUCCESS && _receiving != nullptr) {
            _receiving->cancel();
            drop(_receiving);
        }
    }
    if (code == MPI_SUCCESS && _receiving != nullptr) {
        _next.follow(_receiving, nullptr);
    }
    return code;
}

// The side that sends. A process without a component for the channel proposes it too, so that both get the error.
int PendingBinding::begin_proposal() noexcept {
    _step = Step::propose;
    set_partner(_what.peer, _what.tag, Channels::no_number);
    query_components();
    _proposal = {_what.bytes, _what.tag, _number, _what.side.slackness, _what.side.synchronous ? 1u : 0u, _candidates};
    int code = receive_bytes(&_incoming, sizeof _incoming, _what.peer, chan::setup_tag(_number), *_comm, &_receiving);
    if (code == MPI_SUCCESS) {
        code = send_bytes(&_proposal, sizeof _proposal, _what.peer, chan::proposal_tag, *_comm, &_sending);
        if (code != MPI_SUCCESS) {
            _receiving->cancel();
            drop(_receiving);
        }
    }
    if (code == MPI_SUCCESS) {
        _next.follow(_sending, _receiving);
    }
    return code;
}

void PendingBinding::query_components() noexcept {
    Instance& instance = _owner.instance();
    _why_no_candidate = unless_out_of_memory(std::string(), [&] {
        if (Status opened = instance.open_chan(); !opened) {
            return opened.error().text;
        }
        auto found = instance.chan_selector().query(instance, _what, _only, &_candidates);
        if (found && !keep_used(instance, _use, chan::Faster::among_others, _what, _candidates)) {
            return std::string("no component of framework chan is faster than the pml");
        }
        return found ? std::string() : found.error().text;
    });
}

bool PendingBinding::accepts(int source, int tag) const noexcept {
    const bool fits = _what.tag == tag || (_what.tag == MPI_ANY_TAG && tag >= 0); // those of operations are negative
    return fits && (_what.peer == MPI_ANY_SOURCE || _what.peer == source);
}

// The side that receives: the proposal is answered with this half, or with an error.
void PendingBinding::match(const Proposal& proposal, int source) noexcept {
    const bool awaits_half = _receiving != nullptr;
    _what.side.synchronous = proposal.synchronous != 0;
    set_partner(source, proposal.tag, proposal.number);
    _step = Step::answer;
    SetupMessage& answer = _outgoing;
    if (compare_with(proposal)) {
        choose_component(proposal, answer);
    }
    if (_code == MPI_SUCCESS && !awaits_half) {
        _code = receive_bytes(&_incoming, sizeof _incoming, _what.peer, chan::setup_tag(_number), *_comm, &_receiving);
    }
    tell(answer);
    if (_code != MPI_SUCCESS && _receiving != nullptr) {
        _receiving->cancel(); // the other side sends no half
    }
    if (!awaits_half) {
        _next.follow(_sending, _receiving);
    } // otherwise the receive is followed already
}

// false: the two sides do not fit.
bool PendingBinding::compare_with(const Proposal& proposal) noexcept {
    const auto text_of = [](const char* what, std::uint64_t sent, std::uint64_t received) {
        return unless_out_of_memory(std::string(), [&] {
            return fmt::format(
                "the sender binds {0} {1} to the channel, the receiver {2}: both sides must bind the same", what, sent,
                received);
        });
    };
    if (proposal.slackness != _what.side.slackness) {
        reject(MPI_ERR_ARG, text_of("slackness", proposal.slackness, _what.side.slackness));
        return false;
    }
    if (proposal.bytes != _what.bytes) {
        reject(proposal.bytes > _what.bytes ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
            text_of("a message whose size in bytes is", proposal.bytes, _what.bytes));
        return false;
    }
    return true;
}

void PendingBinding::choose_component(const Proposal& proposal, SetupMessage& answer) noexcept {
    query_components();
    Instance& instance = _owner.instance();
    int code = MPI_SUCCESS;
    std::string text;
    code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        auto chosen = instance.chan_selector().choose(instance, _what, _candidates, proposal.candidates);
        if (!chosen) {
            text = _why_no_candidate.empty() ? chosen.error().text : _why_no_candidate;
            return MPI_ERR_UNSUPPORTED_OPERATION;
        }
        answer.component = *chosen;
        return MPI_SUCCESS;
    });
    if (code != MPI_SUCCESS) {
        reject(code, text);
    } else {
        make_channel(answer.component, answer);
    }
}

void PendingBinding::set_partner(int peer, int tag, int number) noexcept {
    const Communicator& comm = *_comm;
    _what.peer = peer;
    _what.tag = tag;
    _what.partner = comm.remote_group->process(peer);
    _partner_number = number;
    if (number != Channels::no_number) {
        _what.tag_here = chan::component_tag(_number);
        _what.tag_there = chan::component_tag(number);
    }
}

// Makes this process's half; false: reject() has been called. An error goes to the other side with the message that
// would have had the half.
bool PendingBinding::make_channel(const chan::Selector::Candidate& name, SetupMessage& message) noexcept {
    Instance& instance = _owner.instance();
    chan::Component* const component = instance.chan_selector().find(name);
    if (component == nullptr) {
        reject(MPI_ERR_INTERN, "the other side has chosen a component of framework chan that is not open here");
        return false;
    }
    std::size_t used = 0;
    auto made = component->create(instance, _what, message.offer, &used);
    if (!made) {
        reject(error_code(made.error().code), made.error().text);
        return false;
    }
    _channel = *made;
    if (_operation != nullptr) {
        _channel->belong_to_operation();
    }
    message.offer_bytes = std::uint32_t(used);
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        instance.bound_channels().add(*_channel);
        return MPI_SUCCESS;
    });
    if (code != MPI_SUCCESS) {
        reject(code, {});
        return false;
    }
    return true;
}

bool PendingBinding::connect() noexcept {
    const int code = _channel->connect(std::span(_incoming.offer).first(_incoming.offer_bytes));
    if (code != MPI_SUCCESS) {
        reject(code, unless_out_of_memory(std::string(), [&] { return noted_text(code); }));
    }
    return code == MPI_SUCCESS;
}

// Begins to send the message, with the error that has occurred, if any.
void PendingBinding::tell(SetupMessage& message) noexcept {
    message.code = _code;
    message.number = _number;
    message.set_text(_text);
    const int code =
        send_bytes(&message, sizeof message, _what.peer, chan::setup_tag(_partner_number), *_comm, &_sending);
    if (code != MPI_SUCCESS) {
        reject(code, {});
        if (_receiving != nullptr) {
            _receiving->cancel(); // no answer to it comes
        }
    }
}

// The first error counts.
void PendingBinding::reject(int code, std::string_view text) noexcept {
    if (_code == MPI_SUCCESS) {
        _code = code;
        _text = unless_out_of_memory(std::string(), [&] { return std::string(text); });
    }
}

void PendingBinding::fail(int code, std::string_view text) noexcept {
    reject(code, text);
    if (_receiving != nullptr) {
        _receiving->cancel(); // advance() follows
    } else {
        _next.post();
    }
}

void PendingBinding::give_up() noexcept {
    if (_step == Step::search && _owner.matching().remove(*_comm, *this)) {
        fail(MPI_ERR_OTHER, "the library has been finalized");
    } else if (_receiving != nullptr) {
        reject(MPI_ERR_OTHER, "the library has been finalized");
        _receiving->cancel();
    }
}

// Something that this side waits for has come. Waits for the rest, and then takes the next step.
void PendingBinding::advance() noexcept {
    const Channels::Lock lock(_owner.mutex());
    if (_next.attach_to(_sending, _receiving)) {
        return;
    }
    for (Request** request : {&_sending, &_receiving}) {
        if (const int code = error_of(*request); code != MPI_SUCCESS) {
            reject(code, (*request)->cause());
        }
        drop(*request);
    }
    if (_step == Step::search) {
        // Only the receive for the other side's half can have ended, with the error of the process or of the library.
        _owner.matching().remove(*_comm, *this);
    }
    act();
}

void PendingBinding::act() noexcept {
    if (_code != MPI_SUCCESS) {
        finish();
        return;
    }
    switch (_step) {
    case Step::propose:
        take_answer();
        return;
    case Step::answer:
        take_half();
        return;
    case Step::confirm:
        if (_incoming.code != MPI_SUCCESS) {
            reject(_incoming.code, _incoming.text);
        }
        break;
    case Step::null:
    case Step::search:
    case Step::end:
        break;
    }
    finish();
}

// The side that sends: the other side's half has come, or its error.
void PendingBinding::take_answer() noexcept {
    if (_incoming.code != MPI_SUCCESS) {
        const bool own = !_why_no_candidate.empty() && _incoming.code == MPI_ERR_UNSUPPORTED_OPERATION;
        reject(_incoming.code, own ? std::string_view(_why_no_candidate) : _incoming.text);
        finish();
        return;
    }
    set_partner(_what.peer, _what.tag, _incoming.number);
    if (make_channel(_incoming.component, _outgoing)) {
        connect();
    }
    _step = Step::confirm;
    if (_code == MPI_SUCCESS) {
        const int code =
            receive_bytes(&_incoming, sizeof _incoming, _what.peer, chan::setup_tag(_number), *_comm, &_receiving);
        if (code != MPI_SUCCESS) {
            reject(code, {});
        }
    }
    tell(_outgoing);
    _next.follow(_sending, _receiving);
}

// The side that receives: the other side is connected, or has failed.
void PendingBinding::take_half() noexcept {
    if (_incoming.code != MPI_SUCCESS) {
        reject(_incoming.code, _incoming.text);
        finish();
        return;
    }
    connect();
    _step = Step::end;
    tell(_outgoing);
    _next.follow(_sending, nullptr);
}

void PendingBinding::give_handle() noexcept {
    _channel->enter_list();
    const MPI_Request handle = to_handle<Request>(_channel);
    if (Origins* const origins = Origins::active()) {
        const std::string on = unless_out_of_memory(std::string(), [&] { return _comm->describe(); });
        origins->add(handle, ObjectKind::request, _function, on);
    }
    *_out = handle;
}

// Completes the borrowed request.
void PendingBinding::finish() noexcept {
    if (_code != MPI_SUCCESS) {
        if (_channel != nullptr) {
            _owner.instance().bound_channels().remove(*_channel);
            _channel->disconnect();
            _channel->recycle();
        }
        _owner.give_back_number(_number);
        if (_operation == nullptr) {
            _owner.note_text(_in, _text);
        }
    } else if (_operation != nullptr) {
        *_operation = _channel;
    } else {
        give_handle();
    }
    if (_what.peer == MPI_PROC_NULL) {
        fill_proc_null_status(_in.status);
    } else {
        fill_status(_in.status, _what.peer, _what.tag, 0);
    }
    _in.error = _code;
    _owner.remove(*this);
    _in.complete();
    delete this;
}

} // namespace patchbay
