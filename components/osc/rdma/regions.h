// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/control_block.h"
#include "components/osc/rdma/members.h"
#include "components/osc/rdma/transfer.h"
#include "core/progress/lock.h"
#include "frameworks/osc/memory.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace patchbay::osc::rdma {

// A region of a dynamic window as the table of its owner has it: in words, which origins copy while the owner may
// change them. One key follows for each of the owner's modules.
struct RegionWords {
    static constexpr std::size_t key_words = sizeof(btl::RemoteKey) / sizeof(std::uint64_t);
    static constexpr std::size_t fixed_words = 2; // address and bytes
    static constexpr std::size_t count(std::size_t modules) noexcept { return fixed_words + modules * key_words; }
};

// The regions that this process has attached, and the table in which origins find them. A change makes the version odd,
// changes the table, and makes the version even again. A larger table is another block of memory; the former ones
// remain until the end, because origins may still read there. Thread-safe.
class OwnRegions {
public:
    OwnRegions(Members& members, NodeSegment* segment, Progress& progress)
        : _members(members),
          _segment(segment),
          _lock(progress.threads()) {}

    // As osc::Module.
    int attach(void* base, std::uint64_t bytes) noexcept;
    int detach(void* base) noexcept;
    // Other members may still read the tables when this object has gone.
    void keep_tables() noexcept;
    // Whether [place, place + bytes) is in one region, or in regions that lie side by side.
    bool contains(std::uint64_t place, std::uint64_t bytes) noexcept;
    // The same for a poller, which does not wait: false also where another thread changes the regions. (The thread that
    // does so does not poll meanwhile.)
    bool contains_now(std::uint64_t place, std::uint64_t bytes) noexcept;
    // Stores the text for an operation that is in none. MPI_ERR_RMA_RANGE.
    int report_outside(std::uint64_t place, std::uint64_t bytes) noexcept;

private:
    struct Region {
        std::uint64_t bytes = 0;
        Registration keys;
    };
    struct Table {
        std::unique_ptr<Memory> memory;
        std::size_t capacity = 0; // regions
        Registration keys;
    };
    // What origins see as one region: one that is attached, or several that lie side by side, because an operation may
    // extend over these. Then it has keys of its own.
    struct Run {
        std::uint64_t address;
        std::uint64_t bytes;
        const Registration* keys;
    };
    // `merged` gets those keys, to which the runs refer.
    bool has_range(std::uint64_t place, std::uint64_t bytes) const noexcept;
    Result<std::vector<Run>> make_runs(std::vector<Registration>& merged) const;
    Status publish();
    Status grow();
    Words& words() noexcept { return _members.words(); }

    Members& _members;
    NodeSegment* const _segment;
    ProgressLock _lock;
    std::map<std::uint64_t, Region> _regions; // by address
    std::vector<Registration> _merged;        // of the runs that consist of several regions
    std::vector<Table> _tables;               // the last one is in use
    std::uint64_t _version = 0;
};

// What this process knows of the regions of the other members. Thread-safe.
class PeerRegions {
public:
    PeerRegions(Members& members, Progress& progress, const Failures& failures, int size)
        : _members(members),
          _progress(progress),
          _failures(failures),
          _lock(progress.threads()),
          _caches(std::size_t(size)) {}

    // The region in which [place, place + bytes) is, of another member. MPI_ERR_RMA_RANGE: there is none.
    int find(int member, std::uint64_t place, std::uint64_t bytes, Reach& reach) noexcept;

private:
    struct Region {
        std::uint64_t address;
        std::uint64_t bytes;
        btl::RemoteKey key;
        std::byte* mapped;
    };
    struct Cache {
        std::uint64_t version = 0;   // of the table; 0: nothing has been attached
        std::vector<Region> regions; // by address
    };
    int refresh(int member, Cache& cache) noexcept;
    int try_read(int member, std::uint64_t& version, std::vector<std::uint64_t>& table, bool* whole);
    int copy_table(int member, const btl::RemoteKey& key, std::vector<std::uint64_t>& table) noexcept;
    std::vector<Region> parse(int member, const std::vector<std::uint64_t>& table);

    Members& _members;
    Progress& _progress;
    const Failures& _failures;
    ProgressLock _lock;
    std::vector<Cache> _caches;
};

} // namespace patchbay::osc::rdma
