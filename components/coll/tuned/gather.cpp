// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/bytes.h"
#include "components/coll/tuned/tuned.h"

#include <algorithm>

namespace patchbay::coll::tuned {

namespace {

// MPI_Gather and MPI_Scatter: a tree over the ranks relative to the root. A member has the blocks of all ranks below
// it, packed, in a block of bytes, its own one first.
template <class Steps>
class Tree {
public:
    Tree(Steps& steps, int root, MPI_Count block_bytes) noexcept
        : _steps(steps),
          _root(root),
          _ranks(steps.comm().size),
          _relative((steps.comm().rank - root + _ranks) % _ranks),
          _subtree(subtree_of(_relative, _ranks)),
          _block(block_bytes),
          _packed(has_children()
                  ? static_cast<std::byte*>(steps.scratch(below(_relative, _subtree) * _block, byte_type()))
                  : nullptr) {}

    bool is_root() const noexcept { return _relative == 0; }
    bool has_children() const noexcept { return _subtree > 1 && _relative + 1 < _ranks; }
    int parent() const noexcept { return rank_of(_relative - _subtree); }
    std::byte* packed() const noexcept { return _packed; }
    MPI_Count bytes() const noexcept { return below(_relative, _subtree) * _block; }

    // Has `message(address, bytes, rank)` called for each child, those with the fewest ranks below them first.
    template <class Message>
    void for_children(Message message) const noexcept {
        for (int mask = 1; mask < _subtree && _relative + mask < _ranks; mask <<= 1) {
            message(_packed + mask * _block, below(_relative + mask, mask) * _block, rank_of(_relative + mask));
        }
    }
    // At the root: copies the blocks of the other ranks between the packed ones and the buffer.
    void unpack(const Blocks& blocks) const noexcept {
        for (int i = 1; i < _ranks; ++i) {
            _steps.copy(_packed + i * _block, _block, byte_type(), blocks.of(rank_of(i)), blocks.count, blocks.type);
        }
    }
    void pack(const Blocks& blocks) const noexcept {
        for (int i = 1; i < _ranks; ++i) {
            _steps.copy(blocks.of(rank_of(i)), blocks.count, blocks.type, _packed + i * _block, _block, byte_type());
        }
    }

private:
    int rank_of(int relative) const noexcept { return (relative + _root) % _ranks; }
    // Of the tree whose top is `relative`.
    MPI_Count below(int relative, int most) const noexcept { return std::min(most, _ranks - relative); }

    Steps& _steps;
    const int _root;
    const int _ranks;
    const int _relative;
    const int _subtree;
    const MPI_Count _block;
    std::byte* const _packed;
};

template <class Steps>
void gather_linear(Steps& steps, const Call& call) noexcept {
    const Communicator& comm = steps.comm();
    if (comm.rank != call.root) {
        steps.send(call.send, call.send_count, *call.send_type, call.root);
        return;
    }
    const Blocks blocks{call.recv, call.recv_count, *call.recv_type};
    typename Steps::Batch batch(steps);
    for (int rank = 0; rank < comm.size; ++rank) {
        if (rank != call.root) {
            batch.irecv(blocks.of(rank), blocks.count, blocks.type, rank);
        }
    }
    if (call.send != MPI_IN_PLACE) {
        steps.copy(call.send, call.send_count, *call.send_type, blocks.of(call.root), blocks.count, blocks.type);
    }
    batch.finish();
}

template <class Steps>
void gather_binomial(Steps& steps, const Call& call) noexcept {
    const bool is_root = steps.comm().rank == call.root;
    const Tree<Steps> tree(
        steps, call.root, is_root ? call.recv_count * call.recv_type->size : call.send_count * call.send_type->size);
    tree.for_children(
        [&](std::byte* address, MPI_Count bytes, int child) { steps.recv(address, bytes, byte_type(), child); });
    if (tree.is_root()) {
        const Blocks blocks{call.recv, call.recv_count, *call.recv_type};
        if (call.send != MPI_IN_PLACE) {
            steps.copy(call.send, call.send_count, *call.send_type, blocks.of(call.root), blocks.count, blocks.type);
        }
        steps.round();
        tree.unpack(blocks);
    } else if (tree.has_children()) {
        steps.copy(call.send, call.send_count, *call.send_type, tree.packed(), call.send_count * call.send_type->size,
            byte_type());
        steps.round();
        steps.send(tree.packed(), tree.bytes(), byte_type(), tree.parent());
    } else {
        steps.send(call.send, call.send_count, *call.send_type, tree.parent());
    }
}

Blocks sent_blocks(const Call& call) noexcept {
    return {const_cast<void*>(call.send), call.send_count, *call.send_type};
}

template <class Steps>
void copy_own(Steps& steps, const Blocks& blocks, const Call& call) noexcept {
    if (call.recv != MPI_IN_PLACE) {
        steps.copy(blocks.of(call.root), blocks.count, blocks.type, call.recv, call.recv_count, *call.recv_type);
    }
}

template <class Steps>
void scatter_linear(Steps& steps, const Call& call) noexcept {
    const Communicator& comm = steps.comm();
    if (comm.rank != call.root) {
        steps.recv(call.recv, call.recv_count, *call.recv_type, call.root);
        return;
    }
    const Blocks blocks = sent_blocks(call);
    typename Steps::Batch batch(steps);
    for (int rank = 0; rank < comm.size; ++rank) {
        if (rank != call.root) {
            batch.isend(blocks.of(rank), blocks.count, blocks.type, rank);
        }
    }
    copy_own(steps, blocks, call);
    batch.finish();
}

template <class Steps>
void scatter_binomial(Steps& steps, const Call& call) noexcept {
    const bool is_root = steps.comm().rank == call.root;
    const Tree<Steps> tree(
        steps, call.root, is_root ? call.send_count * call.send_type->size : call.recv_count * call.recv_type->size);
    if (tree.is_root()) {
        tree.pack(sent_blocks(call));
    } else if (tree.has_children()) {
        steps.recv(tree.packed(), tree.bytes(), byte_type(), tree.parent());
    } else {
        steps.recv(call.recv, call.recv_count, *call.recv_type, tree.parent());
        return;
    }
    steps.round();
    tree.for_children(
        [&](std::byte* address, MPI_Count bytes, int child) { steps.send(address, bytes, byte_type(), child); });
    if (!tree.is_root()) {
        steps.copy(tree.packed(), call.recv_count * call.recv_type->size, byte_type(), call.recv, call.recv_count,
            *call.recv_type);
    } else {
        copy_own(steps, sent_blocks(call), call);
    }
}

} // namespace

template <class Steps>
void gather(Steps& steps, const Call& call, const Choice& choice) noexcept {
    if (choice.algorithm == Algorithm::linear) {
        gather_linear(steps, call);
    } else {
        gather_binomial(steps, call);
    }
}
template <class Steps>
void scatter(Steps& steps, const Call& call, const Choice& choice) noexcept {
    if (choice.algorithm == Algorithm::linear) {
        scatter_linear(steps, call);
    } else {
        scatter_binomial(steps, call);
    }
}

template void gather(Immediate&, const Call&, const Choice&) noexcept;
template void gather(Schedule&, const Call&, const Choice&) noexcept;
template void scatter(Immediate&, const Call&, const Choice&) noexcept;
template void scatter(Schedule&, const Call&, const Choice&) noexcept;

} // namespace patchbay::coll::tuned
