// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/tool/spec.h"

#include <cstddef>
#include <iterator>

// The performance variables and the event of this component.
namespace patchbay::pml::ob1 {

// The rows of the table.
enum Row : std::size_t {
    messages_sent,
    bytes_sent,
    messages_received,
    bytes_received,
    eager_sent,
    rendezvous_sent,
    unexpected_received,
    unexpected_bytes,
    unexpected_bytes_highest,
    unexpected_length,
    posted_length,
};

inline constexpr VariableSpec tool_variables[] = {
    {"messages_sent", VariableClass::counter, "messages sent, those of collectives and of the library included",
        Counting::on_request},
    {"bytes_sent", VariableClass::aggregate, "bytes of user data in the messages sent", Counting::on_request},
    {"messages_received", VariableClass::counter, "messages that have arrived, matched or not", Counting::on_request},
    {"bytes_received", VariableClass::aggregate,
        "bytes of user data in the messages that have arrived; a message above the eager limit counts as a whole when "
        "it is announced",
        Counting::on_request},
    {"eager_sent", VariableClass::counter, "messages sent whole, without waiting for the receiver",
        Counting::on_request},
    {"rendezvous_sent", VariableClass::counter,
        "messages announced to the receiver, because they are above the eager limit or because of flow control"},
    {"unexpected_received", VariableClass::counter, "messages that arrived before their receive was posted"},
    {"unexpected_bytes", VariableClass::level, "bytes of memory that unexpected messages take"},
    {"unexpected_bytes_highest", VariableClass::high_watermark,
        "highest number of bytes of memory that unexpected messages took"},
    {"unexpected_length", VariableClass::level, "unexpected messages that wait for a receive on the communicator",
        Counting::always, Binding::communicator},
    {"posted_length", VariableClass::level, "receives that wait for a message on the communicator", Counting::always,
        Binding::communicator},
};

inline constexpr EventElement unexpected_elements[] = {
    {"source", EventElement::Type::integer},
    {"tag", EventElement::Type::integer},
    {"bytes", EventElement::Type::count},
};

inline constexpr EventSpec tool_events[] = {
    {"unexpected_message",
        "a message has arrived before its receive was posted: source, tag (below 0: of the library), bytes",
        unexpected_elements, std::size(unexpected_elements), Binding::communicator},
};

} // namespace patchbay::pml::ob1
