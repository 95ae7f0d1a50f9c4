// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/signature.h"

#include "object/layout.h"

#include <algorithm>

namespace patchbay::check {

namespace {

using Node = Layout::Node;

// The hash of a sequence is the polynomial of its elements at a fixed point, modulo the prime 2^61 - 1.
constexpr std::uint64_t prime = (std::uint64_t(1) << 61) - 1;
constexpr std::uint64_t point = 0x15a4e35d0f3b9c27 % prime;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % prime);
}

// What has been seen of a sequence. The hash of two sequences one after the other is first * factor(second) + second.
struct Sequence {
    std::uint64_t hash = 0;
    std::uint64_t factor = 1; // point to the power of the length
    std::uint64_t length = 0;

    Sequence then(const Sequence& next) const noexcept {
        return {(multiply(hash, next.factor) + next.hash) % prime, multiply(factor, next.factor), length + next.length};
    }
    Sequence times(std::uint64_t count) const noexcept {
        Sequence result;
        for (Sequence power = *this; count > 0; power = power.then(power), count /= 2) {
            if (count % 2 != 0) {
                result = power.then(result);
            }
        }
        return result;
    }
};

Sequence basic(std::uint64_t type, std::uint64_t count) noexcept {
    return Sequence{type + 1, point, 1}.times(count);
}

// A value of which only a part has arrived; it equals no basic type.
constexpr std::uint64_t incomplete = 1000;

class Walk {
public:
    Walk(const Layout& layout, Signature& result) noexcept
        : _layout(layout),
          _result(result) {}

    // The first `bytes` bytes of a sequence of nodes.
    Sequence sequence(std::uint32_t first, std::uint32_t count, std::uint64_t bytes) {
        Sequence result;
        for (std::uint32_t i = first; i < first + count && bytes > 0; ++i) {
            const std::uint64_t part = std::min<std::uint64_t>(bytes, _layout.nodes()[i].total());
            result = result.then(node(_layout.nodes()[i], part));
            bytes -= part;
        }
        return result;
    }
    Sequence node(const Node& node, std::uint64_t bytes) {
        if (bytes == 0) {
            return {};
        }
        if (node.is_block()) {
            const std::uint64_t size = basic_type(node.basic).size;
            add_run(node.basic, bytes / size);
            const Sequence whole = basic(node.basic, bytes / size);
            return bytes % size == 0 ? whole : whole.then(basic(incomplete, 1));
        }
        const std::uint64_t whole = bytes / node.bytes;
        Sequence result;
        if (whole > 0) {
            result = iterations(node, whole);
        }
        if (const std::uint64_t rest = bytes % node.bytes; rest > 0) {
            result = result.then(sequence(node.first_child, node.children, rest));
        }
        return result;
    }

private:
    Sequence iterations(const Node& node, std::uint64_t count) {
        const Signature before = _result;
        const Sequence one = sequence(node.first_child, node.children, node.bytes);
        add_again(before, count - 1);
        return one.times(count);
    }
    // Adds `times` times what has been added since `before`.
    void add_again(const Signature& before, std::uint64_t times) {
        if (times == 0 || _result.more != 0) {
            return;
        }
        std::array<Signature::Run, 4> added;
        std::size_t count = 0;
        for (std::uint64_t i = before.run_count > 0 ? before.run_count - 1 : 0; i < _result.run_count; ++i) {
            const std::uint64_t had = i < before.run_count ? before.runs[i].count : 0;
            if (_result.runs[i].count > had) {
                added[count++] = {_result.runs[i].count - had, _result.runs[i].type};
            }
        }
        if (count == 1) { // the same type again and again
            add_run(added[0].type, added[0].count * times);
            return;
        }
        for (; times > 0 && count > 0 && _result.more == 0; --times) {
            for (std::size_t i = 0; i < count; ++i) {
                add_run(added[i].type, added[i].count);
            }
        }
    }
    void add_run(std::uint64_t type, std::uint64_t count) {
        if (count == 0 || _result.more != 0) {
            return;
        }
        if (_result.run_count > 0 && _result.runs[_result.run_count - 1].type == type) {
            _result.runs[_result.run_count - 1].count += count;
        } else if (_result.run_count < _result.runs.size()) {
            _result.runs[_result.run_count++] = {count, type};
        } else {
            _result.more = 1;
        }
    }

    const Layout& _layout;
    Signature& _result;
};

} // namespace

Signature Signature::of(const Datatype& type, MPI_Count count, std::uint64_t bytes) {
    Signature result;
    result.bytes = std::min(bytes, static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(type.size));
    if (result.bytes > 0) {
        const Layout& layout = type.typed_layout();
        // One node whose iterations are the elements.
        const Node elements = layout.repeat(count, type.extent);
        const Sequence all = Walk(layout, result).node(elements, result.bytes);
        result.hash = all.hash;
        result.elements = all.length;
    }
    return result;
}

bool Signature::is_packed() const noexcept {
    return run_count == 1 && more == 0 && basic_type(BasicIndex(runs[0].type)).group == TypeGroup::packed;
}

std::string Signature::text() const {
    std::string text;
    for (std::uint64_t i = 0; i < run_count; ++i) {
        text +=
            (i == 0 ? "" : ", ") + std::to_string(runs[i].count) + " MPI_" + basic_type(BasicIndex(runs[i].type)).name;
    }
    return run_count == 0 ? "no data" : text + (more != 0 ? ", ..." : "");
}

} // namespace patchbay::check
