// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/call_record.h"

#include "mpi/check/neighbor_edges.h"
#include "object/communicator.h"
#include "object/op_kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace patchbay::check {

using coll::Call;
using coll::CountArray;
using coll::Form;
using coll::Function;

namespace {

bool is_rooted(Function f) noexcept {
    return coll::FunctionSet{
        Function::bcast, Function::gather, Function::gatherv, Function::scatter, Function::scatterv, Function::reduce}
        .has(f);
}

const char* name_of_op(std::uint32_t op) noexcept {
    using namespace op_code;
    static constexpr struct {
        std::uint8_t code;
        const char* name;
    } names[] = {{sum, "MPI_SUM"}, {min, "MPI_MIN"}, {max, "MPI_MAX"}, {prod, "MPI_PROD"}, {band, "MPI_BAND"},
        {bor, "MPI_BOR"}, {bxor, "MPI_BXOR"}, {land, "MPI_LAND"}, {lor, "MPI_LOR"}, {lxor, "MPI_LXOR"},
        {minloc, "MPI_MINLOC"}, {maxloc, "MPI_MAXLOC"}};
    for (const auto& one : names) {
        if (op == HandleTraits<Op>::first + one.code) {
            return one.name;
        }
    }
    return "an op of the program";
}

std::uint32_t id_of(const Op& op) noexcept {
    return op.is_predefined() ? std::uint32_t(op.predefined_handle()) : CallRecord::users_op;
}

// The names by function and form; function_name() has those of the blocking form.
std::string make_name(Function f, Form form) {
    std::string name = coll::function_name(f);
    if (form == Form::nonblocking) {
        name = "i" + name;
    }
    name[0] = char(name[0] - 'a' + 'A');
    return "MPI_" + name + (form == Form::persistent ? "_init" : "");
}

// Never destroyed: a program may call MPI in its static destructors.
const std::string& name_of(Function f, Form form) {
    using Names = std::array<std::array<std::string, coll::form_count>, coll::function_count>;
    static const auto& names = *[] {
        auto* made = new Names;
        Names& all = *made;
        for (std::size_t i = 0; i < coll::function_count; ++i) {
            for (std::size_t j = 0; j < coll::form_count; ++j) {
                all[i][j] = make_name(Function(i), Form(j));
            }
        }
        return made;
    }();
    return names[std::size_t(f)][std::size_t(form)];
}

// Fills the parts of a record that say what is sent and received.
class Writer {
public:
    Writer(const Call& call, const Communicator& comm, CallRecord& record, std::vector<Block>& blocks)
        : _call(call),
          _size(comm.size),
          _is_root(call.root == comm.rank),
          _record(record),
          _blocks(blocks) {}

    void write() {
        switch (_call.function) {
        case Function::bcast:
        case Function::reduce:
        case Function::allreduce:
        case Function::reduce_scatter_block:
        case Function::scan:
        case Function::exscan:
            count_and_type();
            break;
        case Function::gather:
            send();
            if (_is_root) {
                receive();
            }
            break;
        case Function::gatherv:
            send();
            if (_is_root) {
                receive_blocks();
            }
            break;
        case Function::scatter:
            receive();
            if (_is_root) {
                send();
            }
            break;
        case Function::scatterv:
            receive();
            if (_is_root) {
                send_blocks();
            }
            break;
        case Function::allgather:
        case Function::alltoall:
            send();
            receive();
            break;
        case Function::allgatherv:
            send();
            receive_blocks();
            break;
        case Function::alltoallv:
        case Function::alltoallw:
            send_blocks();
            receive_blocks();
            break;
        case Function::reduce_scatter:
            receive_blocks();
            break;
        default: // a barrier; neighbours have edges
            break;
        }
    }

private:
    // What is in place in the receive buffer is no data that is sent, and the other way round.
    void send() {
        if (_call.send != MPI_IN_PLACE) {
            _record.sends = 1;
            _record.sent = Signature::of(*_call.send_type, _call.send_count);
        }
    }
    void receive() {
        if (_call.recv != MPI_IN_PLACE) {
            count_and_type();
        }
    }
    // Significant in all members, also where the buffer is not.
    void count_and_type() {
        _record.receives = 1;
        _record.received = Signature::of(*_call.recv_type, _call.recv_count);
    }
    void send_blocks() {
        if (_call.send != MPI_IN_PLACE) {
            add_blocks(_call.send_counts, _call.send_types, _call.send_type);
            _record.sent_blocks = std::uint32_t(_size);
        }
    }
    void receive_blocks() {
        add_blocks(_call.recv_counts, _call.recv_types, _call.recv_type);
        _record.received_blocks = std::uint32_t(_size);
    }
    void add_blocks(const CountArray& counts, const MPI_Datatype* types, const Datatype* type) {
        for (int i = 0; i < _size; ++i) {
            const Datatype& one = types != nullptr ? *to_object<Datatype>(types[i]) : *type;
            _blocks.emplace_back(Signature::of(one, counts[std::size_t(i)]));
        }
    }

    const Call& _call;
    const int _size;
    const bool _is_root;
    CallRecord& _record;
    std::vector<Block>& _blocks;
};

template <class T>
void append(std::vector<std::byte>& bytes, const std::vector<T>& values) {
    const std::span<const std::byte> data = std::as_bytes(std::span(values));
    bytes.insert(bytes.end(), data.begin(), data.end());
}

} // namespace

const char* CallRecord::function_text() const noexcept {
    return function == constructor ? constructor_name.data() : name_of_call(Function(function), Form(form));
}

const char* name_of_call(Function function, Form form) noexcept {
    return name_of(function, form).c_str();
}

std::string CallRecord::text() const {
    std::string text = function_text();
    const bool sends_more = sends != 0 && sent.elements >= received.elements;
    if (receives != 0 || sends != 0) {
        text += " of " + (sends_more ? sent : received).text();
    }
    if (op != no_op) {
        text += std::string(" with ") + name_of_op(op);
    }
    if (root != no_root) {
        text += fmt::format("{} root {}", op != no_op ? " and" : " with", root);
    }
    return text + " at " + site.data();
}

std::vector<std::byte> record_of_constructor(
    std::string_view function, const Communicator& comm, const std::string& site) {
    CallRecord record;
    record.function = CallRecord::constructor;
    function.remove_suffix(function.ends_with("_c") ? 2 : 0);
    function.copy(record.constructor_name.data(), record.constructor_name.size() - 1);
    site.copy(record.site.data(), record.site.size() - 1);
    record.constructors = comm.constructions.load(std::memory_order_relaxed);
    std::vector<std::byte> bytes(sizeof record);
    std::memcpy(bytes.data(), &record, sizeof record);
    return bytes;
}

std::vector<std::byte> record_of(const Call& call, Form form, const Communicator& comm, const std::string& site) {
    CallRecord record;
    std::vector<Block> blocks;
    record.function = std::uint32_t(call.function);
    record.form = std::uint32_t(form);
    record.root = is_rooted(call.function) ? call.root : CallRecord::no_root;
    record.op = call.op != nullptr ? id_of(*call.op) : CallRecord::no_op;
    site.copy(record.site.data(), record.site.size() - 1);
    record.constructors = comm.constructions.load(std::memory_order_relaxed);
    std::vector<std::byte> bytes(sizeof record);
    if (comm.is_inter) {
        // Only the calls are compared.
    } else if (coll::FunctionSet::neighborhood().has(call.function)) {
        const Edges edges = edges_of(call, comm);
        record.sent_blocks = std::uint32_t(edges.sent.size());
        record.received_blocks = std::uint32_t(edges.received.size());
        append(bytes, edges.sent);
        append(bytes, edges.received);
    } else {
        Writer(call, comm, record, blocks).write();
        append(bytes, blocks);
    }
    std::memcpy(bytes.data(), &record, sizeof record);
    return bytes;
}

std::size_t longest_record(const Communicator& comm) noexcept {
    const std::size_t edges = comm.topology != nullptr ? most_edges(comm.size) * sizeof(Edge) : 0;
    return sizeof(CallRecord) + std::max(edges, 2 * std::size_t(comm.size) * sizeof(Block));
}

} // namespace patchbay::check
