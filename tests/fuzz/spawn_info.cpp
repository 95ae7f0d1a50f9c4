// SPDX-License-Identifier: BSD-3-Clause
// The reserved info keys of MPI_Comm_spawn, and the file that key `file` names: any keys with any values. What comes
// out can be started, or there is a text that says why not.
#include "mpi/dynamic/spawn_info.h"
#include "core/base/hosts.h"
#include "core/base/strings.h"
#include "core/runtime/pset_definition.h"
#include "tests/fuzz/bytes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

using namespace patchbay;

namespace {

constexpr int most = 64;
const std::string own_name = "node7.example.org";
constexpr std::array keys = {
    "arch", "env", "host", "mpi_initial_errhandler", "path", "soft", "wdir", "other", "np", "psets"};

// A file whose name is a path.
class File {
public:
    explicit File(std::string_view content)
        : _fd(memfd_create("keys", MFD_CLOEXEC)) {
        REQUIRE(_fd >= 0 && write(_fd, content.data(), content.size()) == ssize_t(content.size()));
    }
    ~File() { close(_fd); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(_fd); }

private:
    const int _fd;
};

void check_program(const SpawnProgram& program) {
    REQUIRE(program.processes >= 1 && program.processes <= most);
    REQUIRE(std::filesystem::is_directory(program.working_directory));
    for (const std::string& variable : program.environment) {
        const std::size_t equals = variable.find('=');
        REQUIRE(equals != std::string::npos && equals > 0);
    }
    REQUIRE(program.search_path.empty() || program.search_path.find('/') == 0);
    for (const std::string& pset : program.psets) {
        REQUIRE(check_pset_name(pset) && std::ranges::count(program.psets, pset) == 1);
    }
}

// A name of the machine, in any case, or the form of an address.
bool may_be_own(std::string host) {
    std::ranges::transform(host, host.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return host == own_name || host == "node7" || host == "localhost" ||
        (!host.empty() && host.find_first_not_of("0123456789abcdef.:") == host.npos);
}

void check_hosts(const std::string& hosts) {
    for (const std::string& entry : split(hosts, ',')) {
        const std::size_t begin = entry.find_first_not_of(" \t\r");
        const std::size_t end = entry.find_last_not_of(" \t\r");
        const std::string host = begin == std::string::npos ? "" : entry.substr(begin, end - begin + 1);
        REQUIRE(names_this_host(host, own_name) && may_be_own(host));
    }
}

} // namespace

// Pairs of a byte, which says what key, and a text up to a zero; the last key is the file with the rest as its content.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes bytes(data, size);
    const Ref<Info> info = Ref<Info>::adopt(new Info);
    std::string hosts;
    bool has_hosts = false;
    while (!bytes.empty()) {
        const std::size_t key = bytes.byte();
        if (key % (keys.size() + 1) == keys.size()) {
            break;
        }
        const std::string value(bytes.until('\0'));
        info->set(keys[key % (keys.size() + 1)], value);
        if (key % (keys.size() + 1) == 2) {
            hosts = value;
            has_hosts = true;
        }
    }
    const File file(bytes.rest());
    if (!bytes.empty()) {
        info->set("file", file.path());
    }
    SpawnProgram program;
    std::string problem;
    const int code = describe({"program", nullptr, most, info.get()}, own_name, &program, &problem);
    REQUIRE(code == MPI_SUCCESS || code == MPI_ERR_SPAWN || code == MPI_ERR_INFO_VALUE);
    REQUIRE((code == MPI_SUCCESS) == problem.empty());
    if (code == MPI_SUCCESS) {
        check_program(program);
        if (has_hosts) { // those of the info have precedence
            check_hosts(hosts);
        }
    }
    return 0;
}
