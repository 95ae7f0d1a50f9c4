// SPDX-License-Identifier: BSD-3-Clause
#include "object/type_description.h"

#include "object/datatype_f90.h"
#include "object/error_cause.h"
#include "object/recipe.h"
#include "object/recipe_check.h"

#include <algorithm>
#include <map>
#include <new>

namespace patchbay {
namespace {

// The words are: the mark, the number of nodes, the nodes, and the reference of the type. A node is: combiner, `large`,
// the numbers of integers, addresses, counts and types, and then those. A reference is the number of an earlier node,
// or for a predefined type the negative value of its handle.
constexpr std::int64_t mark = 0x7074'6f73'6372'0001;

std::uint32_t levels_of(const Recipe& recipe) {
    const bool array = recipe.combiner == MPI_COMBINER_SUBARRAY || recipe.combiner == MPI_COMBINER_DARRAY;
    const std::int64_t dimensions = array ? recipe.integers[recipe.combiner == MPI_COMBINER_DARRAY ? 2 : 0] : 0;
    // A dimension is at most three nested constructors, and the array two more (object/datatype_arrays.cpp).
    return std::uint32_t(std::min<std::int64_t>(1 + (array ? 2 + 3 * dimensions : 0), deepest_description + 1));
}

class Description {
public:
    explicit Description(std::vector<std::int64_t>& words)
        : _words(words) {}

    int write(const Datatype& type) {
        _words.push_back(mark);
        const std::size_t count = _words.size();
        _words.push_back(0);
        const std::int64_t root = reference(type, 0);
        _words[count] = std::int64_t(_nodes.size());
        _words.push_back(root);
        return _too_deep ? note_cause(MPI_ERR_TYPE, "the constructors of the datatype are nested too deeply")
                         : MPI_SUCCESS;
    }

private:
    struct Node {
        std::int64_t number;
        std::uint32_t depth;
    };

    // Types of MPI_Type_create_f90_* count as predefined, but their handles are addresses of this process.
    static bool has_handle(const Datatype& type) {
        return type.predefined_handle() != 0 && type.predefined_handle() < first_dynamic_handle;
    }

    // Writes the nodes of the components before that of the type. `above`: the constructors around it.
    std::int64_t reference(const Datatype& type, std::uint32_t above) {
        if (has_handle(type)) {
            return -std::int64_t(type.predefined_handle());
        }
        if (const auto found = _nodes.find(&type); found != _nodes.end()) {
            _too_deep = _too_deep || above + found->second.depth > deepest_description;
            return found->second.number;
        }
        const Recipe& recipe = type.recipe();
        const std::uint32_t levels = levels_of(recipe);
        if (above + levels > deepest_description) {
            _too_deep = true;
            return 0;
        }
        std::vector<std::int64_t> components;
        components.reserve(recipe.types.size());
        std::uint32_t below = 0;
        for (const Ref<Datatype>& component : recipe.types) {
            components.push_back(reference(*component, above + levels));
            below = std::max(below, has_handle(*component) || _too_deep ? 0 : _nodes.at(component.get()).depth);
        }
        write_node(recipe, components);
        const auto number = std::int64_t(_nodes.size());
        _nodes.emplace(&type, Node{number, levels + below});
        return number;
    }

    void write_node(const Recipe& recipe, const std::vector<std::int64_t>& components) {
        for (const std::size_t number : {std::size_t(recipe.combiner), std::size_t(recipe.large),
                 recipe.integers.size(), recipe.addresses.size(), recipe.counts.size(), components.size()}) {
            _words.push_back(std::int64_t(number));
        }
        _words.insert(_words.end(), recipe.integers.begin(), recipe.integers.end());
        _words.insert(_words.end(), recipe.addresses.begin(), recipe.addresses.end());
        _words.insert(_words.end(), recipe.counts.begin(), recipe.counts.end());
        _words.insert(_words.end(), components.begin(), components.end());
    }

    std::vector<std::int64_t>& _words;
    std::map<const Datatype*, Node> _nodes;
    bool _too_deep = false;
};

// Constructs the types of a description, node by node. Words that cannot be right end it with `bad()`.
class Construction {
public:
    explicit Construction(std::span<const std::int64_t> words)
        : _words(words) {}

    int run(Ref<Datatype>* result) {
        std::int64_t nodes = 0;
        if (take() != mark || (nodes = take()) < 0) {
            return bad();
        }
        for (std::int64_t i = 0; i < nodes; ++i) {
            if (const int code = node(); code != MPI_SUCCESS) {
                return code;
            }
        }
        const std::size_t root = _at;
        Ref<Datatype> type = referenced(take());
        if (!type || _at != root + 1 || _at != _words.size()) {
            return bad();
        }
        const int code = type->commit();
        if (code == MPI_SUCCESS) {
            *result = std::move(type);
        }
        return code;
    }

private:
    static int bad() { return note_cause(MPI_ERR_TYPE, "the description of a datatype is not valid"); }

    // Behind the end: a word that is valid nowhere.
    std::int64_t take() { return _at < _words.size() ? _words[_at++] : std::int64_t(INT64_MIN); }

    std::span<const std::int64_t> take_list(std::int64_t length) {
        const auto list = _words.subspan(_at, std::size_t(length));
        _at += std::size_t(length);
        return list;
    }

    Ref<Datatype> referenced(std::int64_t reference) const {
        if (reference >= 0) {
            return reference < std::int64_t(_types.size()) ? _types[std::size_t(reference)] : Ref<Datatype>();
        }
        if (reference <= -std::int64_t(first_dynamic_handle)) {
            return {};
        }
        auto* type = to_object<Datatype>(reinterpret_cast<MPI_Datatype>(std::uintptr_t(-reference)));
        return type != nullptr && type->exists() ? Ref<Datatype>::share(type) : Ref<Datatype>();
    }

    int node() {
        std::int64_t head[6];
        for (std::int64_t& word : head) {
            word = take();
        }
        const auto left = std::int64_t(_words.size() - _at);
        std::int64_t lists = 0;
        for (const std::int64_t length : std::span(head).subspan(2)) {
            if (length < 0 || length > left) {
                return bad();
            }
            lists += length;
        }
        if (lists > left || head[0] < INT32_MIN || head[0] > INT32_MAX || (head[1] != 0 && head[1] != 1)) {
            return bad();
        }
        Recipe recipe;
        recipe.combiner = int(head[0]);
        recipe.large = head[1] == 1;
        for (const std::int64_t word : take_list(head[2])) {
            if (word < INT32_MIN || word > INT32_MAX) {
                return bad();
            }
            recipe.integers.push_back(int(word));
        }
        const auto addresses = take_list(head[3]);
        recipe.addresses.assign(addresses.begin(), addresses.end());
        const auto counts = take_list(head[4]);
        recipe.counts.assign(counts.begin(), counts.end());
        std::uint32_t below = 0;
        for (const std::int64_t reference : take_list(head[5])) {
            recipe.types.push_back(referenced(reference));
            if (!recipe.types.back()) {
                return bad();
            }
            below = std::max(below, reference >= 0 ? _depths[std::size_t(reference)] : 0);
        }
        return construct(std::move(recipe), below);
    }

    int construct(Recipe&& recipe, std::uint32_t below) {
        Ref<Datatype> type;
        std::uint32_t depth = 1;
        int code = MPI_SUCCESS;
        if (is_f90(recipe.combiner)) {
            code = construct_f90(recipe, &type);
        } else {
            if (!is_valid(recipe) || (depth = below + levels_of(recipe)) > deepest_description) {
                return bad();
            }
            code = add_body(recipe);
            code = code == MPI_SUCCESS ? Datatype::create(std::move(recipe), &type) : code;
        }
        if (code == MPI_SUCCESS) {
            _types.push_back(std::move(type));
            _depths.push_back(depth);
        }
        return code;
    }

    static bool is_f90(int combiner) {
        return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
            combiner == MPI_COMBINER_F90_INTEGER;
    }

    static int construct_f90(const Recipe& recipe, Ref<Datatype>* result) {
        const bool integer = recipe.combiner == MPI_COMBINER_F90_INTEGER;
        if (recipe.integers.size() != (integer ? 1u : 2u) || !recipe.addresses.empty() || !recipe.counts.empty() ||
            !recipe.types.empty() || recipe.large) {
            return bad();
        }
        Datatype* type = nullptr;
        const int code = integer                       ? f90_integer(recipe.integers[0], &type)
            : recipe.combiner == MPI_COMBINER_F90_REAL ? f90_real(recipe.integers[0], recipe.integers[1], &type)
                                                       : f90_complex(recipe.integers[0], recipe.integers[1], &type);
        if (code == MPI_SUCCESS) {
            *result = Ref<Datatype>::share(type);
        }
        return code == MPI_ERR_ARG ? bad() : code;
    }

    std::span<const std::int64_t> _words;
    std::size_t _at = 0;
    std::vector<Ref<Datatype>> _types;
    std::vector<std::uint32_t> _depths;
};

} // namespace

int describe_type(const Datatype& type, std::vector<std::int64_t>* words) noexcept {
    try {
        return Description(*words).write(type);
    } catch (const std::bad_alloc&) {
        return note_cause(MPI_ERR_NO_MEM, "no memory for the description of a datatype");
    }
}

int construct_described_type(std::span<const std::int64_t> words, Ref<Datatype>* result) noexcept {
    try {
        return Construction(words).run(result);
    } catch (const std::bad_alloc&) {
        return note_cause(MPI_ERR_NO_MEM, "no memory for a datatype of another process");
    }
}

} // namespace patchbay
