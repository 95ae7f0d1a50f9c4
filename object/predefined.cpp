// SPDX-License-Identifier: BSD-3-Clause
#include "object/handle.h"

namespace patchbay {

// The tables of handle types without constant objects: the world model sets the communicators. The null handles of the
// other types, and MPI_MESSAGE_NO_PROC, have no object.
template <>
Communicator* Predefined<Communicator>::table[HandleTraits<Communicator>::count] = {};
template <>
Request* Predefined<Request>::table[HandleTraits<Request>::count] = {};
template <>
Message* Predefined<Message>::table[HandleTraits<Message>::count] = {};
template <>
Session* Predefined<Session>::table[HandleTraits<Session>::count] = {};
template <>
Window* Predefined<Window>::table[HandleTraits<Window>::count] = {};

} // namespace patchbay
