// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/partitioned_check.h"

#include "frameworks/coll/typed_buffer.h"
#include "frameworks/pml/partitioned_recv.h"
#include "frameworks/pml/partitioned_send.h"
#include "mpi/check/buffer_uses.h"
#include "mpi/check/finding.h"
#include "object/error_cause.h"

#include <fmt/core.h>

#include <cstring>
#include <new>

namespace patchbay::check {

namespace {

// The buffers of the partitions of one request. With MPI_PROC_NULL nothing is sent or received.
std::unique_ptr<BufferUses> uses_of(BufferCheck& check, const pml::PartitionedRequest& what, Communicator& comm) {
    const std::size_t count = what.peer == MPI_PROC_NULL ? 0 : std::size_t(what.partitions);
    auto uses = std::make_unique<BufferUses>(check, count);
    for (std::size_t i = 0; i < count; ++i) {
        MessageCall call{};
        call.function = what.sends ? "MPI_Pready" : "MPI_Precv_init";
        call.buffer = coll::element(what.buffer, MPI_Count(i) * what.count, *what.type);
        call.count = what.count;
        call.type = what.type;
        call.peer = what.peer;
        call.tag = what.tag;
        if (what.sends) {
            call.mode = pml::SendMode::standard;
        }
        call.comm = &comm;
        call.partition = int(i);
        uses->describe(i, call);
    }
    return uses;
}

Signature signature_of(const pml::PartitionedRequest& what) {
    return Signature::of(*what.type, MPI_Count(what.partitions) * what.count);
}

class CheckedSend final : public pml::PartitionedSend {
public:
    CheckedSend(bool types, std::shared_ptr<BufferCheck> buffers, pml::PartitionedEngine& engine,
        const pml::PartitionedRequest& what, Communicator& comm)
        : PartitionedSend(engine, what, comm),
          _types(types),
          _buffers(std::move(buffers)),
          _uses(uses_of(*_buffers, what, comm)) {
        calls_back = true;
    }

    // The use begins before, because another thread may complete the start in the call.
    bool make_ready(int partition) noexcept override {
        if (_uses->count() > 0) {
            _uses->begin(std::size_t(partition), CallSite::here());
        }
        return PartitionedSend::make_ready(partition);
    }
    int finish(MPI_Status*) noexcept override {
        _uses->end_all();
        return error;
    }

private:
    ~CheckedSend() override = default;
    pml::PartitionedNote describe() const override {
        static_assert(sizeof(Signature) <= sizeof(pml::PartitionedNote));
        pml::PartitionedNote note{};
        if (_types) {
            const Signature signature = signature_of(_what);
            std::memcpy(note.data(), &signature, sizeof signature);
        }
        return note;
    }
    void prepare_release() noexcept override {
        _uses->give_up_all();
        PartitionedSend::prepare_release();
    }

    const bool _types;
    const std::shared_ptr<BufferCheck> _buffers;
    const std::unique_ptr<BufferUses> _uses;
};

class CheckedRecv final : public pml::PartitionedRecv {
public:
    CheckedRecv(bool types, std::shared_ptr<BufferCheck> buffers, pml::PartitionedEngine& engine,
        const pml::PartitionedRequest& what, Communicator& comm)
        : PartitionedRecv(engine, what, comm),
          _types(types),
          _buffers(std::move(buffers)),
          _site(CallSite::here()),
          _uses(uses_of(*_buffers, what, comm)) {
        calls_back = true;
    }

    int start() noexcept override {
        for (std::size_t i = 0; i < _uses->count(); ++i) {
            _uses->begin(i, _site);
        }
        const int code = PartitionedRecv::start();
        if (code != MPI_SUCCESS) {
            _uses->give_up_all();
        }
        return code;
    }
    bool has_arrived(int partition) noexcept override {
        const bool arrived = PartitionedRecv::has_arrived(partition);
        if (arrived && _uses->count() > 0) {
            _uses->end(std::size_t(partition));
        }
        return arrived;
    }
    int finish(MPI_Status*) noexcept override {
        _uses->end_all();
        return error;
    }

private:
    ~CheckedRecv() override = default;
    int accept(const pml::PartitionedNote& note) noexcept override {
        if (!_types) {
            return MPI_SUCCESS;
        }
        Signature sent;
        std::memcpy(&sent, note.data(), sizeof sent);
        bool same = true;
        unless_exhausted([&] {
            const Signature expected = signature_of(_what);
            same = sent.matches(expected);
            if (!same) {
                const MessageCall call{
                    "MPI_Precv_init", _what.buffer, _what.count, _what.type, _what.peer, _what.tag, {}, &*_comm};
                print_finding("types",
                    fmt::format(
                        "{}: the partitions of the matching MPI_Psend_init are {}, but those of this call are {}. "
                        "Give the same basic types in the same order on both sides",
                        call.text(_site), sent.text(), expected.text()));
            }
        });
        return same ? MPI_SUCCESS : note_cause(MPI_ERR_TYPE, printed_cause);
    }
    void prepare_release() noexcept override {
        _uses->give_up_all();
        PartitionedRecv::prepare_release();
    }

    const bool _types;
    const std::shared_ptr<BufferCheck> _buffers;
    const CallSite _site;
    const std::unique_ptr<BufferUses> _uses; // which MPI_Parrived changes, too
};

// nullptr: memory is exhausted.
template <class T>
T* make(bool types, std::shared_ptr<BufferCheck> buffers, pml::PartitionedEngine& engine,
    const pml::PartitionedRequest& what, Communicator& comm) noexcept {
    try {
        return new T(types, std::move(buffers), engine, what, comm);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

} // namespace

pml::PartitionedSend* PartitionedCheck::make_send(
    pml::PartitionedEngine& engine, const pml::PartitionedRequest& what, Communicator& comm) noexcept {
    return make<CheckedSend>(_types, _buffers, engine, what, comm);
}

pml::PartitionedRecv* PartitionedCheck::make_recv(
    pml::PartitionedEngine& engine, const pml::PartitionedRequest& what, Communicator& comm) noexcept {
    return make<CheckedRecv>(_types, _buffers, engine, what, comm);
}

} // namespace patchbay::check
