// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/memory/notice_board.h"
#include "core/progress/progress.h"
#include "mpi/instance/letter.h"
#include "mpi/object/request.h"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Group;
class Instance;
class LobbyAgreement;

// Where processes meet that have no communicator in common yet: a hidden communicator of the whole job, over which
// letters go. A letter says by itself which meeting it belongs to, so that any number of them can be under way at one
// time, also some that this process has not come to yet: those letters wait here, and when the instance goes down
// meanwhile, in the keepsakes. Those of one node also have a notice board, on which they find what somebody else has
// settled, or that they disagree. Costs nothing until the first meeting. Thread-safe.
class Lobby {
public:
    explicit Lobby(Instance& instance) noexcept
        : _instance(instance) {}
    ~Lobby();
    Lobby(const Lobby&) = delete;
    Lobby& operator=(const Lobby&) = delete;

    // Makes the communicator; local. Returns an MPI code.
    int open() noexcept;
    // The letters of those that have left, without waiting for them (refusals), are out. May block.
    void flush() noexcept;
    // Keeps what has arrived for another life. Nobody meets any more.
    void close() noexcept;

private:
    friend class LobbyAgreement;
    struct Outgoing {
        Request* request;
        std::vector<std::byte> bytes;
        LobbyAgreement* sender; // nullptr: it does not wait for it any more
    };

    // *board: on which the members of `group` may ask; null: some are on other nodes. Returns an MPI code.
    int find_board(const Group& group, NoticeBoard** board) noexcept;
    int enter(LobbyAgreement& visitor) noexcept;
    void leave(LobbyAgreement& visitor) noexcept;
    int send(LobbyAgreement& sender, std::uint32_t job_rank, std::vector<std::byte> letter) noexcept;

    static int poll(void* context) noexcept;
    int look() noexcept;
    int listen() noexcept;
    void take_in(std::vector<std::byte> letter);
    int reap() noexcept; // returns how many are out

    Instance& _instance;
    Communicator* _comm = nullptr;
    std::mutex _mutex; // all below; never held during a call to the pml
    std::list<LobbyAgreement*> _visitors;
    std::vector<std::vector<std::byte>> _waiting; // letters to meetings that nobody here has come to
    std::list<Outgoing> _outgoing;
    std::unique_ptr<std::byte[]> _buffer; // not initialised: what no letter needs is never touched
    std::size_t _longest = 0;             // letter there can be
    Request* _listening = nullptr;
    bool _looking = false;
    PollerHandle _poller;
    std::unique_ptr<NoticeBoard> _board; // null until it is needed
};

} // namespace patchbay
