// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/call_record.h"
#include "mpi/check/neighbor_edges.h"
#include "object/error_code.h"

#include <fmt/core.h>

#include <cstring>

namespace patchbay::check {

using coll::Function;

namespace {

// A record as it has arrived.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes)
        : _blocks(bytes.subspan(sizeof(CallRecord))) {
        std::memcpy(&fixed, bytes.data(), sizeof fixed);
    }
    Block sent(int to) const noexcept { return block(std::size_t(to)); }
    Block received(int from) const noexcept { return block(fixed.sent_blocks + std::size_t(from)); }
    // Of a neighbourhood function.
    Edges edges() const {
        Edges result{std::vector<Edge>(fixed.sent_blocks), std::vector<Edge>(fixed.received_blocks)};
        const std::size_t sent = result.sent.size() * sizeof(Edge);
        copy(_blocks.first(sent), result.sent.data());
        copy(_blocks.subspan(sent), result.received.data());
        return result;
    }

    CallRecord fixed;

private:
    static void copy(std::span<const std::byte> bytes, Edge* to) noexcept {
        if (!bytes.empty()) {
            std::memcpy(to, bytes.data(), bytes.size());
        }
    }
    Block block(std::size_t i) const noexcept {
        Block result;
        std::memcpy(&result, _blocks.data() + i * sizeof result, sizeof result);
        return result;
    }

    std::span<const std::byte> _blocks;
};

class Comparison {
public:
    explicit Comparison(const std::vector<std::span<const std::byte>>& records) {
        for (const std::span<const std::byte> one : records) {
            _all.emplace_back(one);
        }
    }

    Difference run(bool is_inter) {
        const CallRecord& model = _all[0].fixed;
        for (int rank = 1; rank < size() && !found(); ++rank) {
            const CallRecord& call = at(rank);
            if (call.function != model.function || call.form != model.form ||
                call.constructor_name != model.constructor_name) {
                differ(MPI_ERR_OTHER, rank, 0, "All members must call the same collectives in the same order");
            } else if (call.root != model.root) {
                differ(MPI_ERR_ROOT, rank, 0, "Argument root differs; all members must give the same root");
            } else if (call.op != model.op) {
                differ(MPI_ERR_OP, rank, 0, "Argument op differs; all members must give the same op");
            }
        }
        if (!found() && !is_inter) {
            compare_constructors();
        }
        if (!found() && !is_inter && model.function != CallRecord::constructor) {
            compare_data(Function(model.function));
        }
        return std::move(_result);
    }

private:
    int size() const noexcept { return int(_all.size()); }
    const CallRecord& at(int rank) const noexcept { return _all[std::size_t(rank)].fixed; }
    bool found() const noexcept { return _result.code != MPI_SUCCESS; }

    void differ(int code, int first, int second, const char* remedy) {
        if (!found()) {
            _result = {code, first, second,
                fmt::format("rank {} has called {}, but rank {} has called {}. {}", first, at(first).text(), second,
                    at(second).text(), remedy)};
        }
    }
    // Of two signatures that must be equal.
    static int code_of(std::uint64_t first_elements, std::uint64_t second_elements) noexcept {
        return first_elements != second_elements ? MPI_ERR_COUNT : MPI_ERR_TYPE;
    }
    void expect(int first, const Signature& a, int second, const Signature& b) {
        if (!a.matches(b)) {
            differ(code_of(a.elements, b.elements), first, second,
                "What is sent and what is received must be the same basic types in the same number");
        }
    }
    void expect(int sender, int receiver, const Block& sent, const Block& received, bool sender_first = true) {
        if (!sent.matches(received)) {
            const auto text = fmt::format("Rank {} sends {} values to rank {}, which receives {}{}. Both must be the "
                                          "same basic types in the same number",
                sender, sent.elements, receiver, received.elements,
                sent.elements == received.elements ? " of other types" : "");
            differ(code_of(sent.elements, received.elements), sender_first ? sender : receiver,
                sender_first ? receiver : sender, text.c_str());
        }
    }

    // MPI_Comm_dup and MPI_Comm_idup need not send anything, so that their order shows in the next collective only.
    void compare_constructors() {
        for (int rank = 1; rank < size(); ++rank) {
            if (at(rank).constructors != at(0).constructors) {
                const bool more = int(at(rank).constructors - at(0).constructors) > 0;
                const auto text = fmt::format("Rank {} has called a constructor of communicators (MPI_Comm_dup, "
                                              "MPI_Comm_idup) on this communicator before, which rank {} has not. All "
                                              "members must call the same collectives in the same order",
                    more ? rank : 0, more ? 0 : rank);
                differ(MPI_ERR_OTHER, rank, 0, text.c_str());
            }
        }
    }
    void compare_neighbors() {
        std::vector<Edges> edges;
        for (const Reader& one : _all) {
            edges.push_back(one.edges());
        }
        if (const auto difference = compare_edges(edges)) {
            expect(difference->sender, difference->receiver, difference->sent, difference->received);
        }
    }
    void compare_data(Function f) {
        if (coll::FunctionSet::neighborhood().has(f)) {
            compare_neighbors();
            return;
        }
        const int root = at(0).root;
        for (int rank = 0; rank < size() && !found(); ++rank) {
            const Reader& one = _all[std::size_t(rank)];
            switch (f) {
            case Function::gather:
                if (one.fixed.sends != 0 && at(root).receives != 0) {
                    expect(rank, one.fixed.sent, root, at(root).received);
                }
                break;
            case Function::gatherv:
                if (one.fixed.sends != 0) {
                    expect(rank, root, Block(one.fixed.sent), _all[std::size_t(root)].received(rank));
                }
                break;
            case Function::scatter:
                if (one.fixed.receives != 0 && at(root).sends != 0) {
                    expect(rank, one.fixed.received, root, at(root).sent);
                }
                break;
            case Function::scatterv:
                if (one.fixed.receives != 0) {
                    expect(root, rank, _all[std::size_t(root)].sent(rank), Block(one.fixed.received), false);
                }
                break;
            case Function::allgather:
            case Function::alltoall:
                expect(rank, one.fixed.received, 0, at(0).received);
                if (one.fixed.sends != 0) {
                    expect(rank, one.fixed.sent, 0, at(0).received);
                }
                break;
            case Function::allgatherv:
                compare_received_blocks(rank);
                if (one.fixed.sends != 0) {
                    expect(rank, 0, Block(one.fixed.sent), _all[0].received(rank));
                }
                break;
            case Function::alltoallv:
            case Function::alltoallw:
                compare_pairs(rank);
                break;
            case Function::reduce_scatter:
                compare_received_blocks(rank);
                break;
            default:
                expect(rank, one.fixed.received, 0, at(0).received);
                break;
            }
        }
    }
    // Arrays of counts that must be equal in all members.
    void compare_received_blocks(int rank) {
        for (int i = 0; i < size(); ++i) {
            const Block one = _all[std::size_t(rank)].received(i);
            const Block model = _all[0].received(i);
            if (!one.matches(model)) {
                const auto text = fmt::format(
                    "Element {} of argument recvcounts is {} in rank {}, and {} in rank 0; it "
                    "must be the same{}",
                    i, one.elements, rank, model.elements, one.elements == model.elements ? ", and so the types" : "");
                differ(code_of(one.elements, model.elements), rank, 0, text.c_str());
            }
        }
    }
    void compare_pairs(int rank) {
        for (int peer = 0; peer < size(); ++peer) {
            const Reader& to = _all[std::size_t(peer)];
            const Reader& from = _all[std::size_t(rank)];
            const bool in_place = from.fixed.sent_blocks == 0;
            expect(rank, peer, in_place ? from.received(peer) : from.sent(peer), to.received(rank));
        }
    }

    std::vector<Reader> _all;
    Difference _result;
};

} // namespace

Difference compare(const std::vector<std::span<const std::byte>>& records, bool is_inter) {
    return Comparison(records).run(is_inter);
}

} // namespace patchbay::check
