// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <string>

namespace patchbay {

// Hints of a communicator (MPI-5.0, 7.4.4): what its constructor or MPI_Comm_set_info was given. Keys that
// this library does not know are ignored (MPI-5.0, 10); `patchbay_<framework>` choose components when the communicator
// is made.

// The value, or an empty string.
std::string hint(const Communicator& comm, std::string_view key);

// The same of a communicator that nobody else knows yet.
std::string hint_of_new(const Communicator& comm, std::string_view key);

// MPI_Comm_set_info: keys replace their earlier values, others stay.
void set_hints(Communicator& comm, const Info& info);
// MPI_Comm_get_info: a new object.
Ref<Info> get_hints(const Communicator& comm);

// A new communicator's hints: `info` when its constructor was given one. Hints are not inherited (since MPI-4.0), but
// the choice of components is, so that a program chooses once for a whole tree of communicators.
Ref<Info> hints_for_child(const Communicator& parent, const Info* info);

} // namespace patchbay
