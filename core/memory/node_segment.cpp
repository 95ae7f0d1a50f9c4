// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_segment.h"

#include "core/memory/peer_wait.h"
#include "core/memory/shared_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace patchbay {

namespace {
constexpr std::uint64_t magic_ready = 0x7061746368626179; // "patchbay"
constexpr std::uint64_t magic_writing = 1;
constexpr std::uint32_t layout_version = 1;
constexpr std::uint32_t kind_region = 1;
constexpr std::uint32_t kind_lines = 2;
constexpr unsigned table_size = 64;

std::uint64_t page_size() {
    static const std::uint64_t size = std::uint64_t(sysconf(_SC_PAGESIZE));
    return size;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}
} // namespace

struct NodeSegment::Entry {
    std::uint32_t kind;
    std::uint64_t amount; // bytes of a region, number of lines
    std::uint64_t place;  // offset of a region, index of the first line
    char name[32];
    char settings[128];
};

struct NodeSegment::Header {
    std::atomic<std::uint64_t> magic;
    std::uint32_t version;
    std::uint32_t local_size;
    std::atomic<std::int32_t> table_owner; // pid of the process that changes the table, else 0
    std::uint32_t entries;
    std::uint32_t lines_used;
    std::uint64_t end; // of what has been given to regions, from the start of the segment
    Entry table[table_size];
};

struct NodeSegment::Mapping {
    std::uint64_t offset;
    std::byte* address;
    std::size_t bytes;
};

namespace {
// The right to change the table, or nothing when a peer died with it.
template <class Header>
class TableHold {
public:
    explicit TableHold(Header& header)
        : _header(header) {
        _held = wait_for_peer([&] {
            std::int32_t nobody = 0;
            return header.table_owner.compare_exchange_strong(nobody, getpid(), std::memory_order_acquire);
        });
    }
    ~TableHold() {
        if (_held) {
            _header.table_owner.store(0, std::memory_order_release);
        }
    }
    TableHold(const TableHold&) = delete;
    TableHold& operator=(const TableHold&) = delete;
    bool held() const { return _held; }

private:
    Header& _header;
    bool _held;
};
} // namespace

Result<std::unique_ptr<NodeSegment>> NodeSegment::attach_fd(
    int fd, std::uint32_t local_rank, std::uint32_t local_size) {
    std::unique_ptr<NodeSegment> segment(new NodeSegment);
    segment->_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (segment->_fd < 0) {
        return Error{
            Errc::system, std::string("node segment: cannot duplicate its descriptor: ") + std::strerror(errno)};
    }
    if (Status mapped = segment->map_start(local_rank, local_size); !mapped) {
        return mapped.error();
    }
    return segment;
}

Result<std::unique_ptr<NodeSegment>> NodeSegment::create_private() {
    std::unique_ptr<NodeSegment> segment(new NodeSegment);
    if (Status mapped = segment->map_start(0, 1); !mapped) {
        return mapped.error();
    }
    return segment;
}

NodeSegment::~NodeSegment() {
    if (_controls != nullptr) {
        own_control().bell.cancel();
        own_control().attached.store(0, std::memory_order_release);
    }
    for (const Mapping& mapping : _mappings) {
        munmap(mapping.address, mapping.bytes);
    }
    if (_fd >= 0) {
        close(_fd);
    }
}

Status NodeSegment::map_start(std::uint32_t local_rank, std::uint32_t local_size) {
    std::uint64_t header_bytes = round_up(sizeof(Header), alignof(RankControl));
    _start_bytes = round_up(header_bytes + std::uint64_t(local_size) * sizeof(RankControl), page_size());
    _local_rank = local_rank;
    _local_size = local_size;
    // Allocation never shrinks a file, so it does not matter how many peers do this at once, or how late.
    if (Status taken = allocate(0, _start_bytes); !taken) {
        return taken;
    }
    Result<std::byte*> start = map(0, _start_bytes);
    if (!start) {
        return start.error();
    }
    _header = reinterpret_cast<Header*>(*start);
    if (Status good = check_or_write_header(); !good) {
        return good;
    }
    _controls = reinterpret_cast<RankControl*>(*start + header_bytes);
    RankControl& own = own_control();
    own.unfenced.store(register_all_cores_barrier() ? 0 : 1, std::memory_order_relaxed);
    own.pid.store(getpid(), std::memory_order_seq_cst);
    own.attached.store(1, std::memory_order_release);
    return {};
}

Status NodeSegment::check_or_write_header() {
    std::uint64_t fresh = 0;
    if (_header->magic.compare_exchange_strong(fresh, magic_writing, std::memory_order_acq_rel)) {
        _header->version = layout_version;
        _header->local_size = _local_size;
        _header->end = _start_bytes;
        _header->magic.store(magic_ready, std::memory_order_release);
        return {};
    }
    if (!wait_for_peer([&] { return _header->magic.load(std::memory_order_acquire) != magic_writing; })) {
        return Error{Errc::timed_out,
            "node segment: the process that makes it has not finished within 10 s; it has "
            "probably died"};
    }
    if (_header->magic.load(std::memory_order_relaxed) != magic_ready || _header->version != layout_version) {
        return Error{Errc::invalid,
            "node segment: it was made by another version of Patchbay MPI; all ranks of a job "
            "must use the same libmpi_abi.so.1"};
    }
    if (_header->local_size != _local_size) {
        return Error{Errc::invalid,
            "node segment: it was made for " + std::to_string(_header->local_size) +
                " local ranks, but this process was told of " + std::to_string(_local_size)};
    }
    return {};
}

bool NodeSegment::all_fenced() const noexcept {
    return std::all_of(_controls, _controls + _local_size, [](const RankControl& control) {
        return control.attached.load(std::memory_order_acquire) == 0 ||
            control.unfenced.load(std::memory_order_relaxed) == 0;
    });
}

Result<NodeSegment::Entry*> NodeSegment::find_or_make(
    std::string_view name, std::uint32_t kind, std::uint64_t amount, std::string_view settings) {
    if (name.empty() || name.size() >= sizeof(Entry::name) || settings.size() >= sizeof(Entry::settings)) {
        return Error{Errc::invalid, "node segment: the name or settings of '" + std::string(name) + "' do not fit"};
    }
    TableHold hold(*_header);
    if (!hold.held()) {
        return Error{Errc::timed_out,
            "node segment: a process of this job (pid " + std::to_string(_header->table_owner.load()) +
                ") keeps its table locked for 10 s; it has probably died"};
    }
    Entry* end = _header->table + _header->entries;
    Entry* entry =
        std::find_if(_header->table, end, [&](const Entry& known) { return known.kind == kind && name == known.name; });
    if (entry != end) {
        if (entry->amount == amount && settings == entry->settings) {
            return entry;
        }
        return Error{Errc::invalid,
            "node segment: '" + std::string(name) + "': this process needs " + std::to_string(amount) + " (" +
                std::string(settings) + "), but another process of the job has made it with " +
                std::to_string(entry->amount) + " (" + entry->settings + "); give all ranks the same parameters"};
    }
    if (_header->entries == table_size) {
        return Error{Errc::out_of_memory,
            "node segment: its table of " + std::to_string(table_size) + " entries is full, no room for '" +
                std::string(name) + "'"};
    }
    std::uint64_t place = kind == kind_lines ? _header->lines_used : _header->end;
    if (kind == kind_lines && place + amount > RankControl::line_count) {
        return Error{Errc::out_of_memory, "node segment: no control lines are left for '" + std::string(name) + "'"};
    }
    if (kind == kind_region) {
        if (Status grown = grow(place + amount); !grown) {
            return grown.error();
        }
        _header->end = place + amount;
    } else {
        _header->lines_used += std::uint32_t(amount);
    }
    *entry = Entry{kind, amount, place, {}, {}};
    name.copy(entry->name, name.size());
    settings.copy(entry->settings, settings.size());
    ++_header->entries;
    return entry;
}

Result<NodeRegion> NodeSegment::region(std::string_view name, std::size_t bytes, std::string_view settings) {
    Result<Entry*> entry =
        find_or_make(name, kind_region, round_up(std::max<std::size_t>(bytes, 1), page_size()), settings);
    if (!entry) {
        return entry.error();
    }
    std::uint64_t offset = (*entry)->place;
    for (const Mapping& mapping : _mappings) {
        if (mapping.offset == offset) {
            return NodeRegion{{mapping.address, mapping.bytes}, offset};
        }
    }
    Result<std::byte*> address = map(offset, (*entry)->amount);
    if (!address) {
        return address.error();
    }
    return NodeRegion{{*address, std::size_t((*entry)->amount)}, offset};
}

Result<unsigned> NodeSegment::reserve_lines(std::string_view name, unsigned count) {
    Result<Entry*> entry = find_or_make(name, kind_lines, count, "");
    if (!entry) {
        return entry.error();
    }
    return unsigned((*entry)->place);
}

Status NodeSegment::commit(const NodeRegion& region, std::size_t offset, std::size_t length) {
    if (offset + length > region.bytes.size()) {
        return Error{Errc::invalid, "node segment: commit beyond the end of a region"};
    }
    Status taken = allocate(region.offset + offset, length);
    if (taken) {
        return taken;
    }
    Entry* end = _header->table + _header->entries;
    Entry* entry = std::find_if(_header->table, end,
        [&](const Entry& known) { return known.kind == kind_region && known.place == region.offset; });
    std::string who = entry == end ? "" : std::string(" (for '") + entry->name + "': " + entry->settings + ")";
    return Error{taken.error().code, taken.error().text + who};
}

Status NodeSegment::grow(std::uint64_t bytes) {
    return _fd < 0 ? Status() : shared_file::grow(_fd, bytes);
}

Status NodeSegment::allocate(std::uint64_t offset, std::uint64_t length) {
    return _fd < 0 ? Status() : shared_file::allocate(_fd, offset, length);
}

Result<std::byte*> NodeSegment::map(std::uint64_t offset, std::size_t bytes) {
    int flags = _fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* address =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, _fd, _fd < 0 ? 0 : off_t(offset));
    if (address == MAP_FAILED) {
        return Error{Errc::out_of_memory,
            "node segment: cannot map " + std::to_string(bytes) + " bytes: " + std::strerror(errno) +
                "; raise the address space limit (ulimit -v) or lower the sizes that "
                "the parameters of the shared-memory components ask for"};
    }
    _mappings.push_back(Mapping{offset, static_cast<std::byte*>(address), bytes});
    return static_cast<std::byte*>(address);
}

} // namespace patchbay
