// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"

#include <string>

namespace patchbay {

// The hints of a communicator (MPI-5.0, 7.4.4): the keys of the info that its constructor or MPI_Comm_set_info got.
// Keys that this library does not support are ignored (MPI-5.0, 10). The keys `patchbay_<framework>` select components
// when a communicator is constructed.

// The value of a key; an empty string if there is none.
std::string hint(const Communicator& comm, std::string_view key);

// The same for a communicator under construction, without its lock.
std::string hint_of_new(const Communicator& comm, std::string_view key);

// MPI_Comm_set_info: replaces the values of the keys in `info`; other keys do not change.
void set_hints(Communicator& comm, const Info& info);
// MPI_Comm_get_info: returns a new object.
Ref<Info> get_hints(const Communicator& comm);

// The hints of a new communicator: those in `info`, which may be null. Hints are not inherited (since MPI-4.0), but the
// selection of components is, so that a program can select once for all communicators that are derived from one.
Ref<Info> hints_for_child(const Communicator& parent, const Info* info);

} // namespace patchbay
