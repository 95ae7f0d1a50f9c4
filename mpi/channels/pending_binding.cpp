// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/pending_binding.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/chan/tags.h"
#include "mpi/instance/instance.h"
#include "object/error_cause.h"
#include "object/error_code.h"
#include "object/origins.h"

#include <fmt/core.h>

namespace patchbay {

namespace {

std::string noted_text(int code) {
    return std::string(noted_cause(code));
}

} // namespace

Progress& PendingBinding::progress() const noexcept {
    return _comm->progress_or(_owner.instance().progress());
}

// MPI_ERR_NO_MEM, or MPI_SUCCESS also where there are no candidates.
int PendingBinding::query_components() noexcept {
    Instance& instance = _owner.instance();
    const auto refuse = [this](const Error& why) {
        _why_no_candidate = why.text;
        return why.code == Errc::out_of_memory ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    };
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        _why_no_candidate.clear();
        if (const Status opened = instance.open_chan(); !opened) {
            return refuse(opened.error());
        }
        const auto found = instance.chan_selector().query(instance, _what, _only, &_candidates);
        if (!found) {
            return refuse(found.error());
        }
        if (!keep_used(instance, _use, chan::Faster::among_others, _what, _candidates)) {
            _why_no_candidate = "no component of framework chan is faster than the pml";
        }
        return MPI_SUCCESS;
    });
}

bool PendingBinding::accepts(int source, int tag) const noexcept {
    const bool fits = _what.tag == tag || (_what.tag == MPI_ANY_TAG && tag >= 0); // those of operations are negative
    return fits && (_what.peer == MPI_ANY_SOURCE || _what.peer == source);
}

// The side that receives: the proposal is answered with this half, or with an error.
void PendingBinding::match(const Proposal& proposal, int source) noexcept {
    const bool awaits_half = _receiving.is_under_way();
    _what.side.synchronous = proposal.synchronous != 0;
    set_partner(source, proposal.tag, proposal.number);
    _step = Step::answer;
    if (compare_with(proposal)) {
        choose_component(proposal);
    }
    if (_code == MPI_SUCCESS && !awaits_half) {
        _receiving.start(setup_message(source));
    }
    tell();
    if (_code != MPI_SUCCESS) {
        stop_receiving(); // the other side sends no half
    }
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

void PendingBinding::choose_component(const Proposal& proposal) noexcept {
    Instance& instance = _owner.instance();
    std::string text;
    int code = query_components();
    if (code == MPI_SUCCESS) {
        code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            auto chosen = instance.chan_selector().choose(instance, _what, _candidates, proposal.candidates);
            if (!chosen) {
                text = _why_no_candidate.empty() ? chosen.error().text : _why_no_candidate;
                return MPI_ERR_UNSUPPORTED_OPERATION;
            }
            _outgoing.component = *chosen;
            return MPI_SUCCESS;
        });
    }
    if (code != MPI_SUCCESS) {
        reject(code, text);
    } else {
        make_channel(_outgoing.component);
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

// Makes this process's half, which the next message has; false: reject() has been called. An error goes to the other
// side with that message.
bool PendingBinding::make_channel(const chan::Selector::Candidate& name) noexcept {
    Instance& instance = _owner.instance();
    chan::Component* const component = instance.chan_selector().find(name);
    if (component == nullptr) {
        reject(MPI_ERR_INTERN, "the other side has chosen a component of framework chan that is not open here");
        return false;
    }
    std::size_t used = 0;
    auto made = component->create(instance, _what, _outgoing.room_for_half(), &used);
    if (!made) {
        reject(error_code(made.error().code), made.error().text);
        return false;
    }
    if (*made == nullptr) {
        reject(MPI_ERR_INTERN, "component " + std::string(name.name) + " of framework chan has made no channel");
        return false;
    }
    _channel = *made;
    if (used > chan::most_offer_bytes) {
        reject(MPI_ERR_INTERN,
            "component " + std::string(name.name) + " of framework chan says that it has written " +
                std::to_string(used) + " bytes for the partner; there is room for " +
                std::to_string(chan::most_offer_bytes));
        return false;
    }
    if (_operation != nullptr) {
        _channel->belong_to_operation();
    }
    _outgoing.data_bytes = std::uint32_t(used);
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
    const int code = _channel->connect(_incoming.half());
    if (code != MPI_SUCCESS) {
        reject(code, unless_out_of_memory(std::string(), [&] { return noted_text(code); }));
    }
    return code == MPI_SUCCESS;
}

// Begins to send the message, with the error that has occurred, if any.
void PendingBinding::tell() noexcept {
    _outgoing.code = _code;
    _outgoing.number = _number;
    if (_code != MPI_SUCCESS) {
        _outgoing.set_text(_text);
    }
    _sending.launch({true, &_outgoing, _outgoing.size(), _what.peer, chan::setup_tag(_partner_number)});
    if (_receiving.is_under_way()) {
        _sending.follow_unless_ended();
    } else {
        _sending.follow();
    }
}

// Memory is short for a message of the setup. What remains of it is the error, which is so short that it needs hardly
// any. The error of this side counts for the other one as well: it sends no half.
void PendingBinding::shorten() noexcept {
    if (_outgoing.data_bytes != 0) {
        reject(MPI_ERR_NO_MEM, {});
        stop_receiving();
        _outgoing.code = _code;
        _outgoing.data_bytes = 0;
    }
}

// The first error counts.
void PendingBinding::reject(int code, std::string_view text) noexcept {
    if (_code == MPI_SUCCESS) {
        _code = code;
        _text = unless_out_of_memory(std::string(), [&] { return std::string(text); });
    }
}

void PendingBinding::stop_receiving() noexcept {
    if (_receiving.is_under_way()) {
        _receiving.cancel(); // ended() follows
    }
}

void PendingBinding::fail(int code, std::string_view text) noexcept {
    reject(code, text);
    if (_receiving.is_under_way()) {
        stop_receiving();
    } else {
        _next.post();
    }
}

void PendingBinding::give_up() noexcept {
    if (_step == Step::search && _owner.matching().remove(*_comm, *this)) {
        fail(MPI_ERR_OTHER, "the library has been finalized");
    } else if (_receiving.is_under_way()) {
        reject(MPI_ERR_OTHER, "the library has been finalized");
        stop_receiving();
    }
}

// A message has ended. The next step follows when both have.
void PendingBinding::ended(PreparedMessage& message) noexcept {
    const Channels::Lock lock(_owner.mutex());
    if (message.lacks_memory() && !_owner.is_closing()) {
        if (&message == &_sending && _step != Step::propose) {
            shorten();
            message.start_again({true, &_outgoing, _outgoing.size(), _what.peer, chan::setup_tag(_partner_number)});
        } else {
            message.start_again();
        }
        return;
    }
    if (const int code = message.code(); code != MPI_SUCCESS && !message.is_cancelled()) {
        reject(code, message.cause());
        if (&message == &_sending) {
            stop_receiving(); // no answer to it comes
        }
    }
    message.end();
    if (!_sending.is_under_way() && !_receiving.is_under_way()) {
        act();
    }
}

void PendingBinding::run() noexcept {
    const Channels::Lock lock(_owner.mutex());
    act();
}

void PendingBinding::act() noexcept {
    if (_step == Step::search) {
        // Only the receive for the other side's half can have ended, with the error of the process or of the library.
        _owner.matching().remove(*_comm, *this);
    }
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
            reject(_incoming.code, _incoming.text());
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
        reject(_incoming.code, own ? std::string_view(_why_no_candidate) : _incoming.text());
        finish();
        return;
    }
    set_partner(_what.peer, _what.tag, _incoming.number);
    if (make_channel(_incoming.component)) {
        connect();
    }
    _step = Step::confirm;
    if (_code == MPI_SUCCESS) {
        _receiving.start(setup_message(_what.peer));
    }
    tell();
}

// The side that receives: the other side is connected, or has failed.
void PendingBinding::take_half() noexcept {
    if (_incoming.code != MPI_SUCCESS) {
        reject(_incoming.code, _incoming.text());
        finish();
        return;
    }
    connect();
    _step = Step::end;
    _outgoing.data_bytes = 0;
    tell();
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

// The binding has failed.
void PendingBinding::end_channel() noexcept {
    _owner.instance().bound_channels().remove(*_channel);
    _channel->disconnect();
    _channel->recycle();
}

// Completes the borrowed request.
void PendingBinding::finish() noexcept {
    if (_code != MPI_SUCCESS) {
        if (_channel != nullptr) {
            end_channel();
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
    _sending.release(); // before the program learns of the end: they have references to its communicator
    _receiving.release();
    _in.complete();
    delete this;
}

} // namespace patchbay
