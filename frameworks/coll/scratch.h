// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace patchbay::coll {

// Memory that one operation uses while it is under way. Empty when memory is exhausted.
class Scratch {
public:
    Scratch() = default;
    explicit Scratch(std::size_t bytes) noexcept
        : _memory(static_cast<std::byte*>(std::malloc(bytes == 0 ? 1 : bytes))) {}
    std::byte* data() const noexcept { return _memory.get(); }
    explicit operator bool() const noexcept { return _memory != nullptr; }

private:
    struct Free {
        void operator()(std::byte* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<std::byte[], Free> _memory;
};

} // namespace patchbay::coll
