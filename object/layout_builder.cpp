// SPDX-License-Identifier: BSD-3-Clause
#include "object/block_runs.h"
#include "object/layout_tables.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace patchbay {

using Node = Layout::Node;

namespace {

// The nodes of a small component are copied into its parent's sequence, where they can be merged with their neighbours.
// If the sequence would exceed this many nodes, the component is shared as the body of a loop, so that a long list of
// blocks does not multiply its size.
constexpr std::size_t max_inlined_nodes = 64;
// A layout keeps the memory of so many nodes that it does not have, which are cheaper than a copy of the others.
constexpr std::size_t most_spare_nodes = 4;
// So many nodes are taken together when tables are made of them: a list of a million blocks needs no more memory than
// its table and these.
constexpr std::size_t most_pending_nodes = 1024;

// Repeats `node` `count` times, if the result can be expressed by one node.
bool fold(Node& node, MPI_Count count, MPI_Aint stride) {
    if (count == 1) {
        return true;
    }
    if (node.count == 1) {
        if (node.is_block() && stride == static_cast<MPI_Aint>(node.bytes)) {
            node.bytes *= static_cast<std::size_t>(count);
        } else {
            node.count = count;
            node.stride = stride;
        }
        return true;
    }
    if (Wide(stride) == Wide(node.stride) * node.count) {
        node.count *= count;
        return true;
    }
    return false;
}

// Merges `next`, which follows `last` in the typemap, into `last`, if one node can express both.
bool merge(Node& last, const Node& next) {
    if (!last.is_block() || !next.is_block() || last.basic != next.basic) {
        return false;
    }
    const Wide distance = Wide(next.displacement) - last.displacement;
    if (last.count == 1 && next.count == 1 && distance == Wide(last.bytes)) {
        last.bytes += next.bytes;
        return true;
    }
    if (last.bytes != next.bytes) {
        return false;
    }
    if (last.count == 1 && next.count == 1) {
        last.count = 2;
        last.stride = static_cast<MPI_Aint>(distance);
        return true;
    }
    if (last.count > 1 && distance == Wide(last.stride) * last.count &&
        (next.count == 1 || next.stride == last.stride)) {
        last.count += next.count;
        return true;
    }
    return false;
}

} // namespace

// Builds a layout from the layouts of the components.
class [[gnu::visibility("hidden")]] LayoutBuilder {
public:
    LayoutBuilder(Layout & layout, Layout::View view)
        : _layout(layout),
          _view(view) {}

    void add(const Piece& piece) {
        const Datatype& type = *piece.type;
        if (piece.is_empty() || type.size == 0) {
            return;
        }
        Component& component = component_of(type);
        const std::uint32_t roots = component.layout->roots();
        const auto displacement = static_cast<MPI_Aint>(piece.displacement);
        if (piece.length == 1 && piece.repeat == 1 && piece.loops.empty() && _spliced + roots <= max_inlined_nodes) {
            _spliced += roots;
            for (std::uint32_t i = 0; i < roots; ++i) {
                append(root(component, i), displacement);
            }
            return;
        }
        Node node = all_of(component);
        repeat(node, piece.length, type.extent);
        repeat(node, piece.repeat, static_cast<MPI_Aint>(piece.stride));
        for (std::size_t i = 0; i < piece.loops.size(); i += 2) {
            repeat(node, piece.loops[i], piece.loops[i + 1]);
        }
        append(node, displacement);
    }

    void append(Node node, MPI_Aint displacement) {
        node.displacement += displacement;
        if (_sequence.empty() || !merge(_sequence.back(), node)) {
            if (_sequence.size() == most_pending_nodes && _view == Layout::View::bytes) {
                tabulate(_sequence, tables(), _tabulated);
                _sequence.clear();
            }
            _sequence.push_back(node);
        }
    }

    // Adds all pieces of a recipe.
    void add(const Recipe& recipe) {
        if (_view == Layout::View::bytes && add_byte_blocks(recipe)) {
            return;
        }
        _sequence.reserve(recipe.same_data() != nullptr ? 1 : std::min(recipe.pieces(), most_pending_nodes));
        for_each_piece(recipe, [&](const Piece& piece) { add(piece); });
    }

    void finish() {
        // Of one node the blocks are too few for a table, or a loop of too many.
        if (_view == Layout::View::bytes && _tabulated.size() + _sequence.size() > 1) {
            tabulate(_sequence, tables(), _tabulated);
            _sequence = std::move(_tabulated);
        }
        std::size_t before = 0;
        for (Node& node : _sequence) {
            node.before = before;
            before += node.total();
        }
        _layout._first_root = static_cast<std::uint32_t>(_layout._nodes.size());
        _layout._roots = static_cast<std::uint32_t>(_sequence.size());
        _layout._size = before;
        if (_layout._nodes.empty()) {
            _layout._nodes = std::move(_sequence);
        } else {
            _layout._nodes.insert(_layout._nodes.end(), _sequence.begin(), _sequence.end());
        }
        if (_layout._nodes.capacity() > _layout._nodes.size() + most_spare_nodes) {
            _layout._nodes.shrink_to_fit();
        }
        _layout._offsets.shrink_to_fit();
        _layout._places.shrink_to_fit();
        _layout.count_blocks();
    }

private:
    using Body = Layout::Body;
    struct Component {
        const Layout* layout = nullptr;
        bool imported = false;
        // What is added to an index of the component's layout in the new layout: by the body of the node that has it.
        std::array<std::uint32_t, 4> shift{};
    };

    // false: the recipe has other components, or no list of blocks.
    bool add_byte_blocks(const Recipe& recipe) {
        if (tabulate_blocks(recipe, tables(), _sequence)) {
            return true;
        }
        return with_blocks(recipe, [&](const auto& blocks) {
            if (!are_byte_blocks(blocks)) {
                return false;
            }
            _sequence.reserve(std::min(blocks.count, most_pending_nodes));
            return for_each_run(blocks, [&](MPI_Aint displacement, std::size_t bytes) {
                Node node;
                node.count = 1;
                node.bytes = bytes;
                append(node, displacement);
                return true;
            });
        });
    }

    LayoutTables tables() {
        return {_layout._offsets, _layout._places};
    }

    // Most types have one component, which needs no table.
    Component& component_of(const Datatype& type) {
        if (_first_type == nullptr) {
            _first_type = &type;
        }
        Component& component = _first_type == &type ? _first : _others[&type];
        if (component.layout == nullptr) {
            component.layout = _view == Layout::View::bytes ? &type.layout() : &type.typed_layout();
        }
        return component;
    }

    void repeat(Node & node, MPI_Count count, MPI_Aint stride) {
        if (!fold(node, count, stride)) {
            node = around(node, count, stride);
        }
    }

    void import(Component & component) {
        if (component.imported) {
            return;
        }
        component.imported = true;
        const Layout& from = *component.layout;
        const std::size_t first = append_all(_layout._nodes, from._nodes, component.shift[index(Body::sequence)]);
        append_all(_layout._offsets, from._offsets, component.shift[index(Body::equal)]);
        append_all(_layout._places, from._places, component.shift[index(Body::various)]);
        for (std::size_t i = first; i < _layout._nodes.size(); ++i) {
            shift(_layout._nodes[i], component);
        }
    }

    template <class T>
    static std::size_t append_all(std::vector<T> & to, const std::vector<T>& from, std::uint32_t& shift) {
        const std::size_t size = to.size();
        shift = static_cast<std::uint32_t>(size);
        to.insert(to.end(), from.begin(), from.end());
        return size;
    }

    static std::size_t index(Body body) {
        return static_cast<std::size_t>(body);
    }
    static void shift(Node & node, const Component& component) {
        node.first_child += component.shift[index(node.body)];
    }

    // The i-th node of a component's sequence, as a node of the new layout.
    Node root(Component & component, std::uint32_t i) {
        Node node = component.layout->nodes()[component.layout->first_root() + i];
        if (!node.is_block()) {
            import(component);
            shift(node, component);
        }
        return node;
    }

    // One element of a component, as one node.
    Node all_of(Component & component) {
        if (component.layout->roots() == 1) {
            return root(component, 0);
        }
        import(component);
        Node node;
        node.count = 1;
        node.bytes = component.layout->size();
        node.first_child = component.layout->first_root();
        node.children = component.layout->roots();
        node.body = Body::sequence;
        shift(node, component);
        return node;
    }

    Node around(Node body, MPI_Count count, MPI_Aint stride) {
        body.before = 0;
        Node node;
        node.stride = stride;
        node.count = count;
        node.bytes = body.total();
        node.first_child = static_cast<std::uint32_t>(_layout._nodes.size());
        node.children = 1;
        node.body = Body::sequence;
        _layout._nodes.push_back(body);
        return node;
    }

    Layout& _layout;
    const Layout::View _view;
    std::vector<Node> _sequence;           // what tabulate() has not looked at
    std::vector<Node> _tabulated;          // what precedes it
    const Datatype* _first_type = nullptr; // of the first component
    Component _first;
    std::unordered_map<const Datatype*, Component> _others;
    std::size_t _spliced = 0;
};

Layout::Layout(View view, const BasicType& type) {
    LayoutBuilder builder(*this, view);
    const auto add = [&](const BasicType& basic, MPI_Aint displacement) {
        Node node;
        node.count = 1;
        node.bytes = basic.size;
        node.basic = view == View::typed ? static_cast<BasicIndex>(basic.handle & 0xff) : BasicIndex(0);
        builder.append(node, displacement);
    };
    if (type.is_pair()) {
        add(basic_type(type.first), 0);
        add(basic_type(type.second), type.second_offset);
    } else if (type.exists()) {
        add(type, 0);
    }
    builder.finish();
    if (view == View::typed) {
        count_items();
    }
}

Layout::Layout(View view, const Recipe& recipe) {
    LayoutBuilder builder(*this, view);
    builder.add(recipe);
    builder.finish();
    if (view == View::typed) {
        count_items();
    }
}

Node Layout::repeat(MPI_Count count, MPI_Aint extent) const noexcept {
    if (_roots == 1) {
        Node node = _nodes[_first_root];
        if (fold(node, count, extent)) {
            return node;
        }
    }
    Node node;
    node.stride = extent;
    node.count = count;
    node.bytes = _size;
    node.first_child = _first_root;
    node.children = _roots;
    node.body = Body::sequence;
    return node;
}

} // namespace patchbay
