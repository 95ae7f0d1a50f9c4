// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/lock.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// In place of a lock, for a pool that is only used with a lock of its owner held.
struct NoLock {
    explicit NoLock(bool threaded) noexcept { static_cast<void>(threaded); }
    void lock() noexcept {}
    void unlock() noexcept {}
};

// Objects of one type, allocated and freed in O(1) from chunks; the last one freed is the next one given, while it is
// still in the cache. No lock below MPI_THREAD_MULTIPLE. All memory goes back when the pool is destroyed; objects that
// exist then are not destructed, so the owner frees them first (live() == 0).
template <class T, class Lock = ProgressLock>
class Pool {
public:
    // chunk_objects: how many objects one allocation holds.
    explicit Pool(bool threaded = false, std::size_t chunk_objects = 64) noexcept
        : _chunk_objects(chunk_objects == 0 ? 1 : chunk_objects),
          _lock(threaded) {}
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    // A new T(args...), or nullptr when memory is exhausted.
    template <class... Args>
    T* alloc(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
        static_assert(std::is_nothrow_constructible_v<T, Args...>);
        void* place = take();
        return place == nullptr ? nullptr : ::new (place) T(std::forward<Args>(args)...);
    }

    // Destructs `object`, which came from alloc() of this pool; nullptr is allowed.
    void free(T* object) noexcept {
        if (object == nullptr) {
            return;
        }
        object->~T();
        Cell* cell = ::new (static_cast<void*>(object)) Cell;
        std::lock_guard hold(_lock);
        cell->next = _free;
        _free = cell;
        --_live;
    }

    std::size_t live() const noexcept { return _live; }

private:
    union Cell {
        Cell() noexcept
            : next(nullptr) {}
        Cell* next;
        alignas(T) std::byte storage[sizeof(T)];
    };

    void* take() noexcept {
        std::lock_guard hold(_lock);
        if (_free == nullptr && !grow()) [[unlikely]] {
            return nullptr;
        }
        Cell* cell = _free;
        _free = cell->next;
        ++_live;
        return cell;
    }

    bool grow() noexcept {
        try {
            _chunks.push_back(std::unique_ptr<Cell[]>(new Cell[_chunk_objects]));
        } catch (const std::bad_alloc&) {
            return false;
        }
        Cell* chunk = _chunks.back().get();
        for (std::size_t i = _chunk_objects; i-- > 0;) {
            chunk[i].next = _free;
            _free = &chunk[i];
        }
        return true;
    }

    Cell* _free = nullptr;
    std::size_t _live = 0;
    std::size_t _chunk_objects;
    [[no_unique_address]] Lock _lock;
    std::vector<std::unique_ptr<Cell[]>> _chunks;
};

} // namespace patchbay
