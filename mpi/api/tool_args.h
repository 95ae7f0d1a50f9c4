// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "include/mpi.h"
#include "mpi/tool/tool.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

// What the functions of MPI_T have in common. They return a code and call no error handler (MPI-5.0, 15.3.10). A
// pointer to a result may be null where a function has several results; then that one is not returned.
namespace patchbay::api {

template <class T, class V>
void put(T* result, const V& value) noexcept {
    if (result != nullptr) {
        *result = T(value);
    }
}

// A text as a result: `length` is the size of the buffer, and becomes the size that the whole text needs, with its end
// (MPI-5.0, 15.3.3).
inline void put_text(std::string_view text, char* buffer, int* length) noexcept {
    if (length == nullptr) {
        return;
    }
    if (buffer != nullptr && *length > 0) {
        const std::size_t copied = std::min(text.size(), std::size_t(*length) - 1);
        std::memcpy(buffer, text.data(), copied);
        buffer[copied] = '\0';
    }
    *length = int(text.size()) + 1;
}

// The index of a name as a result.
template <class List, class... More>
int put_index(const List& list, const char* name, int* index, const More&... more) noexcept {
    if (name == nullptr || index == nullptr) {
        return MPI_T_ERR_INVALID;
    }
    const auto found = list.find(std::string_view(name), more...);
    if (!found) {
        return MPI_T_ERR_INVALID_NAME;
    }
    *index = int(*found);
    return MPI_SUCCESS;
}

template <class List>
bool is_index(const List& list, int index) noexcept {
    return index >= 0 && std::size_t(index) < list.size();
}

// The number of elements of a list as a result.
template <class List>
int put_size(const List& list, int* number) noexcept {
    if (number == nullptr) {
        return MPI_T_ERR_INVALID;
    }
    *number = int(list.size());
    return MPI_SUCCESS;
}

inline tool::Tool& mpi_t() noexcept {
    return tool::tool();
}

} // namespace patchbay::api
