// SPDX-License-Identifier: BSD-3-Clause
// Info key `soft` of MPI_Comm_spawn, a set of numbers as users write it: the largest number up to a limit, against a
// model that tries each number.
#include "mpi/dynamic/spawn_info.h"
#include "tests/fuzz/bytes.h"

#include <array>
#include <charconv>
#include <vector>

using namespace patchbay;

namespace {

// a:b:c; b and c may be missing.
struct Triplet {
    std::array<int, 3> numbers{};
    int given = 0;

    bool has(std::int64_t number) const {
        const std::int64_t first = numbers[0];
        const std::int64_t last = given > 1 ? numbers[1] : first;
        const std::int64_t step = given > 2 ? numbers[2] : 1;
        const bool inside = step > 0 ? first <= number && number <= last : last <= number && number <= first;
        return inside && (number - first) % step == 0;
    }
};

bool read(std::string_view text, Triplet& triplet) {
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        std::string_view word = text.substr(begin, end - begin);
        const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
        while (!word.empty() && is_space(word.front())) {
            word.remove_prefix(1);
        }
        while (!word.empty() && is_space(word.back())) {
            word.remove_suffix(1);
        }
        if (triplet.given == 3) {
            return false;
        }
        const auto [stop, failed] =
            std::from_chars(word.data(), word.data() + word.size(), triplet.numbers[std::size_t(triplet.given++)]);
        if (failed != std::errc() || stop != word.data() + word.size()) {
            return false;
        }
        begin = end + 1;
    }
    return triplet.given < 3 || triplet.numbers[2] != 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes bytes(data, size);
    const int most = bytes.byte() + 1;
    const std::string_view text = bytes.rest();
    const std::optional<int> found = largest_allowed(text, most);
    std::vector<Triplet> set;
    bool fine = true;
    for (std::size_t begin = 0; begin <= text.size() && fine;) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        fine = read(text.substr(begin, end - begin), set.emplace_back());
        begin = end + 1;
    }
    REQUIRE(found.has_value() == fine);
    int largest = 0;
    for (int number = 1; fine && number <= most; ++number) {
        for (const Triplet& triplet : set) {
            largest = triplet.has(number) ? number : largest;
        }
    }
    REQUIRE(!fine || *found == largest);
    return 0;
}
