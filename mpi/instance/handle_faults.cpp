// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/handle_faults.h"

#include "core/base/faults.h"

#include <cstdint>
#include <ucontext.h>

namespace patchbay {

// One instruction that may fault, and the one that is to run then; each relative to its own place.
struct HandleProbe {
    std::int32_t reads;
    std::int32_t other;

    static std::uintptr_t address(const std::int32_t& entry) noexcept {
        return reinterpret_cast<std::uintptr_t>(&entry) + static_cast<std::uintptr_t>(std::intptr_t(entry));
    }
};

} // namespace patchbay

// The linker defines them where there are entries: those of this shared object, which has all bindings. No plugin has
// any, because object/probed_handle.h is none of its headers.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const patchbay::HandleProbe __start_patchbay_probes[];
[[gnu::weak, gnu::visibility("hidden")]] extern const patchbay::HandleProbe __stop_patchbay_probes[];
}

namespace patchbay {

namespace {

#if defined(__x86_64__)
// Continues as if another kind had been read, if the instruction is one of the list.
bool skip_probe(siginfo_t*, void* context) noexcept {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto at = static_cast<std::uintptr_t>(registers[REG_RIP]);
    for (const HandleProbe* probe = &__start_patchbay_probes[0]; probe != &__stop_patchbay_probes[0]; ++probe) {
        if (HandleProbe::address(probe->reads) == at) {
            registers[REG_RIP] = static_cast<greg_t>(HandleProbe::address(probe->other));
            return true;
        }
    }
    return false;
}
#else
bool skip_probe(siginfo_t*, void*) noexcept {
    return false;
}
#endif

} // namespace

Status survive_handle_faults() noexcept {
    return &__start_patchbay_probes[0] != &__stop_patchbay_probes[0] ? handle_faults(skip_probe) : Status();
}

void stop_surviving_handle_faults() noexcept {
    stop_handling_faults(skip_probe);
}

} // namespace patchbay
