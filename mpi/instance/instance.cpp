// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/instance/instance.h"

#include "core/memory/node_segment.h"
#include "core/progress/wait_policy.h"
#include "core/runtime/runtime.h"
#include "frameworks/pset/sets.h"
#include "mpi/instance/construction_queue.h"
#include "mpi/instance/hw_resources.h"
#include "mpi/instance/lobby.h"
#include "mpi/instance/mpi_params.h"

namespace patchbay {

Instance::Instance(Core& core, Keepsakes& keepsakes, int thread_level)
    : _core(core), _keepsakes(keepsakes), _thread_level(thread_level), _pml_framework("pml", pml::interface_version),
      _btl_framework("btl", btl::interface_version), _cid_framework("cid", cid::interface_version),
      _coll_framework("coll", coll::interface_version), _pset_framework("pset", pset::interface_version),
      _coll_selector(_coll_framework), _lobby(std::make_unique<Lobby>(*this)),
      _constructions(std::make_unique<ConstructionQueue>(*this)),
      _hw_resources(std::make_unique<HwResources>()) {}

Instance::~Instance() = default;

// All are defined even when one is ill-typed, so that a tool can list them.
Status Instance::define_params() {
    Status result;
    const auto note = [&result](const Status& defined) {
        if (result && !defined) {
            result = defined;
        }
    };
    note(_core.params.define("mpi", "", mpi_params));
    note(_core.params.define("cid", "", cid_params));
    note(_core.params.define("runtime", "", runtime_params));
    note(_core.params.define("wait", "", wait_params));
    note(_core.params.define("shm", "", shm_params));
    for (FrameworkBase* framework : frameworks()) {
        note(framework->announce(_core));
    }
    return result;
}

} // namespace patchbay
