// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/out_of_memory.h"
#include "core/memory/node_segment.h"
#include "core/progress/progress.h"
#include "core/runtime/runtime.h"
#include "frameworks/osc/epochs.h"
#include "frameworks/osc/memory.h"
#include "frameworks/osc/selector.h"
#include "mpi/communicators/communicators.h"
#include "mpi/instance/instance.h"
#include "mpi/windows/hints.h"
#include "mpi/windows/window_collectives.h"
#include "mpi/windows/windows.h"
#include "object/error_cause.h"
#include "object/error_code.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchbay {

namespace {

// What the members of a new window exchange when the memory of all is in its place.
struct Offer {
    osc::Selector::Offers components{};
    std::uint64_t address = 0;
    int code = MPI_SUCCESS;
};

// Higher than every code, so that the members agree on it.
constexpr int not_for_this_window = std::numeric_limits<int>::max();

const char* constructor_of(int flavor) noexcept {
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE:
        return "MPI_Win_create";
    case MPI_WIN_FLAVOR_ALLOCATE:
        return "MPI_Win_allocate";
    case MPI_WIN_FLAVOR_SHARED:
        return "MPI_Win_allocate_shared";
    default:
        return "MPI_Win_create_dynamic";
    }
}

constexpr std::string_view none_of_all =
    "no component of framework osc that all members have could make its module in all of them";

// One constructor in one member. The members go through the same steps; a member that has failed takes part in the
// exchange that ends its step, by which the others learn of the failure, and then none goes on.
class Construction {
public:
    Construction(Communicator& parent, const NewWindow& what, int refused) noexcept
        : _parent(parent),
          _instance(*parent.instance),
          _what(what),
          _code(refused) {}

    int run(Window** made) noexcept;

private:
    int prepare();
    bool all_on_node() const;
    int allocate(std::uint64_t bytes);
    int gather_members() noexcept;
    int compare_constructors() const noexcept;
    int place_in_first() noexcept;
    int map_own_part(SharedAddress first);
    int choose_components() noexcept;
    int make_module() noexcept;
    int make_with_first() noexcept;
    int enter();

    Communicator& _parent;
    Instance& _instance;
    const NewWindow& _what;
    int _code; // of this member
    Ref<Window> _window;
    bool _contiguous = false; // rank 0 allocates the memory of all members
    bool _on_node = false;
    osc::Selector::Candidates _candidates;
    std::vector<Offer> _offers; // of all members
    std::string _refusal;       // why the last component has not made a module; empty: it is not known
};

int Construction::run(Window** made) noexcept {
    *made = nullptr;
    Communicator* comm = nullptr;
    const int duplicated = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return duplicate_for_library(_parent, &comm); });
    if (duplicated != MPI_SUCCESS) {
        return duplicated;
    }
    auto held = Ref<Communicator>::adopt(comm);
    if (_code == MPI_SUCCESS) {
        _code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return prepare(); });
    }
    if (const int code = code_of_all(*comm, _code, _contiguous); code != MPI_SUCCESS) {
        return code;
    }
    _window->comm = held.detach();
    comm->window = _window.get();
    if (_what.flavor == MPI_WIN_FLAVOR_SHARED && !_contiguous) { // an error goes to the others with the offer
        _code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return allocate(_what.bytes); });
    }
    if (const int code = gather_members(); code != MPI_SUCCESS) {
        return code;
    }
    if (_contiguous) {
        if (const int code = place_in_first(); code != MPI_SUCCESS) {
            return code;
        }
    }
    if (const int code = choose_components(); code != MPI_SUCCESS) {
        return code;
    }
    if (const int code = make_module(); code != MPI_SUCCESS) {
        return code;
    }
    *made = _window.detach();
    return MPI_SUCCESS;
}

// All that one member can do alone. What the later steps need is allocated here, before the members agree that none of
// them has failed.
int Construction::prepare() {
    if (Status opened = _instance.open_osc(); !opened) {
        return note_cause(opened.error());
    }
    _window = Ref<Window>::adopt(new Window);
    Window& window = *_window;
    window.rank = _parent.rank;
    window.size = _parent.size;
    window.flavor = _what.flavor;
    window.instance = &_instance;
    window.session = _parent.session;
    window.hints = hints_for_window(_parent, _what.info);
    window.errhandler = Errhandler::predefined(MPI_ERRORS_ARE_FATAL);
    window.members.resize(std::size_t(window.size));
    window.epochs = new osc::Epochs(window.size, window.rank, _parent.progress_or(_instance.progress()).threads());
    window.epochs->forbid_locks(flag_of_window(window, "no_locks"));
    window.base = _what.base;
    _offers.resize(std::size_t(window.size));
    _on_node = all_on_node();
    if (_what.flavor == MPI_WIN_FLAVOR_SHARED) {
        if (!_on_node) {
            return note_cause(MPI_ERR_RMA_SHARED,
                "the processes of the communicator are not all on one node; MPI_Comm_split_type with "
                "MPI_COMM_TYPE_SHARED makes communicators whose processes are");
        }
        // Of shared memory the members first agree who allocates it, because their info may differ.
        _contiguous = !flag_of_window(window, "alloc_shared_noncontig");
    }
    return _what.flavor == MPI_WIN_FLAVOR_ALLOCATE ? allocate(_what.bytes) : MPI_SUCCESS;
}

// Whether all members share the node segment of this process.
bool Construction::all_on_node() const {
    const Group& group = *_parent.group;
    NodeSegment* node = _instance.core().node;
    if (node == nullptr || (group.has_other_jobs() && !node->is_for_all_jobs())) {
        return false;
    }
    for (int rank = 0; rank < group.size(); ++rank) {
        if (!_instance.runtime().is_local(group.process(rank))) {
            return false;
        }
    }
    return true;
}

int Construction::allocate(std::uint64_t bytes) {
    const bool shared = _what.flavor == MPI_WIN_FLAVOR_SHARED;
    auto memory =
        osc::Memory::allocate(_on_node ? _instance.core().node : nullptr, bytes, alignment_of_window(*_window), shared);
    if (!memory) {
        return note_cause(memory.error());
    }
    _window->memory = memory->release();
    _window->base = _window->memory->base();
    return MPI_SUCCESS;
}

int Construction::gather_members() noexcept {
    Window& window = *_window;
    WindowMember own;
    own.address = reinterpret_cast<std::uint64_t>(_what.flavor == MPI_WIN_FLAVOR_DYNAMIC ? nullptr : window.base);
    own.bytes = _what.bytes;
    own.shared = window.memory != nullptr ? window.memory->address() : 0;
    own.displacement_unit = _what.displacement_unit;
    own.flavor = _what.flavor;
    const int code = gather(*window.comm, own, std::span(window.members));
    return code == MPI_SUCCESS ? compare_constructors() : code;
}

// Up to here all constructors send the same messages. All members find the same difference.
int Construction::compare_constructors() const noexcept {
    const std::vector<WindowMember>& members = _window->members;
    const int first = members.front().flavor;
    const auto other =
        std::ranges::find_if(members, [first](const WindowMember& member) { return member.flavor != first; });
    if (other == members.end()) {
        return MPI_SUCCESS;
    }
    return unless_out_of_memory(MPI_ERR_RMA_FLAVOR, [&] {
        return note_cause(MPI_ERR_RMA_FLAVOR,
            fmt::format("rank {} has called {}, but rank 0 has called {}; all members must call the same constructor",
                other - members.begin(), constructor_of(other->flavor), constructor_of(first)));
    });
}

// Contiguous shared memory: rank 0 allocates it, and each member finds its part behind those of the lower ranks.
int Construction::place_in_first() noexcept {
    Window& window = *_window;
    struct {
        SharedAddress address = 0;
        int code = MPI_SUCCESS;
    } block;
    std::uint64_t total = 0;
    bool fits = true;
    for (const WindowMember& member : window.members) {
        fits = fits && !__builtin_add_overflow(total, member.bytes, &total);
    }
    if (window.rank == 0 && (!fits || total > 0)) {
        block.code = !fits ? note_cause(MPI_ERR_NO_MEM, "the sizes of all members together do not fit 64 bits")
                           : unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return allocate(total); });
        block.address = block.code == MPI_SUCCESS ? window.memory->address() : 0;
    }
    if (const int code = broadcast(*window.comm, block); code != MPI_SUCCESS) {
        return code;
    }
    if (block.code != MPI_SUCCESS) {
        return window.rank == 0 ? block.code
                                : note_cause(block.code, "rank 0 could not allocate the memory of all members");
    }
    _code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] { return map_own_part(block.address); });
    return MPI_SUCCESS; // an error goes to the others with the offer
}

int Construction::map_own_part(SharedAddress first) {
    Window& window = *_window;
    window.hints->set("alloc_shared_noncontig", "false"); // also where this member asked for "true"
    std::uint64_t before = 0;
    for (int rank = 0; rank < window.size; ++rank) {
        if (rank == window.rank && first != 0) {
            auto mapped = _instance.core().node->heap().map_block(first);
            if (!mapped) {
                return note_cause(mapped.error());
            }
            window.base = *mapped + before;
        }
        window.members[rank].shared = first != 0 ? first + before : 0;
        before += window.members[rank].bytes;
    }
    window.members[window.rank].address = reinterpret_cast<std::uint64_t>(window.base);
    return MPI_SUCCESS;
}

int Construction::choose_components() noexcept {
    Window& window = *_window;
    Offer own;
    if (_code == MPI_SUCCESS) {
        _code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            auto candidates = _instance.osc_selector().query(_instance, window, hint_of_window(window, "patchbay_osc"));
            if (!candidates) {
                return note_cause(candidates.error());
            }
            _candidates = std::move(*candidates);
            own.components = osc::Selector::offers_of(_candidates);
            return MPI_SUCCESS;
        });
    }
    own.code = _code;
    own.address = window.members[std::size_t(window.rank)].address;
    if (const int code = gather(*window.comm, own, std::span(_offers)); code != MPI_SUCCESS) {
        return code;
    }
    for (std::size_t rank = 0; rank < _offers.size(); ++rank) {
        if (_offers[rank].code != MPI_SUCCESS) {
            return _code != MPI_SUCCESS
                ? _code
                : note_cause(_offers[rank].code, "another member of the window's communicator has got this error");
        }
    }
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::vector<osc::Selector::Offers> components;
        for (std::size_t rank = 0; rank < _offers.size(); ++rank) {
            components.push_back(_offers[rank].components);
            window.members[rank].address = _offers[rank].address;
        }
        const Status common = _instance.osc_selector().keep_common(_instance, window, _candidates, components);
        return common ? MPI_SUCCESS : note_cause(common.error());
    });
}

// A component that finds in one member that it cannot serve the window is a candidate in none, and the next one is
// tried.
int Construction::make_module() noexcept {
    for (;;) {
        const int own = make_with_first();
        const int code = code_of_all(*_window->comm, own);
        if (code == MPI_SUCCESS) {
            return unless_out_of_memory(MPI_SUCCESS, [&] { // only the log can be short of memory
                _instance.osc_selector().note_winner(*_window, _candidates);
                return MPI_SUCCESS;
            });
        }
        if (_window->module != nullptr) {
            _instance.remove_window(*_window);
        }
        delete std::exchange(_window->module, nullptr);
        if (code != not_for_this_window) {
            return code;
        }
        _instance.core().decisions.record("osc", _window->describe(), _candidates.front().name, Outcome::declined,
            _candidates.front().priority, "it could not make its module in all members of the window");
        _candidates.erase(_candidates.begin());
        if (_candidates.empty()) {
            return note_cause(
                MPI_ERR_UNSUPPORTED_OPERATION, _refusal.empty() ? none_of_all : std::string_view(_refusal));
        }
    }
}

// Makes the module of the best candidate.
int Construction::make_with_first() noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        auto module = _candidates.front().component->create(_instance, *_window);
        if (module && *module == nullptr) {
            return note_cause(
                MPI_ERR_INTERN, "component " + _candidates.front().name + " of framework osc has made no module");
        }
        if (module) {
            _instance.osc_selector().wrap(*_window, *module);
            _window->module = module->release();
            return enter();
        }
        if (module.error().code == Errc::not_available) {
            _refusal = module.error().text;
            return not_for_this_window;
        }
        return note_cause(module.error());
    });
}

// The window can be used when all members have come here.
int Construction::enter() {
    Window& window = *_window;
    window.component = _candidates.front().name;
    window.attribute_values = {MPI_Aint(_what.bytes), int(_what.displacement_unit), _what.flavor, MPI_WIN_UNIFIED};
    if (window.comm->view == nullptr) { // otherwise its thread frees it before MPIX_Threadcomm_finish
        _instance.add_window(window);
    }
    return MPI_SUCCESS;
}

} // namespace

int construct(Communicator& parent, const NewWindow& what, int refused, Window** made) noexcept {
    return Construction(parent, what, refused).run(made);
}

} // namespace patchbay
