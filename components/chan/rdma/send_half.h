// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/chan/rdma/half.h"

namespace patchbay::chan::rdma {

// The half that sends. A start is three steps: the bytes are put to where the receive's start expects them, flush()
// orders them, and the word of the slot says that they are there. With a transport that does each at once, and memory
// that is mapped, all of it happens in start(). Otherwise the starts wait in their order, and a poll goes on.
class SendHalf final : public Half, private Deferred::Entry {
public:
    // Throws std::bad_alloc. The result is owned by retire().
    static Result<Channel*> make(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner,
        NodeSegment* segment, Offer& offer);

    int start() noexcept override;
    int connect(std::span<const std::byte> partner_offer) noexcept override;
    int rebind(void* buffer, MPI_Count count) noexcept override;
    void disconnect() noexcept override;
    bool have_all_ended() noexcept override;

private:
    enum class Step : std::uint8_t { payload, order, word };
    struct End : btl::Completion {
        SendHalf* half = nullptr;
    };

    // Throws std::bad_alloc.
    SendHalf(Context& context, const Binding& binding, Shared::Use shared, const Partner& partner);
    ~SendHalf() override = default;

    void check() noexcept override;
    int retire() noexcept override;
    bool retry() noexcept override;
    void release_memory() noexcept override;
    void leave_memory() noexcept override {}

    // With the lock held:
    bool send_queued() noexcept;
    bool send_payload() noexcept;
    bool put(std::uint64_t size) noexcept;
    bool send_word() noexcept;
    bool take(const btl::Started& started, Step next) noexcept;
    void fail(int error_number) noexcept;
    void lose(int error_number) noexcept;
    bool refresh_landing() noexcept;
    bool has_credit() const noexcept {
        return control().credit.load(std::memory_order_acquire) > _sent.load(std::memory_order_relaxed);
    }

    // The library learns in polls that the partner has failed, and waiting for a message that has been stored is none.
    static constexpr std::uint64_t starts_per_poll = 64;

    static void operation_ended(btl::Completion& end, int error_number) noexcept;
    bool packs() noexcept;
    // Of the start that is the oldest outstanding one from now on.
    void show_oldest() noexcept {
        error = _ended >= _failed_from ? _failure : MPI_SUCCESS;
        if (_any_lost.load(std::memory_order_relaxed)) [[unlikely]] {
            int& lost = _lost[_ended % binding().side.slackness];
            error = error == MPI_SUCCESS ? std::exchange(lost, MPI_SUCCESS) : error;
        }
        ++_ended;
    }

    ProgressLock _lock;                  // protects the state of the queue, which polls work on, too
    std::uint64_t _started = 0;          // the starts so far
    std::atomic<std::uint64_t> _sent{0}; // of them: complete; read without the lock
    std::uint64_t _ended = 0;            // of these: their completion has been shown to the program's thread
    Step _step = Step::payload;          // of the start number _sent
    Step _next = Step::payload;          // after the operation that is waited for
    bool _waiting = false;               // for an operation of the transport
    bool _unfinished_at_end = false;
    std::uint64_t _flags = 0; // of the word
    Position _slot;
    End _end;
    int _failure = MPI_SUCCESS; // of all starts from this one on
    std::uint64_t _failed_from = UINT64_MAX;
    std::unique_ptr<int[]> _lost; // by slot: the code of a start whose message could not be put
    std::atomic<bool> _any_lost{false};
    Slots _slots; // of the partner
    std::uint64_t _landing_version = 0;
    bool _landing_is_usable = true;
    std::unique_ptr<std::byte[]> _packed; // where the datatype has gaps and the landing is not mapped
};

} // namespace patchbay::chan::rdma
