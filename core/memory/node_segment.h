// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/param/spec.h"
#include "core/progress/doorbell.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
};

enum class ShmBacking : std::uint8_t { automatic, memfd, file };

struct NodeSegmentOptions {
    ShmBacking backing = ShmBacking::automatic;
    std::string directory = "/dev/shm";
};

// The environment variable by which mpirun hands the segment to its ranks: "fd=<n>", an empty memfd (size 0, made with
// memfd_create, inherited by every local rank). The first rank that maps it writes the header.
inline constexpr char node_segment_variable[] = "PATCHBAY_NODE_SEGMENT";

struct alignas(64) ControlLine {
    std::byte bytes[64];
};

// One per local rank, at the start of the segment.
struct alignas(64) RankControl {
    static constexpr unsigned line_count = 14;
    Doorbell bell;
    std::atomic<std::uint32_t> attached;       // 1 while the rank has the segment mapped
    std::atomic<std::uint32_t> unfenced;       // 1: its kernel refuses membarrier, so it may miss a raised flag
    std::atomic<std::int32_t> pid;             // 0 until the rank has attached for the first time
    alignas(64) ControlLine lines[line_count]; // given out by NodeSegment::reserve_lines
};
static_assert(sizeof(RankControl) == 1024);

// A piece of the segment, mapped at different addresses in different processes.
struct NodeRegion {
    std::span<std::byte> bytes; // zero until a process writes; untouched pages cost nothing
    std::uint64_t offset = 0;   // from the start of the segment
};

// The memory that all processes of the job on this node share. Sparse: mapping costs address space, memory is taken by
// the page when it is committed. What a process wrote stays when it detaches and attaches again (a second MPI_Init),
// because its peers may still be attached: code that keeps state here must be able to continue from it.
class NodeSegment {
public:
    // By the way the job was started: inherited from our mpirun, a memfd of local rank 0 that the others open through
    // /proc (its pid and descriptor number travel by PMIx), a named file, or private memory when local_size is 1.
    // Blocks until local rank 0 has made it. Errors: system (text names call, size, remedy), timed_out, invalid (the
    // peers run another version of this library).
    static Result<std::unique_ptr<NodeSegment>> attach(Runtime& runtime, const NodeSegmentOptions& options);

    // The piece below attach(): maps what `fd` refers to; keeps a duplicate. The first one to come writes the header.
    static Result<std::unique_ptr<NodeSegment>> attach_fd(int fd, std::uint32_t local_rank, std::uint32_t local_size);
    static Result<std::unique_ptr<NodeSegment>> create_private();

    ~NodeSegment();
    NodeSegment(const NodeSegment&) = delete;
    NodeSegment& operator=(const NodeSegment&) = delete;

    std::uint32_t local_rank() const noexcept { return _local_rank; }
    std::uint32_t local_size() const noexcept { return _local_size; }
    RankControl& control(std::uint32_t local_rank) noexcept { return _controls[local_rank]; }
    RankControl& own_control() noexcept { return _controls[_local_rank]; }
    // Whether every rank that has attached so far can be reached by membarrier.
    bool all_fenced() const noexcept;

    // The region called `name` (at most 31 characters), `bytes` long (its size in all, rounded up to pages), at the
    // same offset in every process; the first process to call makes it, and each process maps it on its first call.
    // `settings` are the parameters that the size follows from ("btl_sm_slots=64 btl_sm_slot_size=64", at most 127
    // characters): if two processes ask for different sizes or settings, the second one gets Errc::invalid with both
    // texts.
    Result<NodeRegion> region(std::string_view name, std::size_t bytes, std::string_view settings);

    // `count` of the control lines of every local rank, under `name`; the index of the first one in RankControl::lines,
    // equal in every process. Errc::out_of_memory when none are left.
    Result<unsigned> reserve_lines(std::string_view name, unsigned count);

    // Takes memory for [offset, offset+length) of the region, so that touching it cannot raise SIGBUS. Call it once
    // before the first touch of a piece, from any of the processes. Errc::out_of_memory names size, need and remedy.
    Status commit(const NodeRegion& region, std::size_t offset, std::size_t length);

private:
    struct Header;
    struct Entry;
    struct Mapping;
    NodeSegment() = default;
    Status map_start(std::uint32_t local_rank, std::uint32_t local_size);
    Status check_or_write_header();
    Result<Entry*> find_or_make(
        std::string_view name, std::uint32_t kind, std::uint64_t amount, std::string_view settings);
    Status grow(std::uint64_t bytes);
    Result<std::byte*> map(std::uint64_t offset, std::size_t bytes);
    Status allocate(std::uint64_t offset, std::uint64_t length);

    int _fd = -1; // -1: private memory
    std::uint32_t _local_rank = 0;
    std::uint32_t _local_size = 1;
    Header* _header = nullptr;
    RankControl* _controls = nullptr;
    std::size_t _start_bytes = 0;
    std::vector<Mapping> _mappings;
};

} // namespace patchbay
