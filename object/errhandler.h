// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/handle.h"

#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// An error handler: predefined behaviour or a user's function (MPI-5.0, 9.3).
class Errhandler final : public Object {
public:
    enum class Behaviour : std::uint8_t { fatal, abort, give_back, user };
    enum class Owner : std::uint8_t { any, communicator, window, file, session };

    explicit Errhandler(Behaviour behaviour)
        : Object(ObjectKind::errhandler),
          behaviour(behaviour) {}
    Errhandler(Owner owner, void* function)
        : Object(ObjectKind::errhandler),
          behaviour(Behaviour::user),
          owner(owner),
          function(function) {}
    static void destroy(Errhandler*) noexcept;

    // The object behind MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT or MPI_ERRORS_RETURN.
    static Ref<Errhandler> predefined(MPI_Errhandler handle) noexcept {
        return Ref<Errhandler>::share(to_object<Errhandler>(handle));
    }

    // Whether the error handler may be attached to objects of that kind.
    bool serves(Owner kind) const noexcept { return owner == Owner::any || owner == kind; }

    const Behaviour behaviour;
    const Owner owner = Owner::any;
    void* const function = nullptr; // its type follows from the owner: MPI_Comm_errhandler_function* and so on

private:
    friend struct Predefined<Errhandler>;
    static Errhandler* make_predefined(MPI_Errhandler handle, Behaviour behaviour);
};

// Error codes and classes (MPI-5.0, 9.4, 9.5), predefined ones and those that the program adds. These are thread-safe,
// may be called before initialization, and return an MPI code.
int error_class_of(int code, int* error_class);
int error_string_of(int code, std::string* text);
int add_error_class(int* error_class);
int add_error_code(int error_class, int* code);
int add_error_string(int code, std::string_view text);
int remove_error_class(int error_class);
int remove_error_code(int code);
int remove_error_string(int code);
int last_used_error_code();

} // namespace patchbay
