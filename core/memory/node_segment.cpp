// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/node_segment.h"

#include "core/base/random.h"
#include "core/base/round_up.h"
#include "core/memory/node_header.h"
#include "core/memory/shared_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace patchbay {

namespace {
constexpr std::uint64_t magic_ready = 0x7061746368626179; // "patchbay"
constexpr std::uint32_t layout_version = 2;
constexpr std::uint64_t page = 4096;

// The right to write the header. The kernel takes it away from a process that fails; it is not one between threads.
class HeaderHold {
public:
    explicit HeaderHold(int fd)
        : _threads(mutex()),
          _fd(fd) {
        while (_fd >= 0 && change(F_WRLCK) != 0) {
            if (errno != EINTR) {
                _error = errno;
                return;
            }
        }
    }
    ~HeaderHold() {
        if (_fd >= 0) {
            change(F_UNLCK);
        }
    }
    HeaderHold(const HeaderHold&) = delete;
    HeaderHold& operator=(const HeaderHold&) = delete;
    int error() const { return _error; }

private:
    static std::mutex& mutex() {
        static std::mutex threads;
        return threads;
    }
    int change(short type) const {
        struct flock lock {};
        lock.l_type = type;
        lock.l_whence = SEEK_SET;
        lock.l_len = 1;
        return fcntl(_fd, F_SETLKW, &lock);
    }

    std::lock_guard<std::mutex> _threads;
    const int _fd;
    int _error = 0;
};
} // namespace

Result<std::unique_ptr<NodeSegment>> NodeSegment::attach_fd(
    int fd, SlotKey self, std::uint32_t expected, bool for_all_jobs) {
    std::unique_ptr<NodeSegment> segment(new NodeSegment);
    segment->_for_all_jobs = for_all_jobs;
    segment->_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (segment->_fd < 0) {
        return Error{
            Errc::system, std::string("node segment: cannot duplicate its descriptor: ") + std::strerror(errno)};
    }
    if (Status mapped = segment->map_start(self, expected); !mapped) {
        return mapped.error();
    }
    return segment;
}

Result<std::unique_ptr<NodeSegment>> NodeSegment::create_private() {
    std::unique_ptr<NodeSegment> segment(new NodeSegment);
    if (Status mapped = segment->map_start({}, 1); !mapped) {
        return mapped.error();
    }
    return segment;
}

NodeSegment::~NodeSegment() {
    if (_own != nullptr) {
        _own->bell.cancel();
        _own->attached.store(0, std::memory_order_release);
    }
    _heap.reset();
    if (_start != nullptr) {
        munmap(_start, round_up(sizeof(Header), page));
    }
    if (_fd >= 0) {
        close(_fd);
    }
}

Status NodeSegment::map_start(SlotKey self, std::uint32_t expected) {
    const std::size_t bytes = round_up(sizeof(Header), page);
    _self = self;
    _expected = expected;
    // Allocation never shrinks a file, so it does not matter how many peers do this at once, or how late.
    if (Status taken = _fd < 0 ? Status() : shared_file::allocate(_fd, 0, bytes); !taken) {
        return taken;
    }
    const int flags = _fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, _fd, 0);
    if (start == MAP_FAILED) {
        return Error{Errc::out_of_memory,
            "node segment: cannot map " + std::to_string(bytes) + " bytes: " + std::strerror(errno) +
                "; raise the address space limit (ulimit -v)"};
    }
    _start = static_cast<std::byte*>(start);
    _header = reinterpret_cast<Header*>(_start);
    if (Status good = check_or_write_header(); !good) {
        return good;
    }
    _heap = std::make_unique<SharedHeap>(_fd, _start, _header->heap);
    _tables[0].store(_header->first_table, std::memory_order_relaxed);
    return take_slot();
}

Status NodeSegment::check_or_write_header() {
    if (_header->magic.load(std::memory_order_acquire) != magic_ready) {
        HeaderHold hold(_fd);
        if (hold.error() != 0) {
            return Error{Errc::system,
                std::string("node segment: cannot lock its first byte: ") + std::strerror(hold.error()) +
                    "; use --mca shm_backing memfd, or point shm_directory to a memory file system"};
        }
        if (_header->magic.load(std::memory_order_acquire) == 0) { // also after the failure of a process at this point
            if (Status written = write_header(); !written) {
                return written;
            }
        }
    }
    if (_header->magic.load(std::memory_order_relaxed) != magic_ready || _header->version != layout_version) {
        return Error{Errc::invalid,
            "node segment: it was made by another version of Patchbay MPI; all ranks of a job "
            "must use the same libmpi_abi.so.1"};
    }
    return {};
}

Status NodeSegment::write_header() {
    _header->version = layout_version;
    _header->id = random_bits();
    if (Status made = _header->mutex.make(); !made) {
        return made;
    }
    if (Status made = SharedHeap::make(_header->heap, round_up(sizeof(Header), page)); !made) {
        return made;
    }
    _header->magic.store(magic_ready, std::memory_order_release);
    return {};
}

std::uint64_t NodeSegment::id() const noexcept {
    return _header->id;
}

NodeSegment::Name* NodeSegment::name_at(SharedAddress address) noexcept {
    return address == 0 ? nullptr : reinterpret_cast<Name*>(_heap->at(address));
}

std::atomic<SharedAddress>* NodeSegment::find_name(std::string_view name, std::uint32_t of) noexcept {
    const std::size_t hash = std::hash<std::string_view>()(name) + of; // all processes run the same code
    std::atomic<SharedAddress>* link = &_header->names[hash % Header::chains];
    while (Name* record = name_at(link->load(std::memory_order_relaxed))) {
        if (record->of == of && name == std::string_view(record->name, record->length)) {
            break;
        }
        link = &record->next;
    }
    return link;
}

Result<NodeRegion> NodeSegment::region(
    std::string_view name, std::size_t bytes, std::string_view settings, std::uint32_t of) {
    if (name.empty() || name.size() >= sizeof(Name::name) || settings.size() >= sizeof(Name::settings)) {
        return Error{Errc::invalid, "node segment: the name or settings of '" + std::string(name) + "' do not fit"};
    }
    bytes = round_up(std::max<std::size_t>(bytes, 1), page);
    RobustHold hold(_header->mutex);
    std::atomic<SharedAddress>* link = find_name(name, of);
    const SharedAddress known = link->load(std::memory_order_relaxed);
    if (known == 0) {
        return make_region(*link, name, bytes, settings, of);
    }
    if (Result<std::byte*> mapped = _heap->map_block(known); !mapped) {
        return mapped.error();
    }
    const Name* record = name_at(known);
    if (record->amount != bytes || settings != record->settings) {
        return Error{Errc::invalid,
            "node segment: '" + std::string(name) + "': this process needs " + std::to_string(bytes) + " (" +
                std::string(settings) + "), but another process of the job has made it with " +
                std::to_string(record->amount) + " (" + record->settings + "); give all ranks the same parameters"};
    }
    Result<std::byte*> mapped = _heap->map_block(record->block);
    if (!mapped) {
        return mapped.error();
    }
    return NodeRegion{{*mapped, bytes}, record->block};
}

// A process that fails before the last store leaves blocks without a name; those of a slot are freed with it.
Result<NodeRegion> NodeSegment::make_region(std::atomic<SharedAddress>& link, std::string_view name, std::size_t bytes,
    std::string_view settings, std::uint32_t of) {
    Result<SharedBlock> block = _heap->alloc(bytes, of, SharedHeap::Backing::sparse);
    if (!block) {
        return Error{block.error().code, block.error().text + " (for '" + std::string(name) + "')"};
    }
    Result<SharedBlock> place = _heap->alloc(sizeof(Name), of);
    if (!place) {
        _heap->free(block->address);
        return place.error();
    }
    auto& record = *reinterpret_cast<Name*>(place->bytes.data());
    record.block = block->address;
    record.amount = bytes;
    record.of = of;
    record.length = std::uint32_t(name.size());
    name.copy(record.name, name.size());
    settings.copy(record.settings, settings.size());
    link.store(place->address, std::memory_order_release);
    return NodeRegion{block->bytes.first(bytes), block->address};
}

void NodeSegment::remove_region(std::string_view name, std::uint32_t of) noexcept {
    RobustHold hold(_header->mutex);
    std::atomic<SharedAddress>* link = find_name(name, of);
    if (name_at(link->load(std::memory_order_relaxed)) != nullptr) {
        unlink(*link);
    }
}

void NodeSegment::unlink(std::atomic<SharedAddress>& link) noexcept {
    const SharedAddress address = link.load(std::memory_order_relaxed);
    const Name* record = name_at(address);
    const SharedAddress block = record->block;
    link.store(record->next.load(std::memory_order_relaxed), std::memory_order_release);
    _heap->free(block);
    _heap->free(address);
}

Status NodeSegment::once(std::atomic<std::uint32_t>& done, const std::function<Status()>& make) {
    RobustHold hold(_header->mutex);
    if (done.load(std::memory_order_acquire) != 0) {
        return {};
    }
    Status made = make();
    if (made) {
        done.store(1, std::memory_order_release);
    }
    return made;
}

Status NodeSegment::commit(const NodeRegion& region, std::size_t offset, std::size_t length) {
    if (offset + length > region.bytes.size()) {
        return Error{Errc::invalid, "node segment: commit beyond the end of a region"};
    }
    Status taken = _heap->commit(region.address, offset, length);
    if (taken) {
        return taken;
    }
    RobustHold hold(_header->mutex);
    for (const auto& chain : _header->names) {
        for (const Name* record = name_at(chain.load()); record != nullptr; record = name_at(record->next.load())) {
            if (record->block == region.address) {
                return Error{
                    taken.error().code, taken.error().text + " (for '" + record->name + "': " + record->settings + ")"};
            }
        }
    }
    return taken;
}

} // namespace patchbay
