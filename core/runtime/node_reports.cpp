// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/node_reports.h"

#include "core/memory/shared_file.h"
#include "core/runtime/launch_environment.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay {

namespace {

// A page. The program may have closed the inherited descriptor and opened something else under its number: only what
// begins with this word is the table.
constexpr std::uint64_t mark = 0x7374726f70657221;
struct Table {
    std::uint64_t mark;
    std::array<std::atomic<std::uint64_t>, 511> printed; // hashes of texts; 0: free
};
static_assert(sizeof(Table) == 4096 && std::atomic<std::uint64_t>::is_always_lock_free);

class Mapping {
public:
    explicit Mapping(int fd) noexcept {
        struct stat file {};
        if (fd < 0 || fstat(fd, &file) != 0 || file.st_size != off_t(sizeof(Table))) {
            return;
        }
        void* memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        _memory = memory == MAP_FAILED ? nullptr : memory;
    }
    ~Mapping() {
        if (_memory != nullptr) {
            munmap(_memory, sizeof(Table));
        }
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    Table* table() const noexcept {
        auto* table = static_cast<Table*>(_memory);
        return table != nullptr && table->mark == mark ? table : nullptr;
    }

private:
    void* _memory = nullptr;
};

// FNV-1a.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) noexcept {
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return hash;
}

} // namespace

Result<int> make_node_reports() {
    Result<int> fd = shared_file::make_memfd("patchbay-reports");
    if (!fd) {
        return fd;
    }
    Table table{};
    table.mark = mark;
    if (write(*fd, &table, sizeof table) != ssize_t(sizeof table)) {
        const Error error{
            Errc::system, std::string("cannot write the table of printed errors: ") + std::strerror(errno)};
        close(*fd);
        return error;
    }
    return fd;
}

bool is_first_report_on_node(std::string_view text) noexcept {
    std::string job;
    LaunchEnvironment& environment = LaunchEnvironment::of_process();
    try {
        job = environment.value("PMIX_NAMESPACE");
    } catch (const std::bad_alloc&) {
        return true;
    }
    const Mapping mapping(environment.reports_fd());
    Table* table = mapping.table();
    if (table == nullptr) {
        return true;
    }
    // A string of a C variable has no zero.
    const std::uint64_t hash = hash_of(text, hash_of({"", 1}, hash_of(job, 0xcbf29ce484222325))) | 1;
    for (std::size_t i = 0; i < table->printed.size(); ++i) {
        std::atomic<std::uint64_t>& place = table->printed[(hash + i) % table->printed.size()];
        std::uint64_t there = 0;
        if (place.compare_exchange_strong(there, hash)) {
            return true;
        }
        if (there == hash) {
            return false;
        }
    }
    return true;
}

} // namespace patchbay
