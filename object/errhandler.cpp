// SPDX-License-Identifier: BSD-3-Clause
#include "object/errhandler.h"

namespace patchbay {

void Errhandler::destroy(Errhandler* errhandler) noexcept {
    if (!errhandler->is_predefined()) {
        delete errhandler;
    }
}

Errhandler* Errhandler::make_predefined(MPI_Errhandler handle, Behaviour behaviour) {
    auto* errhandler = new Errhandler(behaviour);
    errhandler->set_predefined(reinterpret_cast<std::uintptr_t>(handle));
    return errhandler;
}

template <>
Errhandler* Predefined<Errhandler>::table[HandleTraits<Errhandler>::count] = {
    nullptr,
    Errhandler::make_predefined(MPI_ERRORS_ARE_FATAL, Errhandler::Behaviour::fatal),
    Errhandler::make_predefined(MPI_ERRORS_ABORT, Errhandler::Behaviour::abort),
    Errhandler::make_predefined(MPI_ERRORS_RETURN, Errhandler::Behaviour::give_back),
};

} // namespace patchbay
