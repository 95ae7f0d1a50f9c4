// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace [[gnu::visibility("default")]] patchbay {

template <class T>
struct Link {
    T* previous = nullptr;
    T* next = nullptr;
};

// A doubly linked list through a member of its elements, which the list does not own. Zero-filled memory is an empty
// list.
template <class T, Link<T> T::*L>
class List {
public:
    T* first() const noexcept { return _first; }
    bool empty() const noexcept { return _first == nullptr; }
    static T* next(const T& element) noexcept { return (element.*L).next; }

    void push_back(T& element) noexcept { insert_before(nullptr, element); }
    // nullptr: at the end.
    void insert_before(T* following, T& element) noexcept {
        T*& after = following == nullptr ? _last : (following->*L).previous;
        element.*L = {after, following};
        (after == nullptr ? _first : (after->*L).next) = &element;
        after = &element;
    }
    void erase(T& element) noexcept {
        Link<T>& link = element.*L;
        (link.previous == nullptr ? _first : (link.previous->*L).next) = link.next;
        (link.next == nullptr ? _last : (link.next->*L).previous) = link.previous;
    }
    T* pop_front() noexcept {
        T* element = _first;
        erase(*element);
        return element;
    }

private:
    T* _first = nullptr;
    T* _last = nullptr;
};

} // namespace patchbay
