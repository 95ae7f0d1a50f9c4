// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/blocking.h"
#include "frameworks/coll/engine.h"
#include "mpi/api/message_args.h"

// Functions that the bindings of all collectives use.
namespace patchbay::api {

using coll::Call;
using coll::CountArray;
using coll::Form;
using coll::Function;
using coll::TypedVector;

// The end of a binding in each of the three forms of a function. good() checks the arguments that only this form has.
class Blocking {
public:
    static bool good(Arguments&) noexcept { return true; }
    // Inline, so that the arguments are passed on in registers and not by the Call.
    template <Function function>
    [[gnu::always_inline]] static int run(const Arguments& args, const Call& call) noexcept {
        Communicator& comm = *args.comm();
        return args.result(coll::run_blocking<function>((*comm.coll)[function], call, comm));
    }
    // A process that does not take part in a rooted collective on an intercommunicator has nothing to do.
    template <Function function>
    static int without_part(const Arguments& args) noexcept {
        return args.code();
    }
};

// The other members have an operation more on the communicator, and so has a process that does not take part.
template <class FormOf>
class StartedForm {
public:
    template <Function function>
    int without_part(const Arguments& args) const noexcept {
        if (args.code() != MPI_SUCCESS) {
            return args.code();
        }
        Call call;
        call.function = function;
        call.root = MPI_PROC_NULL;
        return static_cast<const FormOf*>(this)->template run<function>(args, call);
    }
};

class Nonblocking : public StartedForm<Nonblocking> {
public:
    explicit Nonblocking(MPI_Request* request) noexcept
        : _handle(request) {}
    bool good(Arguments& args) const noexcept { return args.pointer("request", _handle); }
    template <Function function>
    int run(const Arguments& args, const Call& call) const noexcept {
        Communicator& comm = *args.comm();
        Request* request = nullptr;
        const int code = comm.coll->engine().start(*comm.coll->find(function, Form::nonblocking), call, comm, &request);
        return give(args, code, request, _handle);
    }

private:
    MPI_Request* _handle;
};

class Persistent : public StartedForm<Persistent> {
public:
    Persistent(MPI_Info info, MPI_Request* request) noexcept
        : _info(info),
          _handle(request) {}
    bool good(Arguments& args) const noexcept {
        return args.info_or_null("info", _info) && args.pointer("request", _handle);
    }
    template <Function function>
    int run(const Arguments& args, const Call& call) const noexcept {
        Communicator& comm = *args.comm();
        Call with_info = call;
        with_info.info = to_object<Info>(_info);
        Request* request = nullptr;
        const int code =
            comm.coll->engine().init(*comm.coll->find(function, Form::persistent), with_info, comm, &request);
        return give_persistent(args, code, request, _handle);
    }

private:
    MPI_Info _info;
    MPI_Request* _handle;
};

// A buffer of `count` elements of a committed type.
[[gnu::always_inline]] inline bool block(Arguments& args, const char* buffer_name, const void* buffer,
    const char* count_name, MPI_Count count, const char* type_name, MPI_Datatype type) noexcept {
    return args.count(count_name, count) && args.datatype(type_name, type) &&
        args.buffer(buffer_name, buffer, count, type);
}
[[gnu::always_inline]] inline bool send_block(
    Arguments& args, const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return block(args, "sendbuf", buffer, "sendcount", count, "sendtype", type);
}
[[gnu::always_inline]] inline bool recv_block(
    Arguments& args, const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return block(args, "recvbuf", buffer, "recvcount", count, "recvtype", type);
}

// Where the standard allows MPI_IN_PLACE for a buffer, the count and type of that buffer are ignored. MPI_IN_PLACE is
// not allowed on an intercommunicator (MPI-5.0, 6.2.3); there the checks of buffers reject it.
inline bool in_place(const Arguments& args, const void* buffer) noexcept {
    return buffer == MPI_IN_PLACE && !args.comm()->is_inter;
}
// Checks a send buffer that has no count argument.
inline bool send_place(Arguments& args, const void* buffer) noexcept {
    return args.require(buffer != MPI_IN_PLACE || !args.comm()->is_inter, MPI_ERR_BUFFER, "sendbuf", 1,
        "must not be MPI_IN_PLACE on an intercommunicator");
}

// Check arrays with one entry per rank: counts must not be negative, and displacements must be there.
inline bool counts(Arguments& args, const char* name, CountArray values, int entries) noexcept {
    const auto size = std::size_t(entries);
    if (!args.require(bool(values), MPI_ERR_ARG, name, 0, "must not be NULL")) {
        return false;
    }
    for (std::size_t rank = 0; rank < size; ++rank) {
        if (!args.count(name, values[rank])) {
            return false;
        }
    }
    return true;
}
// The largest of some counts.
inline MPI_Count largest(CountArray values, int entries) noexcept {
    MPI_Count most = 0;
    for (std::size_t i = 0; i < std::size_t(entries); ++i) {
        most = std::max<MPI_Count>(most, values[i]);
    }
    return most;
}
// The buffer of blocks that lie at displacements from it: of MPI_BOTTOM, a displacement that is not 0 is an address.
inline bool buffer_of_blocks(Arguments& args, const char* name, const void* buffer, CountArray values,
    CountArray displacements, int entries, MPI_Datatype type) noexcept {
    if (buffer != MPI_BOTTOM) {
        return args.buffer(name, buffer, largest(values, entries), type);
    }
    for (std::size_t i = 0; i < std::size_t(entries); ++i) {
        if (displacements[i] == 0 && !args.buffer(name, buffer, values[i], type)) {
            return false;
        }
    }
    return true;
}
// The same for blocks that have a datatype each, which is checked, too.
inline bool typed_buffer(Arguments& args, const char* name, const void* buffer, const char* types_name,
    const TypedVector& side, int entries) noexcept {
    for (std::size_t i = 0; i < std::size_t(entries); ++i) {
        const bool has_address = buffer == MPI_BOTTOM && side.displacements[i] != 0;
        if (!args.datatype(types_name, side.types[i]) ||
            (!has_address && !args.buffer(name, buffer, side.counts[i], side.types[i]))) {
            return false;
        }
    }
    return true;
}
// Blocks with counts and displacements.
inline bool placed(Arguments& args, const char* buffer_name, const void* buffer, const char* counts_name,
    CountArray values, const char* displacements_name, CountArray displacements, const char* type_name,
    MPI_Datatype type) noexcept {
    const int entries = args.comm()->remote_size;
    return counts(args, counts_name, values, entries) && args.datatype(type_name, type) &&
        args.require(bool(displacements), MPI_ERR_ARG, displacements_name, 0, "must not be NULL") &&
        buffer_of_blocks(args, buffer_name, buffer, values, displacements, entries, type);
}

// A part of a buffer: `count` elements, `offset` bytes after its address.
struct Block {
    const void* buffer;
    std::uintptr_t offset;
    MPI_Count count;
    const Datatype& type;

    bool has_data() const noexcept { return count > 0 && type.size > 0; }
    std::uintptr_t first_byte() const noexcept {
        return reinterpret_cast<std::uintptr_t>(buffer) + offset + std::uintptr_t(type.true_lower_bound);
    }
};
[[gnu::always_inline]] inline Block block_of(
    const void* buffer, MPI_Count elements_before, MPI_Count count, MPI_Datatype type) noexcept {
    return {buffer, std::uintptr_t(elements_before) * std::uintptr_t(type_of(type).extent), count, type_of(type)};
}

// A send buffer and a receive buffer must not overlap (MPI-5.0, 6.2.3). This detects two blocks with data that begin
// with the same byte, which one comparison does. It does not compare the extents, because blocks of one array whose
// types interleave are correct.
[[gnu::always_inline]] inline bool separate(Arguments& args, const Block& a, const Block& b) noexcept {
    return args.separate_buffers(!a.has_data() || !b.has_data() || a.first_byte() != b.first_byte());
}
// Compares the block of one process with two blocks of a buffer that has a block of `count` elements for every process:
// with the first one and with that of the calling process.
[[gnu::always_inline]] inline bool separate(
    Arguments& args, const Block& one, const void* all, MPI_Count count, MPI_Datatype type) noexcept {
    const Block first = block_of(all, 0, count, type);
    if (!one.has_data() || !first.has_data()) {
        return true;
    }
    const Communicator& comm = *args.comm();
    const std::uintptr_t distance = one.first_byte() - first.first_byte();
    const std::uintptr_t own = std::uintptr_t(comm.rank) * std::uintptr_t(count) * std::uintptr_t(first.type.extent);
    return args.separate_buffers(distance != 0 && (distance != own || comm.is_inter));
}
// The same for blocks with counts and displacements.
inline bool separate(Arguments& args, const Block& one, const void* all, CountArray values, CountArray displacements,
    MPI_Datatype type) noexcept {
    const Communicator& comm = *args.comm();
    const auto own = std::size_t(comm.rank);
    return comm.is_inter || separate(args, one, block_of(all, displacements[own], values[own], type));
}

// Whether this process is the root of a rooted collective. Some arguments are significant there only.
inline bool at_root(const Arguments& args, int root) noexcept {
    return args.comm()->is_inter ? root == MPI_ROOT : root == args.comm()->rank;
}

// The beginning of a rooted collective. true: the binding must return form.without_part(), either after an error, or
// because the process is in the root's group of an intercommunicator and is not the root: then no other argument is
// significant, and the process does not take part.
template <class FormOf>
[[gnu::always_inline]] inline bool has_no_part(Arguments& args, int root, const FormOf& form) noexcept {
    return (checking() && !(args.communicator() && args.root(root) && form.good(args))) ||
        (args.comm()->is_inter && root == MPI_PROC_NULL);
}

// Whether this process is the root on an intercommunicator. Its data goes to the remote group or comes from there.
inline bool only_root(const Arguments& args, int root) noexcept {
    return args.comm()->is_inter && root == MPI_ROOT;
}

} // namespace patchbay::api
