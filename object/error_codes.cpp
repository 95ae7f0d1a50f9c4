// SPDX-License-Identifier: BSD-3-Clause
#include "object/errhandler.h"
#include "object/error_texts.h"

#include <map>
#include <mutex>
#include <optional>

namespace patchbay {

namespace {

// The codes and classes that the program adds. Their numbers are greater than MPI_ERR_LASTCODE. A number is used once
// only, so that a removed code does not get another meaning.
class UserErrors {
public:
    int add(int error_class) {
        std::lock_guard lock(_mutex);
        const int code = ++_last;
        // A class is also an error code, whose class is that class.
        _codes.emplace(code, Code{error_class == own_class ? code : error_class, {}});
        return code;
    }
    int class_of(int code) const {
        std::lock_guard lock(_mutex);
        const auto found = _codes.find(code);
        return found == _codes.end() ? MPI_UNDEFINED : found->second.error_class;
    }
    bool text_of(int code, std::string* text) const {
        std::lock_guard lock(_mutex);
        const auto found = _codes.find(code);
        if (found == _codes.end()) {
            return false;
        }
        *text = found->second.text.value_or("");
        return true;
    }
    bool set_text(int code, std::string_view text) {
        std::lock_guard lock(_mutex);
        const auto found = _codes.find(code);
        if (found == _codes.end()) {
            return false;
        }
        found->second.text = std::string(text);
        return true;
    }
    bool remove_text(int code) {
        std::lock_guard lock(_mutex);
        const auto found = _codes.find(code);
        if (found == _codes.end() || !found->second.text) {
            return false;
        }
        found->second.text.reset();
        return true;
    }
    // A code that still has a text cannot be removed (MPI-5.0, 9.5). A class is removed by remove_class().
    bool remove_code(int code) {
        std::lock_guard lock(_mutex);
        const auto found = _codes.find(code);
        if (found == _codes.end() || found->second.error_class == code || found->second.text) {
            return false;
        }
        _codes.erase(found);
        return true;
    }
    // A class that still has codes cannot be removed (MPI-5.0, 9.5). Its own text is removed with it.
    bool remove_class(int error_class) {
        std::lock_guard lock(_mutex);
        const auto found = _codes.find(error_class);
        if (found == _codes.end() || found->second.error_class != error_class) {
            return false;
        }
        for (const auto& [code, entry] : _codes) {
            if (code != error_class && entry.error_class == error_class) {
                return false;
            }
        }
        _codes.erase(found);
        return true;
    }
    int last() const {
        std::lock_guard lock(_mutex);
        return _last;
    }

    static constexpr int own_class = -1;

private:
    struct Code {
        int error_class;
        std::optional<std::string> text;
    };
    mutable std::mutex _mutex;
    std::map<int, Code> _codes;
    int _last = MPI_ERR_LASTCODE;
};

// Error codes are integers that belong to no object, and are valid before initialization and after finalization. So
// their table is global.
UserErrors& user_errors() {
    static auto* errors = new UserErrors;
    return *errors;
}

} // namespace

int error_class_of(int code, int* error_class) {
    if (!predefined_error_text(code).empty()) {
        *error_class = code;
        return MPI_SUCCESS;
    }
    const int found = user_errors().class_of(code);
    if (found == MPI_UNDEFINED) {
        return MPI_ERR_ARG;
    }
    *error_class = found;
    return MPI_SUCCESS;
}

int error_string_of(int code, std::string* text) {
    if (const auto predefined = predefined_error_text(code); !predefined.empty()) {
        *text = predefined;
        return MPI_SUCCESS;
    }
    return user_errors().text_of(code, text) ? MPI_SUCCESS : MPI_ERR_ARG;
}

int add_error_class(int* error_class) {
    *error_class = user_errors().add(UserErrors::own_class);
    return MPI_SUCCESS;
}

int add_error_code(int error_class, int* code) {
    int found = MPI_SUCCESS;
    if (error_class_of(error_class, &found) != MPI_SUCCESS || found != error_class) {
        return MPI_ERR_ARG;
    }
    *code = user_errors().add(error_class);
    return MPI_SUCCESS;
}

int add_error_string(int code, std::string_view text) {
    return user_errors().set_text(code, text) ? MPI_SUCCESS : MPI_ERR_ARG;
}

int remove_error_class(int error_class) {
    return user_errors().remove_class(error_class) ? MPI_SUCCESS : MPI_ERR_ARG;
}

int remove_error_code(int code) {
    return user_errors().remove_code(code) ? MPI_SUCCESS : MPI_ERR_ARG;
}

int remove_error_string(int code) {
    return user_errors().remove_text(code) ? MPI_SUCCESS : MPI_ERR_ARG;
}

int last_used_error_code() {
    return user_errors().last();
}

} // namespace patchbay
