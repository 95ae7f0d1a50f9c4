// SPDX-License-Identifier: BSD-3-Clause
// Parameter files and the environment, and the typed values that come out of them. An input is a parameter file, a
// zero, and variables that are separated by zeros.
#include "core/param/registry.h"
#include "tests/fuzz/bytes.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace patchbay;

namespace {

constexpr ParamSpec specs[] = {
    {"flag", ParamType::boolean, "true", "a flag"},
    {"number", ParamType::integer, "-1", "a number", "-7..100"},
    {"size", ParamType::size, "4KiB", "a size", "1KiB.."},
    {"wait", ParamType::duration, "10us", "a duration"},
    {"text", ParamType::string, "", "a text"},
    {"choice", ParamType::enumeration, "one", "a choice", "one,two,three"},
    {"list", ParamType::list, "a,b", "a list"},
};

// A file that exists as long as the object.
class File {
public:
    explicit File(std::string_view text)
        : _fd(::memfd_create("params", MFD_CLOEXEC)) {
        REQUIRE(_fd >= 0 && ::write(_fd, text.data(), text.size()) == ssize_t(text.size()));
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { ::close(_fd); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(_fd); }

private:
    int _fd;
};

// Every accessor of the right type gives a value, also where what the user wrote has been refused.
void read_all(const ParamRegistry& params) {
    (void)params.at("fuzz_it_flag").as_bool();
    (void)params.at("fuzz_it_number").as_int();
    REQUIRE(params.at("fuzz_it_size").as_size() <= std::size_t(INT64_MAX));
    REQUIRE(params.at("fuzz_it_wait").as_duration().count() >= 0);
    REQUIRE(params.at("fuzz_it_text").as_string() == params.at("fuzz_it_text").text());
    REQUIRE(params.at("fuzz_it_choice").as_enum() < 3);
    for (const std::string& item : params.at("fuzz_it_list").as_list()) {
        REQUIRE(!item.empty());
    }
    for (std::size_t i = 0; i < params.count(); ++i) {
        REQUIRE(!params.by_index(i).origin().empty());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes bytes(data, size);
    const File file(bytes.until('\0'));
    ParamSources sources;
    sources.user_file = file.path();
    while (!bytes.empty()) {
        sources.environment.emplace_back(bytes.until('\0'));
    }
    ParamRegistry params;
    const Status read = params.read(sources);
    REQUIRE(read || !read.error().text.empty());
    const Status defined = params.define("fuzz", "it", specs);
    REQUIRE(defined || !defined.error().text.empty());
    read_all(params);
    for (const std::string& entry : sources.environment) {
        const std::size_t equals = std::min(entry.find('='), entry.size());
        (void)bool(params.set(entry.substr(0, equals), entry.substr(equals)));
        for (const ParamSpec& spec : specs) {
            (void)bool(params.set(std::string("fuzz_it_") + spec.name, entry));
        }
    }
    read_all(params);
    for (const std::string& text : params.take_unknown([](const std::string&) {}, [] {})) {
        REQUIRE(!text.empty());
    }
    return 0;
}
