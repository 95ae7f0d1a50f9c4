// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/members.h"

#include "components/common/atomic_update.h"
#include "frameworks/coll/coll.h"
#include "object/handle.h"

#include <algorithm>
#include <cstring>

namespace patchbay::osc::rdma {

namespace {
constexpr btl::Offers for_memory = btl::Offers::put | btl::Offers::get;
// A control block is accessed by processor and btl, and those who wait for its words are woken.
constexpr btl::Offers for_control = btl::Offers::atomics_64 | btl::Offers::processor_atomics | btl::Offers::notify;
constexpr btl::Offers for_mapped_control = btl::Offers::map | btl::Offers::notify;
constexpr btl::Offers for_shared_copies =
    btl::Offers::put | btl::Offers::get | btl::Offers::any_range | btl::Offers::immediate;
constexpr std::uint64_t whole_space = ~std::uint64_t(0);
} // namespace

bool OwnModules::add(btl::Module& module) noexcept {
    for (std::size_t i = 0; i < _count; ++i) {
        if (_entries[i].module == &module) {
            return true;
        }
    }
    if (_count == most_modules) {
        return false;
    }
    _entries[_count++] = {&module, module.one_sided()};
    return true;
}

Registration& Registration::operator=(Registration&& other) noexcept {
    if (this != &other) {
        reset();
        _modules = other._modules;
        _count = std::exchange(other._count, 0);
        _keys = other._keys;
    }
    return *this;
}

void Registration::reset() noexcept {
    for (; _count > 0; --_count) {
        (*_modules)[_count - 1].one_sided->deregister_memory(_keys[_count - 1]);
    }
}

Result<Registration> Registration::create(const OwnModules& modules, void* base, std::uint64_t bytes) noexcept {
    Registration registration;
    registration._modules = &modules;
    for (; registration._count < modules.count(); ++registration._count) {
        auto key = modules[registration._count].one_sided->register_memory(base, bytes);
        if (!key) {
            return key.error();
        }
        registration._keys[registration._count] = *key;
    }
    return registration;
}

// What a member tells the others.
struct Members::Record {
    struct Way {
        char module[16] = {};
        btl::RemoteKey control;
        btl::RemoteKey memory;
    };
    std::uint64_t ways_used = 0;
    std::uint64_t mailbox_payload = 0;
    std::uint64_t granularity = 0; // Members::granularity(), as this member would have it
    Way ways[most_modules];
};

enum class Members::Verdict : std::int32_t { failed, refuse, by_operations, mapped };

std::string Members::refuse(btl::Transports& transports, const Group& group, int rank) {
    for (int member = 0; member < group.size(); ++member) {
        const ProcessId process = group.process(member);
        if (member != rank && transports.one_sided_to(process, for_memory | for_control) == nullptr) {
            return "no btl with put, get, atomics and notification reaches rank " + std::to_string(member);
        }
    }
    return {};
}

Members::Members(Window& window, Job& job, std::byte* control, std::size_t control_bytes, std::size_t mailbox_payload)
    : _window(window),
      _job(job),
      _control(control),
      _control_bytes(control_bytes),
      _mailbox_payload(mailbox_payload),
      _words(window.rank, window.size, control, job.progress()),
      _peers(new Peer[std::size_t(window.size)]()),
      _modules(std::size_t(window.size)),
      _blocks(std::size_t(window.size)),
      _records(std::size_t(window.size)) {}

Members::~Members() = default;

Status Members::connect_ways() {
    for (int member = 0; member < _window.size; ++member) {
        if (member == _window.rank) {
            continue;
        }
        const ProcessId process = _window.comm->group->process(member);
        btl::Module* const module = _job.transports().one_sided_to(process, for_memory | for_control);
        btl::Way way;
        if (module != nullptr) {
            const btl::Transports::Guard guard(_job.transports());
            way = _job.transports().connect(*module, process);
        }
        if (!way) {
            return Error{Errc::not_available, "no connection to rank " + std::to_string(member)};
        }
        if (!_own_modules.add(*module)) {
            return Error{Errc::not_available, "the members use more than 4 btls"};
        }
        Peer& peer = _peers[std::size_t(member)];
        peer.one_sided = module->one_sided();
        peer.endpoint = way.endpoint;
        _modules[std::size_t(member)] = module;
    }
    return {};
}

Status Members::register_own(Record& record) {
    auto control = Registration::create(_own_modules, _control, _control_bytes);
    if (!control) {
        return control.error();
    }
    _own_control = std::move(*control);
    // The regions of a dynamic window come later. A word of private memory shows now whether they can be reached.
    const bool dynamic = _window.flavor == MPI_WIN_FLAVOR_DYNAMIC;
    const WindowMember& self = _window.members[std::size_t(_window.rank)];
    auto memory =
        Registration::create(_own_modules, dynamic ? &_sample : _window.base, dynamic ? sizeof _sample : self.bytes);
    if (!memory) {
        return memory.error();
    }
    _own_memory = std::move(*memory);
    record.ways_used = std::uint32_t(_own_modules.count());
    record.mailbox_payload = _mailbox_payload;
    record.granularity = dynamic ? 0 : common::granularity_of(_window);
    for (std::size_t i = 0; i < _own_modules.count(); ++i) {
        std::strncpy(record.ways[i].module, _own_modules[i].module->name(), sizeof record.ways[i].module - 1);
        record.ways[i].control = _own_control.key(i);
        record.ways[i].memory = _own_memory.key(i);
    }
    return {};
}

Members::Verdict Members::judge_member(int member, const Record& record, std::string& reason) {
    Peer& peer = _peers[std::size_t(member)];
    const char* const name = _modules[std::size_t(member)]->name();
    std::size_t i = 0;
    while (i < record.ways_used && std::strncmp(record.ways[i].module, name, sizeof record.ways[i].module - 1) != 0) {
        ++i;
    }
    if (i == record.ways_used) {
        reason = "rank " + std::to_string(member) + " does not use btl/" + name;
        return Verdict::refuse;
    }
    const auto& keys = record.ways[i];
    peer.key = keys.memory;
    peer.key_index = std::uint32_t(i);
    peer.key_count = std::uint32_t(record.ways_used);
    const bool dynamic = _window.flavor == MPI_WIN_FLAVOR_DYNAMIC;
    const bool empty = !dynamic && _window.members[std::size_t(member)].bytes == 0;
    const btl::Offers memory = empty ? for_memory : peer.one_sided->offered(*peer.endpoint, keys.memory);
    if (!dynamic && !empty && has_all(memory, btl::Offers::map)) {
        peer.mapped = peer.one_sided->map(*peer.endpoint, keys.memory);
    }
    if (peer.mapped == nullptr && !has_all(memory, for_memory)) {
        reason = std::string("btl/") + name + " cannot access the memory of rank " + std::to_string(member);
        return Verdict::refuse;
    }
    _need_flush = _need_flush || (peer.mapped == nullptr && !empty);
    _words.set_way(member, {peer.one_sided, peer.endpoint, keys.control});
    const btl::Offers control = peer.one_sided->offered(*peer.endpoint, keys.control);
    if (has_all(control, for_mapped_control)) {
        _blocks[std::size_t(member)] = peer.one_sided->map(*peer.endpoint, keys.control);
        if (_blocks[std::size_t(member)] != nullptr) {
            return Verdict::mapped;
        }
    }
    if (!has_all(control, for_control)) {
        reason = std::string("btl/") + name + " has no atomics for rank " + std::to_string(member);
        return Verdict::refuse;
    }
    return Verdict::by_operations;
}

Members::Verdict Members::judge(std::string& reason) {
    auto verdict = Verdict::mapped;
    for (int member = 0; member < _window.size && verdict > Verdict::refuse; ++member) {
        if (member != _window.rank) {
            verdict = std::min(verdict, judge_member(member, _records[std::size_t(member)], reason));
        }
    }
    return verdict;
}

Members::Verdict Members::agree(Communicator& comm, Verdict own, std::int32_t* single, int* code) noexcept {
    std::int32_t lowest[] = {std::int32_t(own), *single};
    *code = (*comm.coll)[coll::Function::allreduce].allreduce(
        MPI_IN_PLACE, lowest, 2, *to_object<Datatype>(MPI_INT32_T), *to_object<Op>(MPI_MIN), comm);
    *single = lowest[1];
    return *code == MPI_SUCCESS ? Verdict(lowest[0]) : Verdict::failed;
}

Status Members::agree_on(Communicator& comm, const Status& own) {
    int code = MPI_SUCCESS;
    std::int32_t unused = 0;
    const Verdict mine = own                      ? Verdict::mapped
        : own.error().code == Errc::not_available ? Verdict::refuse
                                                  : Verdict::failed;
    return status_of(agree(comm, mine, &unused, &code), code, own ? std::string() : own.error().text);
}

Status Members::status_of(Verdict verdict, int code, const std::string& reason) {
    if (verdict == Verdict::failed) {
        return Error{code == MPI_ERR_PROC_ABORTED ? Errc::peer_failed : Errc::system,
            reason.empty() ? "another member of the window has an error" : reason};
    }
    if (verdict == Verdict::refuse) {
        return Error{Errc::not_available, reason.empty() ? "another member cannot use it for this window" : reason};
    }
    return {};
}

Status Members::prepare() {
    Record& own = _records[std::size_t(_window.rank)];
    Status ready = connect_ways();
    return ready ? register_own(own) : ready;
}

Status Members::connect() {
    Communicator& comm = *_window.comm;
    int code = (*comm.coll)[coll::Function::allgather].allgather(MPI_IN_PLACE, sizeof(Record),
        *to_object<Datatype>(MPI_BYTE), _records.data(), sizeof(Record), *to_object<Datatype>(MPI_BYTE), comm);
    std::string reason;
    auto verdict = Verdict::failed;
    if (code == MPI_SUCCESS) {
        verdict = judge(reason);
    }
    // A member that accesses memory by operations is noticed by the member that does, only.
    auto single = std::int32_t(verdict == Verdict::mapped && !_need_flush);
    for (const Record& record : _records) {
        single = record.granularity != 0 ? single : 0;
    }
    verdict = agree(comm, verdict, &single, &code);
    if (Status agreed = status_of(verdict, code, reason); !agreed) {
        return agreed;
    }
    _granularity = single != 0 ? _records[std::size_t(_window.rank)].granularity : 0;
    for (int member = 0; verdict == Verdict::mapped && member < _window.size; ++member) {
        if (member != _window.rank) {
            _words.use_mapped(member, _blocks[std::size_t(member)]);
        }
    }
    _peers[std::size_t(_window.rank)].mapped = static_cast<std::byte*>(_window.base);
    if (verdict != Verdict::mapped) {
        _blocks.clear();
    }
    return {};
}

std::size_t Members::mailbox_payload(int member) const noexcept {
    return std::size_t(_records[std::size_t(member)].mailbox_payload);
}

void Members::share_own_space(int member) noexcept {
    Peer& peer = _peers[std::size_t(member)];
    std::size_t i = 0;
    bool all_can = true;
    for (std::size_t k = 0; k < _own_modules.count(); ++k) {
        all_can = all_can && has_all(_own_modules[k].one_sided->offers(), for_shared_copies);
        i = _own_modules[k].one_sided == peer.one_sided ? k : i;
    }
    if (!all_can) {
        return;
    }
    if (_own_space.empty()) {
        auto registration = Registration::create(_own_modules, nullptr, whole_space);
        if (!registration) {
            return; // operations are carried out otherwise
        }
        _own_space = std::move(*registration);
    }
    peer.own_space.store(&_own_space.key(i), std::memory_order_relaxed);
}

void Members::end_construction() noexcept {
    std::vector<Record>().swap(_records);
    std::vector<std::byte*>().swap(_blocks);
    std::vector<btl::Module*>().swap(_modules);
}

} // namespace patchbay::osc::rdma
