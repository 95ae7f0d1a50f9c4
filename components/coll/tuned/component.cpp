// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/pair.h"
#include "components/coll/tuned/tuned.h"
#include "core/base/install_prefix.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/log.h"
#include "core/runtime/runtime.h"

#include <bit>

namespace patchbay::coll::tuned {

namespace {

constexpr ParamSpec algorithm_param(const char* name, Function function, const char* help) {
    return {name, ParamType::enumeration, "table", help, algorithm_choices(function), ParamLevel::tuner_basic};
}

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "40", "how much this component wants to serve a communicator", "0..100"},
    {"table", ParamType::string, "",
        "file of the decision table; empty: the built-in one, of which share/patchbay/coll_tuned.json is a copy",
        nullptr, ParamLevel::tuner_basic},
    {"segment", ParamType::size, "64KiB",
        "bytes of one message where a parameter coll_tuned_<function> chooses the algorithm; the table has its own",
        nullptr, ParamLevel::tuner_detail},
    {"radix", ParamType::enumeration, "2",
        "radix of doubling in MPI_Allreduce and of bruck in MPI_Alltoall, where coll_tuned_allreduce or "
        "coll_tuned_alltoall is that; the table has its own",
        "2,4,8,16,32,64", ParamLevel::tuner_detail},
    algorithm_param("bcast", Function::bcast, "algorithm of MPI_Bcast"),
    algorithm_param("gather", Function::gather, "algorithm of MPI_Gather"),
    algorithm_param("scatter", Function::scatter, "algorithm of MPI_Scatter"),
    algorithm_param("allgather", Function::allgather, "algorithm of MPI_Allgather"),
    algorithm_param("alltoall", Function::alltoall, "algorithm of MPI_Alltoall"),
    algorithm_param("reduce", Function::reduce, "algorithm of MPI_Reduce"),
    algorithm_param("allreduce", Function::allreduce, "algorithm of MPI_Allreduce"),
    algorithm_param("scan", Function::scan, "algorithm of MPI_Scan"),
    algorithm_param("exscan", Function::exscan, "algorithm of MPI_Exscan"),
};

class TunedComponent final : public Component {
public:
    Status open(Core& core) override {
        const ParamRegistry& registry = core.params;
        _priority = int(registry.at("coll_tuned_priority").as_int());
        const std::string& file = registry.at("coll_tuned_table").as_string();
        if (!file.empty()) {
            auto table = Table::read(file);
            if (!table) {
                log_warn_job(table.error().text + "; component tuned of framework coll is not used");
                return Error{Errc::not_available, table.error().text};
            }
            _table = std::move(*table);
        }
        read_forced(registry);
        // With several nodes the number of cores differs, and members would choose different algorithms.
        const Runtime* runtime = core.runtime;
        _shared_cores = runtime != nullptr && runtime->oversubscribed() && runtime->local_size() == runtime->size();
        if (core.decisions.enabled()) {
            explain(core.decisions, file);
        }
        _chosen.open(core.tool);
        return {};
    }
    void close() noexcept override { _chosen.close(); }

    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_network;
    }

    Result<Candidate> query(Query& query) override {
        if (query.comm.is_inter) {
            return query.refuse_all("serves intracommunicators only");
        }
        if (query.comm.size == 1) {
            return query.refuse_all("serves communicators of several processes only");
        }
        return unless_out_of_memory([&]() -> Result<Candidate> {
            // Members know this of their own jobs only, and must choose alike.
            const bool shared_cores = _shared_cores && !query.comm.group->has_other_jobs();
            return Candidate{_priority,
                std::make_unique<TunedModule>(settings_for(query.comm.size, shared_cores), query.below, _chosen), true,
                true};
        });
    }

private:
    void read_forced(const ParamRegistry& registry) {
        for (std::size_t f = 0; f < function_count; ++f) {
            if (!served.has(Function(f))) {
                continue;
            }
            const Param& param = registry.at(std::string("coll_tuned_") + function_name(Function(f)));
            if (param.as_enum() != 0) {
                const auto algorithm = algorithm_of(param.choices()[param.as_enum()]);
                _forced[f] = Choice{*algorithm, registry.at("coll_tuned_segment").as_size(),
                    2 << registry.at("coll_tuned_radix").as_enum()};
            }
        }
    }

    static bool admits(const Rule& rule, int ranks, bool shared_cores) noexcept {
        return ranks >= rule.least_ranks && ranks <= rule.most_ranks &&
            rule.power_of_two.value_or(std::has_single_bit(unsigned(ranks))) == std::has_single_bit(unsigned(ranks)) &&
            rule.shared_cores.value_or(shared_cores) == shared_cores;
    }

    std::shared_ptr<const Settings> settings_for(int ranks, bool shared_cores) const {
        auto settings = std::make_shared<Settings>();
        settings->ranks = ranks;
        settings->forced = _forced;
        for (const Rule& rule : _table.rules()) {
            if (admits(rule, ranks, shared_cores)) {
                settings->decisions[std::size_t(rule.function)].add(rule);
            }
        }
        for (std::size_t f = 0; ranks == 2 && f < function_count; ++f) {
            settings->pair_below[f] = _forced[f] ? 0 : pair::limit(Function(f), settings->decisions[f]);
        }
        return settings;
    }

    void explain(DecisionLog& log, const std::string& file) const {
        const std::string origin = file.empty()
            ? "built in; a copy is " + install_prefix() + "/share/patchbay/coll_tuned.json"
            : "read from " + file;
        log.record("coll", "decision table", "tuned", Outcome::chosen, 0, origin);
        for (const Rule& rule : _table.rules()) {
            log.record("coll", "decision table", "tuned", Outcome::chosen, 0,
                std::string(function_name(rule.function)) + ", " + describe_conditions(rule) + ": " +
                    describe_choice(rule.choice));
        }
    }

    ChosenAlgorithms _chosen;
    Table _table;
    std::array<std::optional<Choice>, function_count> _forced;
    int _priority = 0;
    bool _shared_cores = false;
};

} // namespace

} // namespace patchbay::coll::tuned

PATCHBAY_COMPONENT =
    patchbay::describe<patchbay::coll::tuned::TunedComponent>("coll", patchbay::coll::interface_version, "tuned",
        "1.0.0", "algorithms by number of ranks and bytes, from a decision table", patchbay::coll::tuned::params,
        patchbay::ToolTables(patchbay::coll::tuned::tool_variables));
