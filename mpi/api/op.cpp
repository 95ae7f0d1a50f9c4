// SPDX-License-Identifier: BSD-3-Clause
// Users' ops and MPI_Reduce_local (MPI-5.0, 6.9.5 and 6.9.7).
#include "object/op.h"

#include "mpi/api/args.h"
#include "mpi/api/handles.h"

#include <new>

namespace patchbay::api {
namespace {

template <class Function>
int create(
    const char* function_name, Ref<Op> (*make)(Function*, bool), Function* function, int commute, MPI_Op* op) noexcept {
    Arguments args(function_name);
    if (checking() && !(args.pointer("user_fn", reinterpret_cast<const void*>(function)) && args.pointer("op", op))) {
        return args.code();
    }
    try {
        *op = handle_of_new(args, make(function, commute != 0).detach());
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return args.result(MPI_ERR_NO_MEM);
    }
}

int reduce_local(
    const char* function, const void* in, void* inout, MPI_Count count, MPI_Datatype datatype, MPI_Op handle) noexcept {
    Arguments args(function);
    if (checking() &&
        !(args.count("count", count) && args.datatype("datatype", datatype) && args.op(handle, datatype) &&
            args.require(!to_object<Op>(handle)->is_accumulate_only(), MPI_ERR_OP, "op",
                MPI_Count(reinterpret_cast<std::uintptr_t>(handle)), "is for one-sided calls only") &&
            args.buffer("inbuf", in, count, datatype) && args.buffer("inoutbuf", inout, count, datatype) &&
            args.separate_buffers(in != inout || count == 0 || type_of(datatype).size == 0))) {
        return args.code();
    }
    if (count == 0) {
        return MPI_SUCCESS;
    }
    return args.result(to_object<Op>(handle)->apply(in, inout, count, *to_object<Datatype>(datatype)));
}

} // namespace
} // namespace patchbay::api

using namespace patchbay;

int PMPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
    return api::create("MPI_Op_create", Op::user, user_fn, commute, op);
}
int PMPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
    return api::create("MPI_Op_create_c", Op::user_large, user_fn, commute, op);
}

int PMPI_Op_free(MPI_Op* op) {
    api::Arguments args("MPI_Op_free");
    if (api::checking() && !(args.pointer("op", op) && args.valid<Op>(MPI_ERR_OP, "op", *op))) {
        return args.code();
    }
    Op* object = to_object<Op>(*op);
    if (object->is_predefined()) {
        return args.fail(MPI_ERR_OP, "the argument op is a predefined operation, which cannot be freed");
    }
    api::note_freed(*op);
    Ref<Op>::adopt(object).reset();
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int PMPI_Op_commutative(MPI_Op op, int* commute) {
    api::Arguments args("MPI_Op_commutative");
    if (api::checking() && !(args.valid<Op>(MPI_ERR_OP, "op", op) && args.pointer("commute", commute))) {
        return args.code();
    }
    *commute = to_object<Op>(op)->is_commutative() ? 1 : 0;
    return MPI_SUCCESS;
}

int PMPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype, MPI_Op op) {
    return api::reduce_local("MPI_Reduce_local", inbuf, inoutbuf, count, datatype, op);
}
int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
    return api::reduce_local("MPI_Reduce_local_c", inbuf, inoutbuf, count, datatype, op);
}
