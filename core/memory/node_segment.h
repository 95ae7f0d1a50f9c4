// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/memory/shared_heap.h"
#include "core/param/spec.h"
#include "core/progress/doorbell.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

class Runtime;

// Parameters of the node segment; their full names are shm_<name>.
inline constexpr ParamSpec shm_params[] = {
    {"backing", ParamType::enumeration, "auto",
        "what holds the memory shared by the processes of a node: memfd has no name and cannot be left behind, file is "
        "a "
        "file in shm_directory that is unlinked as soon as every local rank has opened it",
        "auto,memfd,file", ParamLevel::user_detail, ParamScope::all_equal},
    {"directory", ParamType::string, "/dev/shm", "directory of the file when shm_backing is file", nullptr,
        ParamLevel::user_detail, ParamScope::all_equal},
    {"alloc_mem", ParamType::size, "1GiB",
        "MPI_Alloc_mem takes blocks from 4KiB up to this size from the memory that the processes of the node share, so "
        "that channels and windows write to them without a copy in between; 0: none",
        nullptr, ParamLevel::user_basic},
    {"alloc_mem_kept", ParamType::size, "16MiB",
        "of the blocks that MPI_Free_mem frees, a process keeps up to so many bytes for its next calls of "
        "MPI_Alloc_mem, because taking memory from the system is slow; 0: none",
        nullptr, ParamLevel::user_detail},
};

enum class ShmBacking : std::uint8_t { automatic, memfd, file };

struct NodeSegmentOptions {
    ShmBacking backing = ShmBacking::automatic;
    std::string directory = "/dev/shm";
};

// The environment variable by which mpirun hands the segment to its ranks (announced_descriptor.h): an empty memfd
// (size 0, made with memfd_create, inherited by every local rank). The first rank that maps it writes the header.
inline constexpr char node_segment_variable[] = "PATCHBAY_NODE_SEGMENT";

// Which process a slot belongs to: `job` names the job among all jobs whose processes may attach, `rank` is the rank in
// it.
struct SlotKey {
    std::uint64_t job = 0;
    std::uint32_t rank = 0;
    bool operator==(const SlotKey&) const = default;
};

// A process's slot of the segment. Its number is the same in all processes.
struct alignas(64) RankControl {
    Doorbell bell;
    std::atomic<std::uint32_t> attached; // 1 while the process has the segment mapped
    std::atomic<std::uint32_t> unfenced; // 1: its kernel refuses membarrier, so it may miss a raised flag
    std::atomic<std::int32_t> pid;       // 0 until the process has attached for the first time
    std::atomic<std::uint32_t> allotted; // 1: to the process `key`
    SlotKey key;
};
static_assert(sizeof(RankControl) == 128);

// A piece of the segment, mapped at different addresses in different processes.
struct NodeRegion {
    std::span<std::byte> bytes; // zero until a process writes; untouched pages cost nothing
    SharedAddress address = 0;  // for every process of the segment
};

// The memory that processes on this node share: a heap that grows, regions of it that have a name, and a slot for each
// process. What a process wrote stays when it detaches and attaches again (a second MPI_Init), because its peers may
// still be attached: code that keeps state here must be able to continue from it. No process that fails, whenever that
// is, leaves it in a state in which others cannot go on.
class NodeSegment {
public:
    static constexpr std::uint32_t no_slot = SharedHeap::no_owner;
    static constexpr std::uint32_t most_slots = 16384;

    // By the way the job was started: inherited from our mpirun, a memfd of local rank 0 that the others open through
    // /proc (its pid and descriptor number travel by PMIx), a named file, or private memory when local_size is 1.
    // Blocks until local rank 0 has made it. Errors: system (text names call, size, remedy), invalid (the peers run
    // another version of this library).
    static Result<std::unique_ptr<NodeSegment>> attach(Runtime& runtime, const NodeSegmentOptions& options);

    // The piece below attach(): maps what `fd` refers to; keeps a duplicate. The first one to come writes the header.
    // `expected`: how many processes the starter knows of; more may attach at any time. `for_all_jobs`: see below.
    static Result<std::unique_ptr<NodeSegment>> attach_fd(
        int fd, SlotKey self, std::uint32_t expected, bool for_all_jobs = false);
    static Result<std::unique_ptr<NodeSegment>> create_private();

    ~NodeSegment();
    NodeSegment(const NodeSegment&) = delete;
    NodeSegment& operator=(const NodeSegment&) = delete;

    // Names this segment among all others on this node; an address in it means something only together with this.
    std::uint64_t id() const noexcept;
    SharedHeap& heap() noexcept { return *_heap; }

    // Slots. One is allotted when a process attaches, or earlier, when a peer wants to send to it.
    std::uint32_t slot() const noexcept { return _slot; }
    SlotKey self() const noexcept { return _self; }
    std::uint32_t expected() const noexcept { return _expected; }
    // Whether the processes of other jobs of the same launcher on this node attach to this segment, too.
    bool is_for_all_jobs() const noexcept { return _for_all_jobs; }
    // Slots with a number below this have been in use.
    std::uint32_t slots() const noexcept;
    // The slot of that process, which is allotted now if need be. Errors: those of the heap.
    Result<std::uint32_t> slot_of(SlotKey process);
    // `slot` comes from slot_of() or slot() of this object.
    RankControl& control(std::uint32_t slot) noexcept {
        return _tables[slot / slots_per_table].load(std::memory_order_acquire)[slot % slots_per_table];
    }
    // Any slot below slots(); nullptr: it cannot be mapped (the address space is used up).
    RankControl* find_control(std::uint32_t slot) noexcept;
    RankControl& own_control() noexcept { return *_own; }
    // The process has ended and will not attach again: its regions and blocks are freed, and the slot is for the next
    // process. To be called once no process uses what was in them.
    void release(std::uint32_t slot) noexcept;
    // The same if `of` still has the slot, and `is_unused` says so, which is asked at a time at which slot_of() gives
    // the slot to nobody. false: it stays.
    bool release_if(std::uint32_t slot, const SlotKey& of, const std::function<bool()>& is_unused) noexcept;
    // Whether every process that has attached so far can be reached by membarrier.
    bool all_fenced() noexcept;
    // Processes that have attached so far, whether or not they still are.
    std::uint32_t arrived() noexcept;

    // The region called `name` (at most 31 characters), `bytes` long (its size in all, rounded up to pages), the same
    // for every process; the first process to call makes it. `of`: the slot that it belongs to, each of which may have
    // one of that name; no_slot: one for all. Its memory is taken by commit(). `settings` are the parameters that the
    // size follows from ("btl_sm_slots=64 btl_sm_slot_size=64", at most 127 characters): if two processes ask for
    // different sizes or settings, the second one gets Errc::invalid with both texts. Out of memory: as
    // SharedHeap::alloc.
    Result<NodeRegion> region(
        std::string_view name, std::size_t bytes, std::string_view settings, std::uint32_t of = no_slot);
    // Frees the region of that name; none: nothing happens. No process may use it any more.
    void remove_region(std::string_view name, std::uint32_t of = no_slot) noexcept;

    // Calls `make` unless a process has done so before with success, for what lies in a region at `done`, which begins
    // as 0; a process that fails in `make` has not done it. `make` must not call this object.
    Status once(std::atomic<std::uint32_t>& done, const std::function<Status()>& make);

    // Takes memory for [offset, offset+length) of the region, so that touching it cannot raise SIGBUS. Call it once
    // before the first touch of a piece, from any of the processes. Errc::out_of_memory names size, need and remedy.
    Status commit(const NodeRegion& region, std::size_t offset, std::size_t length);

private:
    static constexpr std::uint32_t slots_per_table = 64;
    static constexpr std::uint32_t most_tables = most_slots / slots_per_table;
    struct Header;
    struct Name;
    NodeSegment() = default;
    Status map_start(SlotKey self, std::uint32_t expected);
    Status check_or_write_header();
    Status write_header();
    Status take_slot();
    Result<RankControl*> table_for(std::uint32_t slot);
    Result<RankControl*> add_table(std::uint32_t table);
    Name* name_at(SharedAddress address) noexcept;
    void release_locked(std::uint32_t slot, RankControl& released) noexcept;
    // The link that refers to the record of this name; it is 0 where there is none.
    std::atomic<SharedAddress>* find_name(std::string_view name, std::uint32_t of) noexcept;
    Result<NodeRegion> make_region(std::atomic<SharedAddress>& link, std::string_view name, std::size_t bytes,
        std::string_view settings, std::uint32_t of);
    void unlink(std::atomic<SharedAddress>& link) noexcept;

    int _fd = -1; // -1: private memory
    SlotKey _self;
    std::uint32_t _slot = 0;
    std::uint32_t _expected = 1;
    bool _for_all_jobs = false;
    std::byte* _start = nullptr;
    Header* _header = nullptr;
    RankControl* _own = nullptr;
    std::unique_ptr<SharedHeap> _heap;
    std::array<std::atomic<RankControl*>, most_tables> _tables{};
};

} // namespace patchbay
