// SPDX-License-Identifier: BSD-3-Clause
#include "core/call_site.h"

#include <array>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#if __has_include(<backtrace.h>)
#include <backtrace.h>
#else // clang does not search the folder of g++ that has the header
extern "C" {
struct backtrace_state;
using backtrace_error_callback = void (*)(void*, const char*, int);
using backtrace_full_callback = int (*)(void*, std::uintptr_t, const char*, int, const char*);
using backtrace_syminfo_callback = void (*)(void*, std::uintptr_t, const char*, std::uintptr_t, std::uintptr_t);
backtrace_state* backtrace_create_state(const char*, int, backtrace_error_callback, void*);
int backtrace_pcinfo(backtrace_state*, std::uintptr_t, backtrace_full_callback, backtrace_error_callback, void*);
int backtrace_syminfo(backtrace_state*, std::uintptr_t, backtrace_syminfo_callback, backtrace_error_callback, void*);
}
#endif

namespace patchbay {

namespace {

std::string_view last_part(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);
}

// The shared object or program that has an address. `base` is null where there is none.
struct Image {
    const void* base = nullptr;
    const char* file = "";
};

Image image_of(const void* address) noexcept {
#ifdef DLFO_STRUCT_HAS_EH_DBASE // glibc 2.35; dladdr() looks at every symbol of the image, for 50 us and more
    dl_find_object object{};
    if (_dl_find_object(const_cast<void*>(address), &object) == 0) {
        return {object.dlfo_map_start, object.dlfo_link_map->l_name};
    }
#else
    Dl_info object{};
    if (dladdr(address, &object) != 0) {
        return {object.dli_fbase, object.dli_fname};
    }
#endif
    return {};
}

// Whether an address is in this library or in a component.
bool is_own(const void* address) noexcept {
    static const void* const own = image_of(reinterpret_cast<const void*>(&CallSite::here)).base;
    const Image image = image_of(address);
    return image.base != nullptr && (image.base == own || last_part(image.file).starts_with("mca_"));
}

void ignore_error(void*, const char*, int) {}

// Reads the debug information of the program and its libraries once. It is never freed: the library that reads it has
// no function for that.
backtrace_state* debug_information() noexcept {
    static backtrace_state* const state = backtrace_create_state(nullptr, 1, &ignore_error, nullptr);
    return state;
}

struct Place {
    std::string file;
    std::string function;
    int line = 0;
    std::uintptr_t offset = 0; // in the function
};

// Called for the function at the address first, and then for those that it was inlined into.
int take_line(void* data, std::uintptr_t, const char* file, int line, const char* function) {
    auto& place = *static_cast<Place*>(data);
    if (file != nullptr && line > 0) {
        place.file = last_part(file);
        place.line = line;
        place.function = function != nullptr ? function : "";
    }
    return 1;
}

void take_symbol(void* data, std::uintptr_t address, const char* symbol, std::uintptr_t value, std::uintptr_t) {
    auto& place = *static_cast<Place*>(data);
    if (symbol != nullptr) {
        place.function = symbol;
        place.offset = address - value;
    }
}

// Called for each frame, the innermost first.
_Unwind_Reason_Code stop_outside(_Unwind_Context* frame, void* found) {
    // A return address may belong to the next function already.
    const std::uintptr_t address = _Unwind_GetIP(frame) - 1;
    if (is_own(reinterpret_cast<const void*>(address))) {
        return _URC_NO_REASON;
    }
    *static_cast<std::uintptr_t*>(found) = address;
    return _URC_END_OF_STACK;
}

std::string hexadecimal(std::uintptr_t value) {
    std::array<char, 2 * sizeof value + 3> text;
    std::snprintf(text.data(), text.size(), "0x%zx", static_cast<std::size_t>(value));
    return text.data();
}

} // namespace

// Not backtrace(3), which the address sanitizer replaces by a function of the program.
[[gnu::noinline]] CallSite CallSite::here() noexcept {
    std::uintptr_t found = 0;
    _Unwind_Backtrace(&stop_outside, &found);
    return CallSite(found);
}

std::string CallSite::text() const {
    if (_address == 0) {
        return "an unknown place";
    }
    Place place;
    if (backtrace_state* state = debug_information()) {
        backtrace_pcinfo(state, _address, &take_line, &ignore_error, &place);
        if (place.line > 0) {
            return place.file + ":" + std::to_string(place.line) +
                (place.function.empty() ? std::string() : " in " + place.function);
        }
        backtrace_syminfo(state, _address, &take_symbol, &ignore_error, &place);
    }
    Dl_info object{};
    const bool found = dladdr(reinterpret_cast<const void*>(_address), &object) != 0;
    const std::string file = found ? std::string(last_part(object.dli_fname)) : "unknown code";
    if (!place.function.empty()) {
        return place.function + "+" + hexadecimal(place.offset) + " in " + file;
    }
    return file + "+" + hexadecimal(_address - (found ? reinterpret_cast<std::uintptr_t>(object.dli_fbase) : 0));
}

} // namespace patchbay
