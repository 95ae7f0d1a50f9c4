// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/osc/epochs.h"
#include "frameworks/osc/memory.h"
#include "frameworks/osc/osc.h"
#include "mpi/instance/instance.h"
#include "mpi/windows/window_collectives.h"
#include "mpi/windows/windows.h"
#include "object/error_cause.h"
#include "object/error_code.h"
#include "object/origins.h"

#include <utility>

namespace patchbay {

namespace {

// Another member may still be in an operation, in a lock for instance, and must find there why it cannot go on.
void keep_shared_memory(Window& window) noexcept {
    if (window.module != nullptr) {
        window.module->abandon();
    }
    if (window.memory != nullptr) {
        window.memory->keep_block();
    }
}

// Releases all that a window consists of, in this process. The object remains while requests refer to it.
void take_apart(Window& window) noexcept {
    if (window.module != nullptr) {
        window.instance->remove_window(window);
    }
    delete std::exchange(window.module, nullptr);
    delete std::exchange(window.epochs, nullptr);
    delete std::exchange(window.memory, nullptr);
    if (window.comm != nullptr) {
        window.comm->window = nullptr; // requests may keep the communicator
        Ref<Communicator>::adopt(std::exchange(window.comm, nullptr)).reset();
    }
}

int check_no_epoch(const Window& window) noexcept {
    const std::string_view open = window.epochs->open_epoch();
    if (open.empty()) {
        return MPI_SUCCESS;
    }
    return note_cause(MPI_ERR_RMA_SYNC, open);
}

void abandon(Window& window) noexcept {
    if (Origins* const origins = Origins::active()) {
        origins->lose(to_handle(&window), window.name);
    }
    window.attributes.erase_all(AttributeOwner::window, to_handle(&window));
    window.freed = true;
    keep_shared_memory(window);
    take_apart(window);
    Ref<Window>::adopt(&window).reset();
}

} // namespace

void Window::destroy(Window* window) noexcept {
    take_apart(*window);
    delete window;
}

int free_window(Window& window) noexcept {
    // No attribute is deleted before it is known that no member has an epoch open.
    bool attributes = !window.attributes.empty();
    int code = code_of_all(*window.comm, check_no_epoch(window), attributes);
    if (code == MPI_SUCCESS && attributes) { // in any member
        code = code_of_all(*window.comm, window.attributes.erase_all(AttributeOwner::window, to_handle(&window)));
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    // No member issues an operation any more.
    const int finished = window.module->finish();
    const int passed = barrier(*window.comm);
    if (passed != MPI_SUCCESS) {
        keep_shared_memory(window);
    }
    window.freed = true;
    take_apart(window);
    Ref<Window>::adopt(&window).reset();
    return first_error(finished, passed);
}

void abandon_windows(Instance& instance, const Session* session) noexcept {
    while (Window* window = instance.first_window(session)) {
        abandon(*window);
    }
}

void destroy_windows(Instance& instance) noexcept {
    while (Window* window = instance.any_window()) {
        abandon(*window);
    }
}

} // namespace patchbay
