// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace patchbay::fuzz {

using Input = std::vector<std::uint8_t>;

// Inputs that are like those of a corpus, but for some small changes. Unlike libFuzzer it does not look at what the
// target executes, so that it needs no special compiler.
class Mutation {
public:
    Mutation(std::uint64_t seed, std::span<const Input> corpus)
        : _random(seed),
          _corpus(corpus) {}

    Input next() {
        Input input = any_of_corpus();
        for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
            change(input);
        }
        input.resize(std::min<std::size_t>(input.size(), most_bytes));
        return input;
    }

private:
    static constexpr std::size_t most_bytes = 4096;

    // 0 to limit - 1.
    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(_random); }
    Input any_of_corpus() { return _corpus.empty() ? Input() : _corpus[below(_corpus.size())]; }

    // Values at which parsers change their ways.
    std::uint8_t byte() {
        static constexpr std::uint8_t borders[] = {
            0, 1, 0x7f, 0x80, 0xff, '0', '9', '-', ',', '"', '{', ' ', '\n', '='};
        return below(2) == 0 ? borders[below(std::size(borders))] : std::uint8_t(below(256));
    }

    void change(Input& input) {
        if (input.empty()) {
            input.push_back(byte());
            return;
        }
        const auto at = input.begin() + std::ptrdiff_t(below(input.size()));
        const auto end = at + std::ptrdiff_t(1 + below(std::min<std::size_t>(std::size_t(input.end() - at), 32)));
        const Input part(at, end);
        const Input other = any_of_corpus();
        switch (below(6)) {
        case 0:
            *at ^= std::uint8_t(1U << below(8));
            break;
        case 1:
            *at = byte();
            break;
        case 2:
            input.insert(at, byte());
            break;
        case 3:
            input.erase(at, end);
            break;
        case 4:
            input.insert(at, part.begin(), part.end());
            break;
        case 5: // the end of another one
            input.erase(at, input.end());
            input.insert(input.end(), other.begin() + std::ptrdiff_t(below(other.size() + 1)), other.end());
            break;
        }
    }

    std::mt19937_64 _random;
    std::span<const Input> _corpus;
};

} // namespace patchbay::fuzz
