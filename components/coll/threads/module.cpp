// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/threads/module.h"

#include "object/error_cause.h"
#include "object/handle.h"
#include "object/typed_copy.h"

#include <algorithm>
#include <cstring>

namespace patchbay::coll::threads {

namespace {

constexpr std::size_t cache_line = 64;
// What is reduced at a time stays in the first-level cache until it is in the buffers of all.
constexpr std::size_t block_bytes = 4096;

const Datatype& byte_type() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}

// The loop of a reduction that this component does: of a predefined op on a type without gaps, which all members have
// in common. nullptr: the next component does it.
Op::Kernel kernel_of(const Op& op, const Datatype& type) noexcept {
    return type.dense ? op.kernel(type.basic) : nullptr;
}

const std::byte* at(const void* buffer, std::size_t offset) noexcept {
    return static_cast<const std::byte*>(buffer) + offset;
}
std::byte* at(void* buffer, std::size_t offset) noexcept {
    return static_cast<std::byte*>(buffer) + offset;
}

} // namespace

int ThreadModule::barrier(Communicator& comm) noexcept {
    _place.meet(*comm.progress);
    return MPI_SUCCESS;
}

// The root decides how the data is shown, so that a count that is too small elsewhere is an error and no wait for ever.
int ThreadModule::bcast(void* buffer, MPI_Count count, const Datatype& type, int root, Communicator& comm) noexcept {
    Progress& progress = *comm.progress;
    Slot& own = _place.begin(progress);
    if (_place.rank() != root) {
        _place.show(false);
        const Slot& from = _place.wait_for(root, progress);
        if (!from.by_address) {
            return typed_copy(from.data, from.bytes, byte_type(), buffer, count, type);
        }
        const Buffers source = from.buffers;
        const int code = typed_copy(source.send, source.count, *source.type, buffer, count, type);
        _place.begin(progress);
        _place.show(false);
        return code;
    }
    const std::size_t bytes = std::size_t(count * type.size);
    own.by_address = bytes > Slot::room;
    if (!own.by_address) {
        own.bytes = std::uint8_t(bytes);
        const int code = typed_copy(buffer, count, type, own.data, MPI_Count(bytes), byte_type());
        _place.show(true);
        return code;
    }
    own.buffers = {buffer, nullptr, count, &type};
    _place.show(true);
    _place.meet(progress); // all have copied
    return MPI_SUCCESS;
}

int ThreadModule::reduce(const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, int root,
    Communicator& comm) noexcept {
    const Op::Kernel kernel = kernel_of(op, type);
    if (kernel == nullptr) {
        return _below.find(Function::reduce, Form::blocking)->reduce(send, recv, count, type, op, root, comm);
    }
    Progress& progress = *comm.progress;
    const void* const source = send == MPI_IN_PLACE ? recv : send;
    const std::size_t bytes = std::size_t(count * type.size);
    if (bytes > Slot::room) {
        return reduce_by_address(source, recv, count, type, kernel, root, progress);
    }
    show_data(source, bytes, progress);
    if (_place.rank() != root) {
        return MPI_SUCCESS;
    }
    _place.wait_for_all(progress);
    return reduce_slots(recv, count, bytes, kernel);
}

int ThreadModule::allreduce(
    const void* send, void* recv, MPI_Count count, const Datatype& type, const Op& op, Communicator& comm) noexcept {
    const Op::Kernel kernel = kernel_of(op, type);
    if (kernel == nullptr) {
        return _below.find(Function::allreduce, Form::blocking)->allreduce(send, recv, count, type, op, comm);
    }
    Progress& progress = *comm.progress;
    const void* const source = send == MPI_IN_PLACE ? recv : send;
    const std::size_t bytes = std::size_t(count * type.size);
    if (bytes > Slot::room) {
        return reduce_by_address(source, recv, count, type, kernel, all, progress);
    }
    show_data(source, bytes, progress);
    _place.wait_for_all(progress);
    return reduce_slots(recv, count, bytes, kernel);
}

void ThreadModule::show_data(const void* source, std::size_t bytes, Progress& progress) noexcept {
    Slot& own = _place.begin(progress);
    own.by_address = false;
    own.bytes = std::uint8_t(bytes);
    if (bytes > 0) {
        std::memcpy(own.data, source, bytes);
    }
    _place.show(false);
}

// Whether all members show as many bytes as this one. Every member that waits for all sees the same slots, so that all
// of them go on, or none.
int ThreadModule::check_equal() const noexcept {
    const Slot& own = _place.of(_place.rank());
    for (int rank = 0; rank < _place.size(); ++rank) {
        const Slot& other = _place.of(rank);
        const bool equal = other.by_address == own.by_address &&
            (own.by_address
                    ? other.buffers.count * other.buffers.type->size == own.buffers.count * own.buffers.type->size
                    : other.bytes == own.bytes);
        if (!equal) [[unlikely]] {
            return note_cause(MPI_ERR_COUNT, "another member of the communicator gave another count");
        }
    }
    return MPI_SUCCESS;
}

// A kernel has its first operand on the left, so the last rank is the first to be taken. All members do the same, and
// have the same result to the last bit.
int ThreadModule::reduce_slots(void* recv, MPI_Count count, std::size_t bytes, Op::Kernel kernel) const noexcept {
    if (const int code = check_equal(); code != MPI_SUCCESS || bytes == 0) {
        return code;
    }
    alignas(16) std::byte result[Slot::room];
    std::memcpy(result, _place.of(_place.size() - 1).data, bytes);
    for (int rank = _place.size() - 2; rank >= 0; --rank) {
        kernel(_place.of(rank).data, result, count);
    }
    std::memcpy(recv, result, bytes);
    return MPI_SUCCESS;
}

int ThreadModule::reduce_by_address(const void* send, void* recv, MPI_Count count, const Datatype& type,
    Op::Kernel kernel, int root, Progress& progress) noexcept {
    Slot& own = _place.begin(progress);
    own.by_address = true;
    own.buffers = {send, recv, count, &type};
    _place.show(false);
    _place.wait_for_all(progress);
    if (const int code = check_equal(); code != MPI_SUCCESS) {
        return code;
    }
    reduce_part(count, std::size_t(type.size), kernel, root);
    _place.meet(progress); // nobody reads or writes the buffers any more
    return MPI_SUCCESS;
}

// This member's part of the vector, in cache lines of its own where the buffers are aligned.
void ThreadModule::reduce_part(MPI_Count count, std::size_t element, Op::Kernel kernel, int root) const noexcept {
    const MPI_Count unit = MPI_Count(std::max<std::size_t>(1, cache_line / element));
    const MPI_Count share = (count + _place.size() - 1) / _place.size();
    const MPI_Count part = (share + unit - 1) / unit * unit;
    const MPI_Count first = std::min(count, _place.rank() * part);
    const MPI_Count end = std::min(count, first + part);
    const MPI_Count block = MPI_Count(std::max<std::size_t>(1, block_bytes / element));
    for (MPI_Count next = first; next < end; next += block) {
        reduce_block(std::size_t(next) * element, std::min(block, end - next), element, kernel, root);
    }
}

void ThreadModule::reduce_block(
    std::size_t offset, MPI_Count count, std::size_t element, Op::Kernel kernel, int root) const noexcept {
    alignas(cache_line) std::byte block[block_bytes];
    const std::size_t bytes = std::size_t(count) * element;
    const int owner = root != all ? root : _place.rank();
    const Buffers& target = _place.of(owner).buffers;
    // A receive buffer that is an operand, too, is written at the end.
    const bool in_place = target.send == target.recv;
    std::byte* const result = in_place ? block : at(target.recv, offset);
    std::memcpy(result, at(_place.of(_place.size() - 1).buffers.send, offset), bytes);
    for (int rank = _place.size() - 2; rank >= 0; --rank) {
        kernel(at(_place.of(rank).buffers.send, offset), result, count);
    }
    for (int rank = 0; rank < _place.size(); ++rank) {
        std::byte* const copy = at(_place.of(rank).buffers.recv, offset);
        if ((root == all || rank == root) && copy != result) {
            std::memcpy(copy, result, bytes);
        }
    }
}

} // namespace patchbay::coll::threads
