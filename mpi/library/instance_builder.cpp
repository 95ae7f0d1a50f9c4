// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/library/instance_builder.h"

#include "core/log.h"
#include "core/memory/node_allocations.h"
#include "core/memory/node_segment.h"
#include "core/progress/progress.h"
#include "core/runtime/runtime.h"
#include "frameworks/cid/index_table.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pset/sets.h"
#include "mpi/bootstrap/exchange.h"
#include "mpi/channels/channels.h"
#include "mpi/channels/collective_channels.h"
#include "mpi/channels/partitioned_channels.h"
#include "mpi/check/collective_check.h"
#include "mpi/check/message_check.h"
#include "mpi/check/page_guard.h"
#include "mpi/check/partitioned_check.h"
#include "mpi/check/window_check.h"
#include "mpi/communicators/cid_stats.h"
#include "mpi/communicators/communicators.h"
#include "mpi/communicators/construction_queue.h"
#include "mpi/instance/process_state.h"
#include "mpi/windows/windows.h"
#include "object/origins.h"
#include "object/part_of_call.h"

namespace patchbay {

namespace {

RuntimeOptions runtime_options(const ParamRegistry& params) {
    RuntimeOptions options;
    options.allow_singletons = params.at("runtime_allow_singletons").as_bool();
    options.get_timeout = params.at("runtime_get_timeout").as_duration();
    return options;
}

WaitPolicy wait_policy(const ParamRegistry& params, const Runtime& runtime) {
    enum Choice : std::size_t { automatic, yes };
    const std::size_t choice = params.at("wait_oversubscribed").as_enum();
    const bool oversubscribed = choice == automatic ? runtime.oversubscribed() : choice == yes;
    return WaitPolicy::make(params.at("wait_spin").as_duration(), params.at("wait_yield").as_duration(),
        params.at("wait_sleep").as_bool(), oversubscribed);
}

NodeSegmentOptions node_options(const ParamRegistry& params) {
    return {ShmBacking(params.at("shm_backing").as_enum()), params.at("shm_directory").as_string()};
}

// Selects the messages to keep for a later instance. A peer may use a communicator before this process has constructed
// it, and even while an earlier instance exists here. This cannot be so where the message carries an index that is the
// same in all processes: such a communicator is in use only after all members have allocated the index.
std::vector<pml::EarlyMessage> of_later_generations(std::vector<pml::EarlyMessage> messages) {
    std::erase_if(messages,
        [](const pml::EarlyMessage& message) { return message.index && *message.index > cid::IndexTable::bootstrap; });
    return messages;
}

} // namespace

Status InstanceBuilder::build() {
    using Step = Status (InstanceBuilder::*)();
    static constexpr struct {
        const char* name;
        Step act;
    } steps[] = {
        {"define the parameters", &InstanceBuilder::define_params},
        {"start the runtime", &InstanceBuilder::start_runtime},
        {"start the progress engine", &InstanceBuilder::start_progress},
        {"attach the node's shared memory", &InstanceBuilder::attach_node},
        {"choose the pml", &InstanceBuilder::choose_pml},
        {"prepare framework cid", &InstanceBuilder::prepare_cid},
        {"open framework coll", &InstanceBuilder::open_coll},
        {"prepare framework osc", &InstanceBuilder::prepare_osc},
        {"prepare framework chan", &InstanceBuilder::prepare_chan},
        {"make the process sets", &InstanceBuilder::make_psets},
        {"have the failures of other processes reported", &InstanceBuilder::watch_peers},
        {"open the bootstrap exchange", &InstanceBuilder::open_bootstrap},
    };
    for (const auto& step : steps) {
        if (Status done = _cleanup.step(
                step.name, [&] { return (this->*step.act)(); }, nullptr);
            !done) {
            return done;
        }
    }
    // Communicators use everything above, so that they are destroyed first.
    _cleanup.push([&instance = _instance] {
        if (instance._pml != nullptr) {
            instance.pml().drain(); // sends the messages that peers still wait for
            instance.partitioned().cancel_unmatched();
        }
        instance.channels().close();
        instance.constructions().clear();
        instance.bootstrap().close();
        while (!instance.progress().ready_list().empty()) {
            instance.progress().poll(); // retires complete requests, which refer to communicators
        }
        print_cid_stats(instance);
        destroy_windows(instance);
        destroy_all(instance);
        instance._thread_safe_leases.clear();
        instance.coll_selector().clear();
    });
    switch_checks_on();
    return _instance.core().report_unknown_params();
}

// What the program has not freed is reported before the library frees it.
void InstanceBuilder::switch_checks_on() {
    if (_checks.threads) {
        single_thread.fetch_or(threads_are_checked, std::memory_order_relaxed);
        _cleanup.push([] { single_thread.fetch_and(~threads_are_checked, std::memory_order_relaxed); });
    }
    if (_checks.of_messages()) {
        PartOfCall::switch_on(true);
        _cleanup.push([] { PartOfCall::switch_on(false); });
    }
    if (_checks.leaks) {
        Origins::switch_on();
        _cleanup.push([] {
            if (const std::string left = Origins::switch_off(); !left.empty()) {
                log_warn(left);
            }
        });
    }
}

Status InstanceBuilder::define_params() {
    if (Status defined = _instance.define_params(); !defined) {
        return defined;
    }
    auto checks = check::Checks::of(_instance.core().params);
    if (!checks) {
        return checks.error();
    }
    _checks = *checks;
    return {};
}

Status InstanceBuilder::start_runtime() {
    auto runtime = Runtime::create(runtime_options(_instance.core().params));
    if (!runtime) {
        return runtime.error();
    }
    Core& core = _instance.core();
    core.runtime = runtime->release();
    _instance._self = core.runtime->self();
    _instance._number_mask = core.runtime->jobs().nonce_of(own_job) & Instance::most_numbers;
    _cleanup.push([&core] {
        delete std::exchange(core.runtime, nullptr);
        set_log_rank(-1);
    });
    return {};
}

Status InstanceBuilder::start_progress() {
    Core& core = _instance.core();
    const bool threaded = _requested == MPI_THREAD_MULTIPLE;
    core.progress = new Progress(threaded, wait_policy(core.params, *core.runtime));
    if (core.progress->threaded()) {
        _instance.record_locking(true,
            threaded ? "the first user requested MPI_THREAD_MULTIPLE"
                     : "the kernel refuses membarrier(2), without which they cannot be turned on later");
    }
    core.runtime->set_wake([progress = core.progress] { progress->wake(); });
    _cleanup.push([&core, &instance = _instance] {
        instance._tool_sources.reset();
        instance.drop_tables();
        core.runtime->set_wake({});
        delete std::exchange(core.progress, nullptr);
    });
    _instance.make_tables(core.progress->threads());
    _instance._tool_sources = std::make_unique<ToolSources>(_instance);
    return {};
}

Status InstanceBuilder::attach_node() {
    Core& core = _instance.core();
    auto node = NodeSegment::attach(*core.runtime, node_options(core.params));
    if (!node) {
        return node.error();
    }
    core.node = node->release();
    NodeAllocations::get().attach(
        *core.node, core.params.at("shm_alloc_mem").as_size(), core.params.at("shm_alloc_mem_kept").as_size());
    core.progress->set_doorbell(&core.node->own_control().bell);
    core.progress->set_sleeps_fenced(core.progress->sleeps_are_fenced() && core.node->all_fenced());
    if (!core.progress->sleeps_are_fenced()) {
        core.decisions.record("progress", "job", "doorbell", Outcome::declined, 0,
            "the kernel refuses membarrier(2): long waits wake every millisecond instead of sleeping");
    }
    _cleanup.push([&core] {
        core.runtime->set_wake({}); // the wake function uses the doorbell of the segment that is about to be detached
        core.progress->set_doorbell(nullptr);
        NodeAllocations::get().detach();
        delete std::exchange(core.node, nullptr);
    });
    return {};
}

Capability InstanceBuilder::needed() const noexcept {
    return _requested == MPI_THREAD_MULTIPLE ? Capability::thread_multiple : Capability::none;
}

void InstanceBuilder::hold(Lease lease) {
    // The object in a std::function must be copyable; a lease is not.
    _cleanup.push([held = std::make_shared<Lease>(std::move(lease))] { held->release(); });
}

Status InstanceBuilder::open(FrameworkBase& framework) {
    auto lease = framework.open(_instance.core(), needed());
    if (!lease) {
        return lease.error();
    }
    hold(std::move(*lease));
    return {};
}

Status InstanceBuilder::choose_pml() {
    _cleanup.push([&instance = _instance] { instance.drop_transports(); }); // after all modules that use them
    Status chosen = choose_pml_that(needed());
    if (!chosen && chosen.error().code == Errc::not_available && needed() != Capability::none) {
        // MPI allows a lower thread level than the requested one; the program gets it in `provided`.
        log_warn_job(chosen.error().text + "; MPI_THREAD_MULTIPLE is not available, MPI_THREAD_SERIALIZED is");
        _requested = MPI_THREAD_SERIALIZED;
        chosen = choose_pml_that(Capability::none);
    }
    return chosen;
}

Status InstanceBuilder::choose_pml_that(Capability can) {
    auto lease = _instance.pml_framework().open(_instance.core(), can);
    if (!lease) {
        return lease.error();
    }
    auto chosen =
        _instance.pml_framework().select_one("job", [this](pml::Component& component) -> Result<Choice<pml::Module>> {
            auto candidate = component.query(_instance);
            if (!candidate) {
                return candidate.error();
            }
            return Choice<pml::Module>{candidate->priority, std::move(candidate->module)};
        });
    if (!chosen) {
        return chosen.error();
    }
    auto wrappers = _instance.pml_framework().wrap(
        "job", chosen->name, chosen->module, [this](pml::Component& component, std::unique_ptr<pml::Module>& module) {
            return component.wrap(_instance, module);
        });
    if (!wrappers) {
        return wrappers.error();
    }
    const auto buffers = std::make_shared<check::BufferCheck>(_checks.buffers);
    if (_checks.buffers) {
        if (Status guards = check::PageGuard::start(); !guards) {
            return guards;
        }
        _cleanup.push(&check::PageGuard::stop);
    }
    if (_checks.buffers || _checks.types) {
        auto checked = std::make_shared<check::PartitionedCheck>(_checks, buffers);
        _instance.partitioned().set_maker(checked.get());
        _cleanup.push([checked, &instance = _instance] { instance.partitioned().set_maker(nullptr); });
    }
    if (_checks.of_messages()) {
        check::check_messages(_checks, buffers, _instance.progress(), chosen->module);
        _instance.core().decisions.record(
            "pml", "job", "mpi_check", Outcome::wraps, 0, "stands before " + chosen->name);
    }
    _buffers = buffers;
    hold(std::move(*lease));
    _instance._pml = std::move(chosen->module);
    _instance._thread_level = has_all(chosen->component->capabilities() & *wrappers, Capability::thread_multiple)
        ? MPI_THREAD_MULTIPLE
        : MPI_THREAD_SERIALIZED;
    _instance.communicators().set_limit(_instance.pml().max_index());
    for (const pml::EarlyMessage& message : _instance.process_state().take_early_messages()) {
        _instance.pml().accept_early(message);
    }
    _cleanup.push([&instance = _instance] {
        instance.process_state().keep_early_messages(of_later_generations(instance.pml().take_early()));
        instance._pml.reset();
    });
    return {};
}

// Only constructors of communicators need a component, and the first one opens the framework. Where parameters of the
// framework have values it is opened here: MPI_Init reports a mistake in the list of components, and a component may
// need something from the first initialization on (cid/excid keeps the connection to the launcher for PMIx groups).
Status InstanceBuilder::prepare_cid() {
    _cleanup.push([&instance = _instance] { instance._cid_lease.release(); });
    const ParamRegistry& params = _instance.core().params;
    const bool given = !params.at("cid").is_default() || params.gives_any("cid_");
    return given ? _instance.open_cid(needed()) : Status();
}

Status InstanceBuilder::open_coll() {
    if (_checks.of_collectives()) {
        auto checked = std::make_shared<check::CollectiveCheck>(_checks, _buffers, _instance.progress());
        _instance._coll_engine.set_checker(checked.get());
        _instance._coll_selector.set_outermost(checked.get());
        _cleanup.push([checked, &instance = _instance]() mutable {
            instance._coll_engine.set_checker(nullptr);
            instance._coll_selector.set_outermost(nullptr);
            checked.reset();
        });
    }
    _instance._coll_engine.scratch_pool().set_limit(_instance.core().params.at("coll_scratch_limit").as_size());
    return open(_instance.coll_framework());
}

// The same for framework osc, which the first window opens.
Status InstanceBuilder::prepare_osc() {
    _cleanup.push([&instance = _instance] { instance._osc_lease.release(); });
    const ParamRegistry& params = _instance.core().params;
    if (_checks.of_windows()) {
        auto checked = std::make_shared<check::WindowCheck>(_checks, _buffers);
        _instance._osc_selector.set_outermost(checked.get());
        _cleanup.push([checked, &instance = _instance]() mutable {
            instance._osc_selector.set_outermost(nullptr);
            checked.reset();
        });
    }
    const bool given = !params.at("osc").is_default() || params.gives_any("osc_");
    return given ? _instance.open_osc() : Status();
}

// The same for framework chan, which the first channel opens.
Status InstanceBuilder::prepare_chan() {
    auto channels = std::make_shared<Channels>(_instance);
    _instance._channels = channels.get();
    _cleanup.push([channels, &instance = _instance]() mutable {
        instance._channels = nullptr;
        channels.reset();
        instance._chan_lease.release();
    });
    const ParamRegistry& params = _instance.core().params;
    const auto use = ChannelUse(params.at("coll_channels").as_enum());
    std::shared_ptr<CollectiveChannels> collective;
    if (use != ChannelUse::none) {
        collective = std::make_shared<CollectiveChannels>(*channels, use, params.at("coll_most_channels").as_int());
    }
    _instance._coll_engine.set_binder(collective.get());
    _cleanup.push([collective, &instance = _instance]() mutable {
        instance._coll_engine.set_binder(nullptr); // also ends its poller
        collective.reset();
    });
    // The checking mode watches the messages of the pml.
    const auto use_partitioned = ChannelUse(params.at("mpi_part_channels").as_enum());
    if (use_partitioned != ChannelUse::none && !_checks.of_messages()) {
        auto binder = std::make_shared<PartitionedChannels>(
            *channels, use_partitioned, params.at("mpi_part_most_channels").as_int());
        _instance.partitioned().set_binder(binder.get());
        _cleanup.push([binder, &instance = _instance]() mutable {
            instance.partitioned().set_binder(nullptr);
            binder.reset();
        });
    }
    const bool given = !params.at("chan").is_default() || params.gives_any("chan_");
    return given ? _instance.open_chan() : Status();
}

Status InstanceBuilder::make_psets() {
    Core& core = _instance.core();
    const Runtime& runtime = *core.runtime;
    _instance._psets = std::make_unique<pset::Sets>(_instance.pset_framework(), core, _instance,
        pset::Sets::Job{_instance.self(), runtime.size(), runtime.local_peers()});
    _cleanup.push([&instance = _instance] { instance._psets.reset(); });
    return {};
}

Status InstanceBuilder::open_bootstrap() {
    auto exchange = std::make_shared<BootstrapExchange>(_instance);
    auto constructions = std::make_shared<ConstructionQueue>(_instance);
    _instance._bootstrap = exchange.get();
    _instance._constructions = constructions.get();
    _cleanup.push([exchange, constructions, &instance = _instance]() mutable {
        instance._bootstrap = nullptr;
        instance._constructions = nullptr;
        exchange.reset();
        constructions.reset();
    });
    const auto size = int(_instance.runtime().size());
    Communicator* comm = nullptr;
    auto group = Group::range({0, 0}, size, _instance.self());
    if (make_bootstrap_communicator(_instance, std::move(group), &comm) != MPI_SUCCESS) {
        // The clean-up step that destroys communicators is not on the stack yet.
        destroy_all(_instance);
        return Error{Errc::not_available, "the communicator of the bootstrap exchange could not be made"};
    }
    exchange->open(*comm);
    return {};
}

Status InstanceBuilder::watch_peers() {
    _cleanup.push([&instance = _instance] { instance.stop_watching_peers(); });
    // Otherwise a failure ends the job, this process included.
    return _instance.runtime().has_survivors() ? _instance.watch_peers() : Status();
}

} // namespace patchbay
