// SPDX-License-Identifier: BSD-3-Clause
// How a binding begins: what it takes before its first message is sent.
#include "mpi/channels/pending_binding.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/chan/tags.h"
#include "mpi/channels/null_channel.h"
#include "mpi/communicators/hints.h"
#include "mpi/instance/instance.h"

#include <memory>
#include <new>
#include <utility>

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
      _sending(progress(), *_comm, *this),
      _receiving(progress(), *_comm, *this),
      _next(progress(), *this) {}

int PendingBinding::begin(Channels& owner, std::span<const NewChannel> all, std::size_t* failed) noexcept {
    PendingBinding* first = nullptr;
    PendingBinding** end = &first;
    int code = MPI_SUCCESS;
    for (*failed = 0; *failed < all.size(); ++*failed) {
        code = prepare(owner, all[*failed], end);
        if (code != MPI_SUCCESS) {
            break;
        }
        end = &(*end)->_following;
    }
    if (code == MPI_SUCCESS) {
        code = send_proposals(first, failed);
    }
    while (first != nullptr) {
        PendingBinding* const one = std::exchange(first, first->_following);
        code == MPI_SUCCESS ? one->begin() : one->undo();
    }
    return code;
}

// *made is null after an error.
int PendingBinding::prepare(Channels& owner, const NewChannel& what, PendingBinding** made) noexcept {
    *made = nullptr;
    int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        *made = new PendingBinding(owner, what);
        return MPI_SUCCESS;
    });
    if (code == MPI_SUCCESS) {
        code = (*made)->prepare();
        if (code != MPI_SUCCESS) {
            std::exchange(*made, nullptr)->undo();
        }
    }
    return code;
}

int PendingBinding::prepare() noexcept {
    const int added = unless_out_of_memory(MPI_ERR_NO_MEM, [this] {
        _owner.add(*this);
        return MPI_SUCCESS;
    });
    if (added != MPI_SUCCESS) {
        return added;
    }
    if (_what.peer == MPI_PROC_NULL) {
        return prepare_null_channel();
    }
    _number = _owner.take_number();
    if (_number == Channels::no_number) {
        return MPI_ERR_NO_MEM;
    }
    return _what.side.sends ? prepare_proposal() : prepare_search();
}

int PendingBinding::prepare_null_channel() noexcept {
    auto made = std::unique_ptr<NullChannel>(new (std::nothrow) NullChannel(progress(), _what));
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        _owner.instance().bound_channels().add(*made);
        return MPI_SUCCESS;
    });
    if (code == MPI_SUCCESS) {
        _channel = made.release();
        _step = Step::end;
    }
    return code;
}

// The receive for the other side's messages, whose tag is that of this binding.
PreparedMessage::What PendingBinding::setup_message(int source) noexcept {
    return {false, &_incoming, sizeof _incoming, source, chan::setup_tag(_number)};
}

// The side that receives. If it names the other process, it posts the receive for that one's half now: that ends with
// an error if the process fails.
int PendingBinding::prepare_search() noexcept {
    // Here, and not in the poll in which a proposal arrives; another error comes again there.
    int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        const Status opened = _owner.instance().open_chan();
        return !opened && opened.error().code == Errc::out_of_memory ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    });
    const bool names_peer = _what.peer != MPI_ANY_SOURCE;
    if (code == MPI_SUCCESS) { // the tag of the answer is not known yet: its request takes the place of this one
        code = _sending.prepare({true, &_outgoing, 0, names_peer ? _what.peer : 0, chan::proposal_tag});
    }
    if (code == MPI_SUCCESS) {
        code =
            names_peer ? _receiving.launch(setup_message(_what.peer)) : _receiving.prepare(setup_message(_what.peer));
        code = names_peer && code != MPI_ERR_NO_MEM ? MPI_SUCCESS : code; // the binding ends with any other error
    }
    if (code == MPI_SUCCESS) {
        code = _owner.matching().add(*_comm, *this);
    }
    if (code == MPI_SUCCESS) {
        _step = Step::search;
    }
    return code;
}

// The side that sends. A process without a component for the channel proposes it too, so that both get the error.
int PendingBinding::prepare_proposal() noexcept {
    _step = Step::propose;
    set_partner(_what.peer, _what.tag, Channels::no_number);
    if (const int code = query_components(); code != MPI_SUCCESS) {
        return code;
    }
    _proposal = {_what.bytes, _what.tag, _number, _what.side.slackness, _what.side.synchronous ? 1u : 0u, _candidates};
    if (_receiving.launch(setup_message(_what.peer)) == MPI_ERR_NO_MEM) {
        return MPI_ERR_NO_MEM;
    }
    return _sending.prepare({true, &_proposal, sizeof _proposal, _what.peer, chan::proposal_tag});
}

// The first one may fail for want of memory, because nothing has been sent then. Once it has been sent, the others have
// begun as well, and are sent when there is memory.
int PendingBinding::send_proposals(PendingBinding* first, std::size_t* failed) noexcept {
    bool sent = false;
    *failed = 0;
    for (PendingBinding* one = first; one != nullptr; one = one->_following) {
        if (one->_step == Step::propose) {
            const int code = one->_sending.launch(
                {true, &one->_proposal, sizeof one->_proposal, one->_what.peer, chan::proposal_tag});
            if (code == MPI_ERR_NO_MEM && !sent) {
                return code;
            }
            sent = true;
        }
        *failed += !sent;
    }
    return MPI_SUCCESS;
}

void PendingBinding::begin() noexcept {
    _following = nullptr;
    _in.borrow();
    if (_operation != nullptr) {
        *_operation = nullptr;
    } else {
        *_out = MPI_REQUEST_NULL;
    }
    if (_receiving.is_under_way()) {
        _receiving.follow();
    }
    if (_sending.is_under_way()) {
        _sending.follow_unless_ended(); // the answer follows
    }
    if (_step == Step::end) {
        _next.post();
    }
}

void PendingBinding::undo() noexcept {
    if (_step == Step::search) {
        _owner.matching().remove(*_comm, *this);
    }
    for (PreparedMessage* message : {&_sending, &_receiving}) {
        if (message->is_under_way()) {
            message->abandon();
        }
    }
    if (_channel != nullptr) {
        end_channel();
    }
    _owner.remove(*this);
    _owner.give_back_number(_number);
    delete this;
}

} // namespace patchbay
