// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/broadcast.h"

#include "object/error_cause.h"
#include "object/handle.h"
#include "object/typed_copy.h"

namespace patchbay::coll::threads {

namespace {

const Datatype& byte_type() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}

} // namespace

int give(
    Place& place, int code, const void* buffer, MPI_Count count, const Datatype& type, Progress& progress) noexcept {
    Slot& own = place.begin(progress);
    const std::size_t bytes = code == MPI_SUCCESS ? std::size_t(count * type.size) : 0;
    own.code = code;
    own.by_address = bytes > Slot::room;
    own.in_block = own.by_address && bytes <= place.longest_copy();
    if (own.by_address && !own.in_block) {
        own.buffers = {buffer, nullptr, count, &type};
        place.show(true);
        place.meet(progress); // all have copied
        return MPI_SUCCESS;
    }
    std::byte* const copy = own.in_block ? place.block() : own.data;
    const int copied = bytes > 0 ? typed_copy(buffer, count, type, copy, MPI_Count(bytes), byte_type()) : MPI_SUCCESS;
    if (own.in_block) {
        own.buffers = {copy, nullptr, MPI_Count(bytes), &byte_type()};
    } else {
        own.bytes = std::uint8_t(bytes);
    }
    place.show(true);
    return copied;
}

int take(Place& place, int from, void* buffer, MPI_Count count, const Datatype& type, Progress& progress) noexcept {
    place.begin(progress);
    place.show(false);
    const Slot& slot = place.wait_for(from, progress);
    if (slot.code != MPI_SUCCESS) [[unlikely]] {
        return note_cause(slot.code, "the thread that exchanges messages for this process has failed");
    }
    if (!slot.by_address && slot.bytes == Slot::nothing) [[unlikely]] {
        return note_cause(MPI_ERR_OTHER, has_no_data);
    }
    if (!slot.by_address) {
        return typed_copy(slot.data, slot.bytes, byte_type(), buffer, count, type);
    }
    const Buffers source = slot.buffers;
    const bool in_block = slot.in_block;
    const int code = typed_copy(source.send, source.count, *source.type, buffer, count, type);
    if (!in_block) {
        place.arrive(progress);
    }
    return code;
}

} // namespace patchbay::coll::threads
