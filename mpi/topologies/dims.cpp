// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/topologies/dims.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace patchbay {

namespace {

// All divisors, ascending.
std::vector<int> divisors_of(int number) {
    std::vector<int> low;
    std::vector<int> high;
    for (int divisor = 1; divisor <= number / divisor; ++divisor) {
        if (number % divisor == 0) {
            low.push_back(divisor);
            if (divisor != number / divisor) {
                high.push_back(number / divisor);
            }
        }
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

// Searches for the factors of a number that are closest to each other. They are chosen from the largest to the smallest
// one. Of several solutions with the same difference that is taken whose smallest factor is the largest, or, if these
// are equal, the second smallest, and so on.
class BalancedFactors {
public:
    BalancedFactors(int number, std::size_t count)
        : _divisors(divisors_of(number)),
          _chosen(count) {
        for (const int largest : _divisors) {
            // The smallest factor is not above the root.
            if (!reaches(largest, number, count)) {
                continue;
            }
            if (!_best.empty() && largest - root(number, count) > _difference) {
                break;
            }
            _chosen[0] = largest;
            choose(1, number / largest);
        }
    }
    const std::vector<int>& best() const noexcept { return _best; }

private:
    // Whether a product of `count` factors that are not above `largest` can be `number`.
    static bool reaches(int largest, int number, std::size_t count) noexcept {
        std::int64_t product = 1;
        for (std::size_t i = 0; i < count && product < number; ++i) {
            product *= largest;
            if (largest == 1) {
                break;
            }
        }
        return product >= number;
    }
    // The largest integer whose power is not above the number.
    static int root(int number, std::size_t count) noexcept {
        int low = 1;
        int high = number;
        while (low < high) {
            const int middle = low + (high - low + 1) / 2;
            std::int64_t power = 1;
            for (std::size_t i = 0; i < count && power <= number; ++i) {
                power *= middle;
            }
            if (power <= number) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    bool is_better() const noexcept {
        const int difference = _chosen[0] - _chosen.back();
        return _best.empty() || difference < _difference ||
            (difference == _difference &&
                std::lexicographical_compare(_best.rbegin(), _best.rend(), _chosen.rbegin(), _chosen.rend()));
    }

    // Chooses the factors from number `next` on, whose product is `rest`.
    void choose(std::size_t next, int rest) {
        if (next == _chosen.size()) {
            if (rest == 1 && is_better()) {
                _difference = _chosen[0] - _chosen.back();
                _best = _chosen;
            }
            return;
        }
        const std::size_t left = _chosen.size() - next;
        const int previous = _chosen[next - 1];
        for (const int factor : _divisors) {
            if (factor > previous || factor > rest) {
                break;
            }
            // The last factor is not above this one, so that the difference is at least that to the root of the rest.
            if (rest % factor == 0 && reaches(factor, rest, left) &&
                (_best.empty() || _chosen[0] - std::min(factor, root(rest, left)) <= _difference)) {
                _chosen[next] = factor;
                choose(next + 1, rest / factor);
            }
        }
    }

    const std::vector<int> _divisors;
    std::vector<int> _chosen;
    std::vector<int> _best;
    int _difference = 0; // of the best ones
};

} // namespace

bool create_dims(int nodes, std::span<int> dims) {
    int rest = nodes;
    std::size_t free = 0;
    for (const int size : dims) {
        if (size == 0) {
            ++free;
        } else if (rest % size != 0) {
            return false;
        } else {
            rest /= size;
        }
    }
    if (free == 0) {
        return rest == 1;
    }
    // An int has fewer factors above 1 than bits.
    constexpr std::size_t most_factors = std::numeric_limits<int>::digits;
    const BalancedFactors factors(rest, std::min(free, most_factors));
    auto next = factors.best().begin();
    for (int& size : dims) {
        if (size == 0) {
            size = next == factors.best().end() ? 1 : *next++;
        }
    }
    return true;
}

} // namespace patchbay
