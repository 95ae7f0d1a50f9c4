// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/rma/plan.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

// Carries the plan out on one rank with MPI, and compares.

class Runner {
public:
    Runner(Plan& plan, MPI_Comm comm, std::uint64_t seed)
        : _plan(plan),
          _comm(comm),
          _random(seed) {
        MPI_Comm_rank(comm, &_rank);
        MPI_Comm_size(comm, &_ranks);
        MPI_Comm_group(comm, &_group);
        create();
    }
    ~Runner() {
        if (_plan.shape.flavor == MPI_WIN_FLAVOR_DYNAMIC) {
            for (const std::int64_t region : own_regions()) {
                MPI_Win_detach(_window, _base + region);
            }
        }
        MPI_Win_free(&_window);
        MPI_Group_free(&_group);
        std::free(_allocated);
    }
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    // False after the first difference, which is printed.
    bool step() {
        _plan.next_step();
        own_access([this] {
            if (own_bytes() > 0) {
                std::memcpy(_base, _plan.before[std::size_t(_rank)].data(), own_bytes());
            }
        });
        for (const Action& action : _plan.actions[std::size_t(_rank)]) {
            take(action);
        }
        completed(-1);
        if (_plan.passive) {
            MPI_Barrier(_comm);
        }
        own_access([this] { compare_window(); });
        return _right;
    }

private:
    struct Pending {
        const Operation* operation;
        int number;
        std::unique_ptr<Type> origin_type, result_type, target_type;
        Memory origin, result, wanted, compare;
        MPI_Request request = MPI_REQUEST_NULL;
        bool done = false;
    };

    std::size_t own_bytes() const { return std::size_t(_plan.shape.bytes[std::size_t(_rank)]); }
    const std::vector<std::int64_t>& own_regions() const { return _plan.shape.regions[std::size_t(_rank)]; }

    void create() {
        const Shape& shape = _plan.shape;
        const MPI_Aint bytes = MPI_Aint(own_bytes());
        const int unit = shape.units[std::size_t(_rank)];
        MPI_Info info;
        MPI_Info_create(&info);
        if (shape.no_locks) {
            MPI_Info_set(info, "no_locks", "true");
        }
        if (shape.ordering_stated) {
            MPI_Info_set(info, "accumulate_ordering", "rar,raw,war,waw");
        }
        switch (shape.flavor) {
        case MPI_WIN_FLAVOR_ALLOCATE:
            MPI_Win_allocate(bytes, unit, info, _comm, &_base, &_window);
            break;
        case MPI_WIN_FLAVOR_SHARED:
            MPI_Win_allocate_shared(bytes, unit, info, _comm, &_base, &_window);
            break;
        case MPI_WIN_FLAVOR_DYNAMIC:
            _allocated = _base = static_cast<unsigned char*>(std::malloc(own_bytes() + 1));
            MPI_Win_create_dynamic(info, _comm, &_window);
            attach();
            break;
        default:
            _allocated = _base = static_cast<unsigned char*>(std::malloc(own_bytes() + 1));
            MPI_Win_create(_base, bytes, unit, info, _comm, &_window);
        }
        MPI_Info_free(&info);
    }
    void attach() {
        const std::vector<std::int64_t>& regions = own_regions();
        for (std::size_t i = 0; i < regions.size(); ++i) {
            const std::int64_t end = i + 1 < regions.size() ? regions[i + 1] : std::int64_t(own_bytes());
            MPI_Win_attach(_window, _base + regions[i], MPI_Aint(end - regions[i]));
        }
        MPI_Aint mine;
        MPI_Get_address(_base, &mine);
        _bases.resize(std::size_t(_ranks));
        MPI_Allgather(&mine, 1, MPI_AINT, _bases.data(), 1, MPI_AINT, _comm);
    }
    // Loads and stores of this process, while no other one uses the window.
    void own_access(const std::function<void()>& access) {
        MPI_Barrier(_comm);
        const bool lock = _plan.passive;
        if (lock) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, _rank, 0, _window);
        }
        access();
        if (lock) {
            MPI_Win_unlock(_rank, _window);
        }
        MPI_Barrier(_comm);
    }
    void compare_window() {
        const Memory& wanted = _plan.memory[std::size_t(_rank)];
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (_base[i] != wanted[i]) {
                std::fprintf(stderr, "rank %d, %s: byte %zu of its window is %d, not %d\n", _rank, _plan.name.c_str(),
                    i, _base[i], wanted[i]);
                show_operations(_rank, std::int64_t(i));
                _right = false;
                return;
            }
        }
    }
    void show_operations(int target, std::int64_t byte) const {
        for (std::size_t i = 0; i < _plan.operations.size(); ++i) {
            const Operation& one = _plan.operations[i];
            if (one.target == target && one.place <= byte && byte < one.place + one.target_layout.span) {
                show(one, int(i));
            }
        }
    }
    void show(const Operation& one, int number) const {
        std::fprintf(stderr,
            "  operation %d: %s of rank %d at byte %lld of rank %d: %d of %s, %s, forms %d %d %d%s%s\n", number,
            name_of(one.call), one.origin, static_cast<long long>(one.place), one.target, one.target_layout.elements,
            one.target_layout.basic->name, name_of(one.update), int(one.origin_layout.form),
            int(one.result_layout.form), int(one.target_layout.form), one.request ? ", with a request" : "",
            one.large_count ? ", large count" : "");
    }

    MPI_Group group_of(const std::vector<int>& ranks) {
        MPI_Group group;
        MPI_Group_incl(_group, int(ranks.size()), ranks.data(), &group);
        return group;
    }
    void take(const Action& action) {
        switch (action.act) {
        case Act::operation:
            issue(_plan.operations[std::size_t(action.number)], action.number);
            return;
        case Act::barrier:
            MPI_Barrier(_comm);
            return;
        case Act::fence:
            MPI_Win_fence(action.assertion, _window);
            return completed(-1);
        case Act::post:
        case Act::start: {
            MPI_Group group = group_of(action.group);
            (action.act == Act::post ? MPI_Win_post : MPI_Win_start)(group, action.assertion, _window);
            MPI_Group_free(&group);
            return;
        }
        case Act::complete:
            MPI_Win_complete(_window);
            return completed(-1);
        case Act::wait:
            MPI_Win_wait(_window);
            return;
        case Act::test:
            for (int done = 0; !done;) {
                MPI_Win_test(_window, &done);
            }
            return;
        case Act::lock:
            MPI_Win_lock(
                action.exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, action.number, action.assertion, _window);
            return;
        case Act::unlock:
            MPI_Win_unlock(action.number, _window);
            return completed(action.number);
        case Act::lock_all:
            MPI_Win_lock_all(action.assertion, _window);
            return;
        case Act::unlock_all:
            MPI_Win_unlock_all(_window);
            return completed(-1);
        case Act::flush:
            MPI_Win_flush(action.number, _window);
            return completed(action.number);
        case Act::flush_local:
            MPI_Win_flush_local(action.number, _window);
            return completed(action.number);
        case Act::flush_all:
            MPI_Win_flush_all(_window);
            return completed(-1);
        case Act::flush_local_all:
            MPI_Win_flush_local_all(_window);
            return completed(-1);
        case Act::sync:
            MPI_Win_sync(_window);
            return;
        }
    }

    // The operations to a target, or to all, are complete at the origin: their results are there, and their buffers may
    // be used for something else.
    void completed(int target) {
        for (Pending& one : _pending) {
            if (target < 0 || one.operation->target == target) {
                if (one.request != MPI_REQUEST_NULL) {
                    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
                }
                finish(one);
            }
        }
        _pending.erase(std::remove_if(_pending.begin(), _pending.end(), [](const Pending& one) { return one.done; }),
            _pending.end());
    }
    void finish(Pending& one) {
        one.done = true;
        std::fill(one.origin.begin(), one.origin.end(), 0xee);
        const Operation& operation = *one.operation;
        if (!operation.returns_data() || !operation.checked || one.result == one.wanted) {
            return;
        }
        std::size_t at = 0;
        while (one.result[at] == one.wanted[at]) {
            ++at;
        }
        std::fprintf(stderr, "rank %d, %s: byte %zu of the result is %d, not %d\n", _rank, _plan.name.c_str(), at,
            one.result[at], one.wanted[at]);
        show(operation, one.number);
        show_operations(operation.target, operation.place);
        _right = false;
    }

    static constexpr unsigned char unused = 0xa5;

    void issue(const Operation& operation, int number) {
        if (_random.one_in(12)) {
            issue_nothing(operation.target);
        }
        Pending one;
        one.operation = &operation;
        one.number = number;
        one.origin.assign(std::size_t(operation.origin_layout.span), unused);
        scatter(operation.data, one.origin.data(), operation.origin_layout);
        one.result.assign(std::size_t(operation.result_layout.span), unused);
        one.wanted = one.result;
        if (operation.returns_data()) {
            scatter(operation.result, one.wanted.data(), operation.result_layout);
        }
        one.compare = operation.compare;
        one.origin_type = std::make_unique<Type>(operation.origin_layout);
        one.result_type = std::make_unique<Type>(operation.result_layout);
        one.target_type = std::make_unique<Type>(operation.target_layout);
        call(one);
        if (operation.free_type) {
            one.origin_type->release();
            one.result_type->release();
            one.target_type->release();
        }
        if (operation.request && operation.wait_at_once) {
            MPI_Wait(&one.request, MPI_STATUS_IGNORE);
            finish(one);
        } else {
            _pending.push_back(std::move(one));
        }
    }
    void issue_nothing(int target) {
        int unused_int = 0;
        MPI_Put(&unused_int, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, _window);
        MPI_Get(&unused_int, 0, MPI_INT, target, 0, 0, MPI_INT, _window);
        MPI_Accumulate(&unused_int, 0, MPI_INT, target, 0, 0, MPI_INT, MPI_SUM, _window);
    }
    MPI_Aint displacement(const Operation& operation) const {
        const MPI_Aint place = MPI_Aint(operation.place + operation.target_layout.shift);
        return _plan.shape.flavor == MPI_WIN_FLAVOR_DYNAMIC ? MPI_Aint_add(_bases[std::size_t(operation.target)], place)
                                                            : place / _plan.shape.units[std::size_t(operation.target)];
    }
    void call(Pending& one) {
        const Operation& operation = *one.operation;
        const MPI_Aint at = displacement(operation);
        const MPI_Op op = op_of(operation.update, *operation.target_layout.basic);
        const MPI_Datatype basic = operation.target_layout.basic->type;
        const int target = operation.target;
        if (operation.call == Call::fetch_and_op) {
            MPI_Fetch_and_op(one.origin.data(), one.result.data(), basic, target, at, op, _window);
        } else if (operation.call == Call::compare_and_swap) {
            MPI_Compare_and_swap(one.origin.data(), one.compare.data(), one.result.data(), basic, target, at, _window);
        } else if (operation.large_count) {
#if MPI_VERSION >= 4
            call_large(one, at, op);
#else
            call_with_counts(one, at, op);
#endif
        } else {
            call_with_counts(one, at, op);
        }
    }

#define RMA_CALLS(suffix)                                                                                              \
    const Operation& operation = *one.operation;                                                                       \
    const Type &from = *one.origin_type, &to = *one.target_type, &back = *one.result_type;                             \
    const int target = operation.target;                                                                               \
    unsigned char* const origin = one.origin.data() + operation.origin_layout.shift;                                   \
    unsigned char* const result = one.result.data() + operation.result_layout.shift;                                   \
    MPI_Request* const request = &one.request;                                                                         \
    const bool with_request = operation.request;                                                                       \
    switch (operation.call) {                                                                                          \
    case Call::put:                                                                                                    \
        with_request                                                                                                   \
            ? MPI_Rput##suffix(origin, from.count, from.type, target, at, to.count, to.type, _window, request)         \
            : MPI_Put##suffix(origin, from.count, from.type, target, at, to.count, to.type, _window);                  \
        return;                                                                                                        \
    case Call::get:                                                                                                    \
        with_request                                                                                                   \
            ? MPI_Rget##suffix(result, back.count, back.type, target, at, to.count, to.type, _window, request)         \
            : MPI_Get##suffix(result, back.count, back.type, target, at, to.count, to.type, _window);                  \
        return;                                                                                                        \
    case Call::accumulate:                                                                                             \
        with_request                                                                                                   \
            ? MPI_Raccumulate##suffix(                                                                                 \
                  origin, from.count, from.type, target, at, to.count, to.type, op, _window, request)                  \
            : MPI_Accumulate##suffix(origin, from.count, from.type, target, at, to.count, to.type, op, _window);       \
        return;                                                                                                        \
    default:                                                                                                           \
        with_request ? MPI_Rget_accumulate##suffix(origin, from.count, from.type, result, back.count, back.type,       \
                           target, at, to.count, to.type, op, _window, request)                                        \
                     : MPI_Get_accumulate##suffix(origin, from.count, from.type, result, back.count, back.type,        \
                           target, at, to.count, to.type, op, _window);                                                \
    }

    void call_with_counts(Pending& one, MPI_Aint at, MPI_Op op) {
        RMA_CALLS()
    }
#if MPI_VERSION >= 4
    void call_large(Pending& one, MPI_Aint at, MPI_Op op){RMA_CALLS(_c)}
#endif
#undef RMA_CALLS

    Plan& _plan;
    MPI_Comm _comm;
    Random _random;
    int _rank = 0, _ranks = 1;
    MPI_Group _group = MPI_GROUP_NULL;
    MPI_Win _window = MPI_WIN_NULL;
    unsigned char* _base = nullptr;
    unsigned char* _allocated = nullptr;
    std::vector<MPI_Aint> _bases;
    std::vector<Pending> _pending;
    bool _right = true;
};
