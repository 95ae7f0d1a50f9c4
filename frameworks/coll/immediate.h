// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/batch.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "frameworks/coll/typed_buffer.h"
#include "object/typed_copy.h"

#include <array>
#include <new>

namespace patchbay::coll {

// The interface of a schedule whose steps run as soon as they are added: an algorithm that is a template over the class
// of its steps is a plan with Schedule, and a blocking function with Immediate.
//
// The steps run in the order of the text, each to its end, and round() has nothing to do. So the steps of one round
// must stand in an order in which they may also run one after the other: a send and a receive that wait for each other
// are an exchange(), and many messages at the same time are a Batch.
class Immediate {
public:
    Immediate(Communicator& comm, Function function) noexcept
        : _comm(comm),
          _transfer(comm, tag_of(function)) {}
    ~Immediate() {
        while (_scratch_count > 0) {
            _scratch[--_scratch_count].buffer.~TypedBuffer();
        }
    }
    Immediate(const Immediate&) = delete;
    Immediate& operator=(const Immediate&) = delete;

    Communicator& comm() const noexcept { return _comm; }
    void send(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept {
        _transfer.send(buffer, count, type, dest);
    }
    void recv(void* buffer, MPI_Count count, const Datatype& type, int source) noexcept {
        _transfer.recv(buffer, count, type, source);
    }
    void exchange(const void* send_buffer, MPI_Count send_count, const Datatype& send_type, int dest, void* recv_buffer,
        MPI_Count recv_count, const Datatype& recv_type, int source) noexcept {
        _transfer.exchange(send_buffer, send_count, send_type, dest, recv_buffer, recv_count, recv_type, source);
    }
    void copy(const void* source, MPI_Count source_count, const Datatype& source_type, void* target,
        MPI_Count target_count, const Datatype& target_type) noexcept {
        if (!_transfer.failed()) {
            _transfer.fail(typed_copy(source, source_count, source_type, target, target_count, target_type));
        }
    }
    void reduce(const void* in, void* inout, MPI_Count count, const Datatype& type, const Op& op) noexcept {
        if (!_transfer.failed() && count > 0) {
            _transfer.fail(op.apply(in, inout, count, type));
        }
    }
    void round() noexcept {}
    // At most four times. When memory is exhausted, as Schedule::scratch().
    void* scratch(MPI_Count count, const Datatype& type) noexcept {
        TypedBuffer& buffer = *::new (static_cast<void*>(&_scratch[_scratch_count++].buffer))
                                  TypedBuffer(_comm.coll->scratch_pool(), count, type);
        if (!buffer.valid()) {
            _transfer.fail(MPI_ERR_NO_MEM);
            return &_scratch;
        }
        return buffer.data();
    }
    void fail(int code) noexcept { _transfer.fail(code); }
    // The first error; the result of the function.
    int code() const noexcept { return _transfer.code(); }

    // Messages of which at most 64 are under way.
    class Batch : public coll::Batch {
    public:
        explicit Batch(Immediate& steps) noexcept
            : coll::Batch(steps._transfer) {}
    };

private:
    Communicator& _comm;
    Transfer _transfer;
    // An array of std::optional would be set to zero, which takes longer than a barrier without a message.
    union Room {
        Room() noexcept {}
        ~Room() {}
        TypedBuffer buffer;
    };
    std::array<Room, 4> _scratch;
    std::size_t _scratch_count = 0;
};

} // namespace patchbay::coll
