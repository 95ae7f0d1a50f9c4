// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/module.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/coll/coll.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>

namespace patchbay::osc::pt2pt {

namespace {

enum class ProgressBy : std::uint8_t { none, thread };
constexpr char progress_names[] = "none,thread"; // in the order of ProgressBy

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "20", "how much this component wants to serve a window", "0..100"},
    {"progress", ParamType::enumeration, "none",
        "who makes progress for the targets of passive epochs while the program computes: none, or a thread of each "
        "process that has such a window",
        progress_names, ParamLevel::user_basic, ParamScope::local},
    {"inline", ParamType::size, "2KiB", "bytes of data up to which an operation is one message", "256..1MiB",
        ParamLevel::tuner_basic},
    {"credits", ParamType::integer, "64",
        "operations that one origin may have under way to one target; more wait in the origin",
        "8..4096", // the tags of their data differ

        ParamLevel::tuner_basic},
    {"receives", ParamType::integer, "4", "messages that a window receives at a time", "1..1000",
        ParamLevel::tuner_detail, ParamScope::local},
};

class Pt2ptComponent final : public Component {
public:
    Status open(Core& core) override {
        const ParamRegistry& registry = core.params;
        _priority = int(registry.at("osc_pt2pt_priority").as_int());
        _progress_by = ProgressBy(registry.at("osc_pt2pt_progress").as_enum());
        _inline_bytes = registry.at("osc_pt2pt_inline").as_size();
        _credits = registry.at("osc_pt2pt_credits").as_int();
        _receives = int(registry.at("osc_pt2pt_receives").as_int());
        return {};
    }

    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_network | Capability::peers_threads;
    }

    Result<int> query(Context&, const Window&) override { return _priority; }

    Result<std::unique_ptr<Module>> create(Context& context, Window& window) noexcept override {
        try {
            auto agreed = agree(window);
            if (!agreed) {
                return agreed.error();
            }
            std::shared_ptr<ProgressThread> thread;
            // A rank that is a thread makes progress in its own calls only.
            if (_progress_by == ProgressBy::thread && window.comm->view == nullptr) {
                auto started = progress_thread(context.progress());
                if (!started) {
                    return started.error();
                }
                thread = *started;
            }
            auto module = std::make_unique<Pt2pt>(context, window, *agreed, std::move(thread));
            if (module->begin(_receives) != MPI_SUCCESS) {
                return out_of_memory();
            }
            return std::unique_ptr<Module>(std::move(module));
        } catch (const std::bad_alloc&) {
            return out_of_memory();
        }
    }

private:
    // Members of other jobs may have other values; each window has the least of them.
    Result<Agreed> agree(Window& window) const {
        std::int64_t values[] = {std::int64_t(_inline_bytes), _credits};
        Communicator& comm = *window.comm;
        const int code = (*comm.coll)[coll::Function::allreduce].allreduce(
            MPI_IN_PLACE, values, 2, *to_object<Datatype>(MPI_INT64_T), *to_object<Op>(MPI_MIN), comm);
        if (code != MPI_SUCCESS) {
            return Error{Errc::peer_failed, "osc/pt2pt: the members could not agree on the sizes of messages"};
        }
        return Agreed{std::size_t(values[0]), std::uint64_t(values[1])};
    }

    // The thread of this process, which exists as long as a module has the pointer.
    Result<std::shared_ptr<ProgressThread>> progress_thread(Progress& progress) {
        const std::lock_guard lock(_mutex);
        if (auto thread = _thread.lock()) {
            return thread;
        }
        try {
            auto thread = std::make_shared<ProgressThread>(progress);
            _thread = thread;
            return thread;
        } catch (const std::system_error& error) {
            return Error{
                Errc::system, std::string("osc/pt2pt: the progress thread could not be started: ") + error.what()};
        }
    }

    std::mutex _mutex;
    std::weak_ptr<ProgressThread> _thread; // protected by it
    int _priority = 0;
    ProgressBy _progress_by = ProgressBy::none;
    std::size_t _inline_bytes = 0;
    std::int64_t _credits = 0;
    int _receives = 0;
};

} // namespace

} // namespace patchbay::osc::pt2pt

PATCHBAY_COMPONENT = patchbay::describe<patchbay::osc::pt2pt::Pt2ptComponent>("osc", patchbay::osc::interface_version,
    "pt2pt", "1.0.0", "one-sided communication by messages over any pml", patchbay::osc::pt2pt::params);
