// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/core_shares.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace patchbay::threads {

// Those of all threads.
class CoreShares {
public:
    // Never destroyed: a program may call MPI in its static destructors.
    static CoreShares& of_process() noexcept {
        static auto& shares = *new CoreShares;
        return shares;
    }

    void add(CoreShare& share) {
        cpu_set_t own;
        const bool is_known = sched_getaffinity(0, sizeof own, &own) == 0; // not more cores than the type has room for
        const std::lock_guard lock(_mutex);
        _shares.push_back(&share);
        if (_shares.size() == 1) {
            CPU_ZERO(&_affinity);
            _affinity_is_known = true;
        }
        CPU_OR(&_affinity, &_affinity, &own);
        _affinity_is_known = _affinity_is_known && is_known;
        share._progress.share_core(_too_many);
        update();
    }

    void remove(CoreShare& share) noexcept {
        const std::lock_guard lock(_mutex);
        std::erase(_shares, &share);
        update();
    }

    void expect(CoreShare& share, unsigned threads) noexcept {
        const std::lock_guard lock(_mutex);
        share._expected = std::max(share._expected, threads);
        update();
    }

private:
    // A process that is bound to one core has this one for all its threads; threads that the program has bound may have
    // a core each.
    bool are_too_many() const noexcept {
        auto threads = unsigned(_shares.size());
        auto cores = unsigned(-1);
        for (const CoreShare* share : _shares) {
            threads = std::max(threads, share->_expected);
            cores = std::min(cores, share->_cores);
        }
        return threads > cores || (_affinity_is_known && threads > unsigned(CPU_COUNT(&_affinity)));
    }

    void update() noexcept {
        if (const bool too_many = are_too_many(); too_many != _too_many) {
            _too_many = too_many;
            for (CoreShare* share : _shares) {
                share->_progress.share_core(too_many);
            }
        }
    }

    std::mutex _mutex;
    std::vector<CoreShare*> _shares;
    cpu_set_t _affinity{}; // the cores on which any of them may run, also of those that have gone, until all have
    bool _affinity_is_known = true;
    bool _too_many = false;
};

CoreShare::CoreShare(Progress& progress, unsigned cores, int threads)
    : _progress(progress),
      _cores(cores),
      _expected(unsigned(threads)) {
    CoreShares::of_process().add(*this);
}

CoreShare::~CoreShare() {
    CoreShares::of_process().remove(*this);
}

void CoreShare::expect(int threads) noexcept {
    CoreShares::of_process().expect(*this, unsigned(threads));
}

} // namespace patchbay::threads
