// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/excid/excid.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/runtime/runtime.h"
#include "frameworks/cid/single_module.h"
#include "frameworks/context.h"

#include <new>

namespace patchbay::cid {

namespace {

constexpr char source_names[] = "auto,pmix,launcher,bootstrap"; // in the order of PgcidSource

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "50", "how much this component wants to name communicators", "0..100",
        ParamLevel::tuner_basic, ParamScope::all_equal},
    {"source", ParamType::enumeration, "auto",
        "where PGCIDs come from: pmix (PMIx_Group_construct), launcher (the group service of Patchbay's mpirun), "
        "bootstrap (the first member sends it to the others) or auto: the first one to come, by the memory that the "
        "launcher "
        "lets a node's processes share, and bootstrap where members are on several nodes",
        source_names, ParamLevel::tuner_basic, ParamScope::all_equal},
};

class Excid final : public SingleModule {
public:
    Excid()
        : SingleModule("cid_excid_priority", Capability::thread_multiple | Capability::sessions) {}
    Status open(Core& core) override {
        _source = PgcidSource(core.params.at("cid_excid_source").as_enum());
        if (_source == PgcidSource::pmix && core.runtime != nullptr) {
            core.runtime->keep_connection();
        }
        return SingleModule::open(core);
    }

private:
    std::unique_ptr<Module> make(Context& context) noexcept override {
        return std::unique_ptr<Module>(new (std::nothrow) ExcidModule(context, _source));
    }

    PgcidSource _source = PgcidSource::automatic;
};

} // namespace
} // namespace patchbay::cid

PATCHBAY_COMPONENT = patchbay::describe<patchbay::cid::Excid>("cid", patchbay::cid::interface_version, "excid", "1.0.0",
    "derives the exCIDs of children from their parent's, without communication", patchbay::cid::params);
