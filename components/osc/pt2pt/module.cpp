// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/module.h"

#include <atomic>

namespace patchbay::osc::pt2pt {

namespace {

void cancel(Request* request) noexcept {
    if (request != nullptr && !request->is_complete()) {
        request->cancel();
    }
}

} // namespace

Pt2pt::Pt2pt(Context& context, Window& window, const Agreed& agreed, std::shared_ptr<ProgressThread> thread)
    : _context(context),
      _window(window),
      _comm(*window.comm),
      _pml(*window.comm->pml),
      _progress(window.comm->progress_or(context.progress())),
      _agreed(agreed),
      _byte(*to_object<Datatype>(MPI_BYTE)),
      _thread(std::move(thread)),
      _lock(_progress.threads()),
      _peers(std::size_t(window.size)),
      _receiver(*this, _progress) {
    if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        _memory.set_fixed(window.base, window.members[std::size_t(window.rank)].bytes);
    }
}

Pt2pt::~Pt2pt() {
    end_receiving();
    {
        const Guard guard(_lock);
        for (const auto& peer : _peers) {
            if (peer == nullptr) {
                continue;
            }
            cancel(peer->watch.request);
            // Only where a program has not freed the window, or a process has failed.
            for (Entry* entry = peer->entries.first(); entry != nullptr; entry = peer->entries.next(*entry)) {
                cancel(entry->request);
            }
            for (Operation* operation = peer->operations.first(); operation != nullptr;
                 operation = peer->operations.next(*operation)) {
                cancel(operation->send);
                cancel(operation->receive);
            }
        }
    }
    wait_until(_progress, [this] {
        const Guard guard(_lock);
        return _sending == 0 && _under_way == 0;
    });
    _progress.quiesce(); // another thread may be at the end of the last of them
    for (const auto& peer : _peers) {
        while (peer != nullptr && !peer->entries.empty()) {
            delete peer->entries.pop_front();
        }
        while (peer != nullptr && !peer->operations.empty()) {
            peer->operations.first()->error = MPI_ERR_OTHER; // its result has not come
            end_operation(*peer->operations.first());
        }
    }
    while (_free_messages != nullptr) {
        OutMessage* const message = std::exchange(_free_messages, _free_messages->next_free);
        message->~OutMessage();
        ::operator delete(message);
    }
}

int Pt2pt::finish() noexcept {
    const int code = flush_all();
    wait_until(_progress, [this] {
        const Guard guard(_lock);
        return _sending == 0;
    });
    return code;
}

int Pt2pt::sync() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    _progress.poll();
    return MPI_SUCCESS;
}

int Pt2pt::attach(void* base, std::uint64_t bytes) noexcept {
    const Guard guard(_lock);
    return _memory.attach(base, bytes);
}

int Pt2pt::detach(void* base) noexcept {
    const Guard guard(_lock);
    _memory.detach(base);
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::pt2pt
