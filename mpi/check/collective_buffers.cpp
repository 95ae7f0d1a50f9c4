// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/collective_buffers.h"

#include "frameworks/coll/neighborhood.h"
#include "object/communicator.h"

namespace patchbay::check {

namespace {

using coll::Call;
using coll::Function;

class Collector {
public:
    Collector(const Call& call, const char* function, Communicator& comm)
        : _call(call),
          _function(function),
          _comm(comm),
          _peers(comm.is_inter ? comm.remote_size : comm.size),
          _is_root(call.root == (comm.is_inter ? MPI_ROOT : comm.rank)),
          _has_root(!comm.is_inter || call.root >= 0) {}

    std::vector<MessageCall> run() {
        switch (_call.function) {
        case Function::barrier:
            break;
        case Function::bcast:
            if (_is_root || _has_root) {
                add(_call.recv, _call.recv_count, _call.recv_type, _is_root);
            }
            break;
        case Function::gather:
        case Function::gatherv:
            if (_has_root) {
                send(1);
            }
            if (_is_root) {
                _call.function == Function::gather ? receive(_peers) : receive_blocks();
            }
            break;
        case Function::scatter:
        case Function::scatterv:
            if (_is_root) {
                _call.function == Function::scatter ? send(_peers) : send_blocks();
            }
            if (_has_root) {
                receive(1);
            }
            break;
        case Function::allgather:
            send(1);
            receive(_peers);
            break;
        case Function::allgatherv:
            send(1);
            receive_blocks();
            break;
        case Function::alltoall:
            send(_peers);
            receive(_peers);
            break;
        case Function::alltoallv:
        case Function::alltoallw:
            send_blocks();
            receive_blocks();
            break;
        case Function::reduce:
            if (_has_root) {
                contribute(_call.recv_count);
            }
            if (_is_root) {
                receive(1);
            }
            break;
        case Function::allreduce:
        case Function::scan:
            contribute(_call.recv_count);
            receive(1);
            break;
        case Function::exscan:
            contribute(_call.recv_count);
            if (_comm.rank != 0) { // there the buffer is not significant
                receive(1);
            }
            break;
        case Function::reduce_scatter_block:
            contribute(_call.recv_count * _comm.size);
            receive(is_in_place() ? _comm.size : 1);
            break;
        case Function::reduce_scatter:
            reduce_scatter();
            break;
        default:
            neighbors();
            break;
        }
        return std::move(_all);
    }

private:
    void add(const void* buffer, MPI_Count count, const Datatype* type, bool sends) {
        MessageCall call{};
        call.function = _function;
        call.buffer = const_cast<void*>(buffer);
        call.count = count;
        call.type = type;
        if (sends) {
            call.mode = pml::SendMode::standard;
        }
        call.comm = &_comm;
        call.collective = true;
        _all.push_back(call);
    }
    bool is_in_place() const noexcept { return _call.send == MPI_IN_PLACE; }
    // `blocks`: of the count of the call.
    void send(int blocks) {
        if (!is_in_place()) {
            add(_call.send, _call.send_count * blocks, _call.send_type, true);
        }
    }
    void receive(int blocks) {
        if (_call.recv != MPI_IN_PLACE) {
            add(_call.recv, _call.recv_count * blocks, _call.recv_type, false);
        }
    }
    // What this member gives to a reduction, whose type is that of the receive buffer.
    void contribute(MPI_Count count) {
        if (!is_in_place()) {
            add(_call.send, count, _call.recv_type, true);
        }
    }
    void send_blocks() {
        if (!is_in_place()) {
            blocks(_call.send, _call.send_counts, _call.send_displacements, _call.send_types, _call.send_type, true);
        }
    }
    void receive_blocks() {
        blocks(_call.recv, _call.recv_counts, _call.recv_displacements, _call.recv_types, _call.recv_type, false);
    }
    void blocks(const void* buffer, const coll::CountArray& counts, const coll::CountArray& displacements,
        const MPI_Datatype* types, const Datatype* type, bool sends) {
        for (std::size_t i = 0; i < std::size_t(_peers); ++i) {
            const Datatype& one = types != nullptr ? *to_object<Datatype>(types[i]) : *type;
            const MPI_Aint unit = types != nullptr ? 1 : one.extent;
            add(static_cast<const std::byte*>(buffer) + displacements[i] * unit, counts[i], &one, sends);
        }
    }
    void reduce_scatter() {
        MPI_Count all = 0;
        for (std::size_t i = 0; i < std::size_t(_comm.size); ++i) {
            all += _call.recv_counts[i];
        }
        contribute(all);
        add(_call.recv, is_in_place() ? all : _call.recv_counts[std::size_t(_comm.rank)], _call.recv_type, false);
    }
    void neighbors() {
        const auto destinations = _comm.topology->destinations();
        const auto sources = _comm.topology->sources();
        for (std::size_t i = 0; i < destinations.size(); ++i) {
            if (destinations[i] != MPI_PROC_NULL) {
                add(coll::sent_block(_call, i), true);
            }
        }
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (sources[i] != MPI_PROC_NULL) {
                add(coll::received_block(_call, i), false);
            }
        }
    }
    void add(const coll::NeighborBlock& block, bool sends) { add(block.address, block.count, block.type, sends); }

    const Call& _call;
    const char* const _function;
    Communicator& _comm;
    const int _peers; // with which this member exchanges data
    const bool _is_root;
    const bool _has_root; // whether this member has a root, which may be itself
    std::vector<MessageCall> _all;
};

} // namespace

std::vector<MessageCall> buffers_of(const Call& call, const char* function, Communicator& comm) {
    return Collector(call, function, comm).run();
}

} // namespace patchbay::check
