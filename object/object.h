// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace [[gnu::visibility("default")]] patchbay {

// Stored at the start of every object behind an MPI handle, and cleared by its destructor, so that argument checking
// detects a wrong or stale handle.
enum class ObjectKind : std::uint32_t {
    dead = 0,
    communicator = 0x6d6d6f63, // ASCII, for a memory dump
    group = 0x70756f72,
    datatype = 0x65707974,
    op = 0x706f5f5f,
    request = 0x73716572,
    bundled_request = 0x6c646e62, // a request that is a member of a bundle (object/bundle.h)
    message = 0x7367736d,
    info = 0x6f666e69,
    errhandler = 0x68727265,
    session = 0x73736573,
    window = 0x6e69775f,
    file = 0x656c6966,
};

// The base class of the objects behind MPI handles: a kind, a reference count, and the value of a predefined handle.
// All other handles are the address of the object. Handles below `first_dynamic_handle` are predefined (MPI-5.0
// ABI, 20.3).
inline constexpr std::uintptr_t first_dynamic_handle = 4096;

class Object {
public:
    explicit Object(ObjectKind kind) noexcept
        : _kind(kind) {}
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    ObjectKind kind() const noexcept { return _kind; }
    void retain() noexcept { _references.fetch_add(1, std::memory_order_relaxed); }
    // The same where another thread may be releasing the last reference. false: it has, and nothing was taken.
    bool retain_unless_destroyed() noexcept {
        std::int32_t before = _references.load(std::memory_order_relaxed);
        while (before > 0 && !_references.compare_exchange_weak(before, before + 1, std::memory_order_relaxed)) {
        }
        return before > 0;
    }
    // true: this was the last reference, and the caller must destroy the object.
    bool release() noexcept { return _references.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    // The same for an object that every thread uses under the thread level: `threaded` as in Request. Without several
    // threads no locked instruction is needed.
    void retain(bool threaded) noexcept {
        if (threaded) {
            retain();
        } else {
            _references.store(references() + 1, std::memory_order_relaxed);
        }
    }
    bool release(bool threaded) noexcept {
        if (threaded) {
            return release();
        }
        _references.store(references() - 1, std::memory_order_relaxed);
        return references() == 0;
    }
    std::int32_t references() const noexcept { return _references.load(std::memory_order_relaxed); }

    bool is_predefined() const noexcept { return _predefined != 0; }
    void set_predefined(std::uintptr_t handle) noexcept { _predefined = handle; }
    // The value of the predefined handle; 0: the handle is the address of the most derived object (see to_handle()).
    std::uintptr_t predefined_handle() const noexcept { return _predefined; }

protected:
    // The compiler drops an ordinary store to an object whose life ends.
    ~Object() { *const_cast<volatile ObjectKind*>(&_kind) = ObjectKind::dead; }
    // For memory that is used again without a destructor: `dead` while the object has no handle.
    void set_kind(ObjectKind kind) noexcept { _kind = kind; }

private:
    ObjectKind _kind;
    std::atomic<std::int32_t> _references{1};
    std::uintptr_t _predefined = 0;
};

// A reference-counted pointer to an Object. T has a function `static void destroy(T*) noexcept`, which is called when
// the last reference is released.
template <class T>
class Ref {
public:
    Ref() = default;
    // Takes ownership of the reference that the caller holds.
    static Ref adopt(T* object) noexcept {
        Ref r;
        r._object = object;
        return r;
    }
    static Ref share(T* object) noexcept {
        if (object != nullptr) {
            object->retain();
        }
        return adopt(object);
    }
    Ref(const Ref& other) noexcept
        : Ref(share(other._object)) {}
    Ref(Ref&& other) noexcept
        : _object(std::exchange(other._object, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(_object, other._object);
        return *this;
    }
    ~Ref() { reset(); }
    void reset() noexcept {
        T* object = std::exchange(_object, nullptr);
        if (object != nullptr && object->release()) {
            T::destroy(object);
        }
    }
    // Passes ownership of the reference to the caller, usually to an MPI handle.
    T* detach() noexcept { return std::exchange(_object, nullptr); }
    T* get() const noexcept { return _object; }
    T& operator*() const noexcept { return *_object; }
    T* operator->() const noexcept { return _object; }
    explicit operator bool() const noexcept { return _object != nullptr; }

private:
    T* _object = nullptr;
};

} // namespace patchbay
