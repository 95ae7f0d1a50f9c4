// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/sm/collectives.h"

#include "components/coll/sm/errors.h"
#include "components/common/short_copy.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/handle.h"
#include "object/typed_copy.h"

namespace patchbay::coll::sm {

namespace {

const Datatype& byte_type() noexcept {
    return *to_object<Datatype>(MPI_BYTE);
}

int copy_out(const std::byte* from, std::size_t bytes, void* data, MPI_Count count, const Datatype& type) noexcept {
    if (type.dense && bytes == std::size_t(count * type.size)) [[likely]] {
        common::copy_any(static_cast<std::byte*>(data) + type.true_lower_bound, from, bytes);
        return MPI_SUCCESS;
    }
    return typed_copy(from, MPI_Count(bytes), byte_type(), data, count, type);
}

// Part `part` of `parts` equal ones that a member has contributed, to elements of the program.
int take_part(
    const Place& place, int rank, int part, int parts, void* data, MPI_Count count, const Datatype& type) noexcept {
    const Slot& shown = place.of(rank);
    if (shown.code != MPI_SUCCESS) [[unlikely]] {
        return failed_elsewhere(shown.code);
    }
    const std::size_t bytes = shown.bytes / std::size_t(parts);
    return copy_out(place.contents(rank) + std::size_t(part) * bytes, bytes, data, count, type);
}

} // namespace

Elements Barrier::own(const Place&) const noexcept {
    return {nullptr, 0, &byte_type()};
}

int Bcast::take(Place& place) const noexcept {
    return place.rank() == root ? MPI_SUCCESS : take_part(place, root, 0, 1, buffer, count, *type);
}

// A kernel has its first operand on the left, so the last rank is the first to be taken.
int Reduction::reduce_all(const Place& place, std::byte* to) const noexcept {
    const std::size_t bytes = std::size_t(count * type->size);
    for (int rank = 0; rank < place.size(); ++rank) {
        const Slot& shown = place.of(rank);
        if (shown.code != MPI_SUCCESS) [[unlikely]] {
            return failed_elsewhere(shown.code);
        }
        if (shown.bytes != bytes) [[unlikely]] {
            return other_count();
        }
    }
    if (bytes == 0) {
        return MPI_SUCCESS;
    }
    common::copy_any(to, place.contents(place.size() - 1), bytes);
    for (int rank = place.size() - 2; rank >= 0; --rank) {
        kernel(place.contents(rank), to, count);
    }
    return MPI_SUCCESS;
}

int Reduce::take(Place& place) const noexcept {
    return place.rank() == root ? reduce_all(place, static_cast<std::byte*>(recv)) : MPI_SUCCESS;
}

int Allreduce::make_result(Place& place) const noexcept {
    return reduce_all(place, place.result_room(std::size_t(count * type->size)));
}

int Allreduce::take(Place& place) const noexcept {
    if (waits(place) == Waits::for_each_other) {
        return reduce_all(place, static_cast<std::byte*>(recv));
    }
    const std::size_t bytes = std::size_t(count * type->size);
    const Slot& made = place.result();
    if (made.code != MPI_SUCCESS) [[unlikely]] {
        return failed_elsewhere(made.code);
    }
    if (made.bytes != bytes) [[unlikely]] {
        return other_count();
    }
    if (bytes > 0) {
        common::copy_any(recv, place.result_room(bytes), bytes);
    }
    return MPI_SUCCESS;
}

void* Blocks::block(int rank) const noexcept {
    return element(recv, rank * recv_count, *recv_type);
}

int Gather::take(Place& place) const noexcept {
    int code = MPI_SUCCESS;
    for (int rank = 0; place.rank() == root && rank < place.size(); ++rank) {
        if (rank != root) {
            code = first_error(code, take_part(place, rank, 0, 1, block(rank), recv_count, *recv_type));
        } else if (!in_place()) {
            code = first_error(code, typed_copy(send, send_count, *send_type, block(rank), recv_count, *recv_type));
        }
    }
    return code;
}

int Scatter::take(Place& place) const noexcept {
    if (place.rank() != root) {
        return take_part(place, root, place.rank(), place.size(), recv, recv_count, *recv_type);
    }
    return recv == MPI_IN_PLACE ? MPI_SUCCESS
                                : typed_copy(element(send, root * send_count, *send_type), send_count, *send_type, recv,
                                      recv_count, *recv_type);
}

Elements Allgather::own(const Place& place) const noexcept {
    return in_place() ? Elements{block(place.rank()), recv_count, recv_type} : Elements{send, send_count, send_type};
}

int Allgather::take(Place& place) const noexcept {
    int code = MPI_SUCCESS;
    for (int rank = 0; rank < place.size(); ++rank) {
        if (rank != place.rank() || !in_place()) {
            code = first_error(code, take_part(place, rank, 0, 1, block(rank), recv_count, *recv_type));
        }
    }
    return code;
}

Elements Alltoall::own(const Place& place) const noexcept {
    return {send, send_count * place.size(), send_type};
}

int Alltoall::take(Place& place) const noexcept {
    int code = MPI_SUCCESS;
    for (int rank = 0; rank < place.size(); ++rank) {
        code =
            first_error(code, take_part(place, rank, place.rank(), place.size(), block(rank), recv_count, *recv_type));
    }
    return code;
}

} // namespace patchbay::coll::sm
