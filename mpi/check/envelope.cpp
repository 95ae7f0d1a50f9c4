// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/envelope.h"

#include "core/base/out_of_memory.h"
#include "object/part_of_call.h"
#include "object/recipe.h"

namespace patchbay::check {

namespace {

MPI_Count address_of(const void* pointer) noexcept {
    return static_cast<MPI_Count>(reinterpret_cast<std::uintptr_t>(pointer));
}

} // namespace

int Envelope::seal(const void* buffer, MPI_Count count, const Datatype& type) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        const PartOfCall::Packed* packed = PartOfCall::packed_in(buffer);
        _signature = packed != nullptr ? Signature::of(*packed->type, packed->count) : Signature::of(type, count);
        return enclose(buffer, count, type);
    });
}

int Envelope::prepare(void* buffer, MPI_Count count, const Datatype& type) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return enclose(buffer, count, type); });
}

int Envelope::enclose(const void* buffer, MPI_Count count, const Datatype& type) {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_STRUCT;
    recipe.large = true;
    // Elements without data may be so many that their extents do not fit.
    recipe.counts = {
        2, MPI_Count(sizeof _signature), type.size == 0 ? 0 : count, address_of(&_signature), address_of(buffer)};
    recipe.types.push_back(Ref<Datatype>::share(to_object<Datatype>(MPI_BYTE)));
    recipe.types.push_back(Ref<Datatype>::share(const_cast<Datatype*>(&type)));
    const int code = Datatype::create(std::move(recipe), &_type);
    return code == MPI_SUCCESS ? _type->commit() : code;
}

} // namespace patchbay::check
