// SPDX-License-Identifier: BSD-3-Clause
#include "components/cid/excid/excid.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "mpi/instance/instance.h"

#include <mutex>
#include <new>

namespace patchbay::cid {

namespace {

constexpr char source_names[] = "auto,pmix,launcher,bootstrap"; // in the order of PgcidSource

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "50", "how much this component wants to name communicators, 0 to 100", nullptr,
        ParamLevel::tuner_basic, ParamScope::all_equal},
    {"source", ParamType::enumeration, "auto",
        "where PGCIDs come from: pmix (PMIx_Group_construct), launcher (the group service of Patchbay's mpirun), "
        "bootstrap (the group agrees by messages of its own) or auto: what costs least, which is bootstrap",
        source_names, ParamLevel::tuner_basic, ParamScope::all_equal},
};

class Excid final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("cid_excid_priority").as_int());
        _source = PgcidSource(core.params.at("cid_excid_source").as_enum());
        return {};
    }
    // Whoever closes us has destroyed all communicators before.
    void close() noexcept override { _module.reset(); }
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }

    Result<Choice> query(Instance& instance) noexcept override {
        std::call_once(_made, [&] { _module.reset(new (std::nothrow) ExcidModule(instance, _source)); });
        if (_module == nullptr) {
            return Error{Errc::out_of_memory, "no memory for the module"};
        }
        return Choice{_priority, _module.get()};
    }

private:
    int _priority = 0;
    PgcidSource _source = PgcidSource::automatic;
    std::once_flag _made;
    std::unique_ptr<ExcidModule> _module;
};

} // namespace
} // namespace patchbay::cid

PATCHBAY_COMPONENT = patchbay::describe<patchbay::cid::Excid>("cid", patchbay::cid::interface_version, "excid", "1.0.0",
    "derives the children's names from their parent's without communication (exCID)", patchbay::cid::params);
