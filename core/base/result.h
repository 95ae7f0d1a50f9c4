// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace [[gnu::visibility("default")]] patchbay {

// What went wrong, in terms a caller can act on; the text is for people.
enum class Errc {
    not_found,     // the named thing does not exist
    not_available, // exists, but cannot be used here; a caller with alternatives tries the next one
    invalid,       // the request itself is wrong (a value, a name, a version)
    out_of_memory, // memory or shared memory is exhausted
    system,        // a system call failed; the text holds the errno text
    timed_out,
    unsupported, // the peer or the launcher does not offer it
    peer_failed, // a process that takes part has failed
};

struct Error {
    Errc code;
    std::string text;
};

// A value or an Error. Used on cold paths only; hot paths return plain codes.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value)
        : _state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error)
        : _state(std::in_place_index<1>, std::move(error)) {}
    explicit operator bool() const noexcept { return _state.index() == 0; }
    T& value() noexcept { return *std::get_if<0>(&_state); }
    const T& value() const noexcept { return *std::get_if<0>(&_state); }
    T& operator*() noexcept { return value(); }
    T* operator->() noexcept { return &value(); }
    const Error& error() const noexcept { return *std::get_if<1>(&_state); }

private:
    std::variant<T, Error> _state;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error)
        : _error(std::move(error)) {}
    explicit operator bool() const noexcept { return !_error.has_value(); }
    const Error& error() const noexcept { return *_error; }

private:
    std::optional<Error> _error;
};

using Status = Result<void>;

} // namespace patchbay
