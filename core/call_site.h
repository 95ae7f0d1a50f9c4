// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

// A place in the program from which it has called the library. For the messages of the checking mode: finding one walks
// the stack, and its text reads the debug information of the program.
class CallSite {
public:
    // Unknown.
    CallSite() = default;
    // Where the program made the call of MPI that is under way on this thread: the innermost caller that is neither in
    // this library nor in a component. Unknown if there is none.
    static CallSite here() noexcept;
    // The instruction at an address, for one that did not call the library.
    static CallSite at(std::uintptr_t address) noexcept { return CallSite(address); }

    // "solver.c:42 in exchange"; without debug information "exchange+0x1f in solver", or "solver+0x1234".
    std::string text() const;

    bool operator==(const CallSite&) const = default;

private:
    explicit CallSite(std::uintptr_t address) noexcept
        : _address(address) {}

    std::uintptr_t _address = 0; // an address inside the instruction
};

} // namespace patchbay
