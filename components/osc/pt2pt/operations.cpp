// SPDX-License-Identifier: BSD-3-Clause
// The operations of this process that are under way: their buffers are not the program's again.
#include "components/osc/pt2pt/module.h"
#include "object/convertor.h"

namespace patchbay::osc::pt2pt {

Operation* Pt2pt::make_operation(Peer& peer) {
    auto operation = std::make_unique<Operation>(*this, peer, _progress, [](ReadyItem& item) noexcept {
        auto& ready = static_cast<Operation&>(item);
        ready.module.operation_ready(ready);
    });
    if (_free_slots.empty()) {
        _free_slots.reserve(_operations.size() + 1); // so that give_up() and end_operation() need no memory
        _operations.push_back(nullptr);
        _free_slots.push_back(std::uint32_t(_operations.size() - 1));
    }
    operation->slot = _free_slots.back();
    _free_slots.pop_back();
    _operations[operation->slot] = operation.get();
    return operation.release();
}

void Pt2pt::forget(Operation& operation) noexcept {
    _operations[operation.slot] = nullptr;
    _free_slots.push_back(operation.slot);
    delete &operation;
}

// The operation has not begun at the target; nullptr: none was made. Its caller returns the error.
void Pt2pt::give_up(Operation* operation) noexcept {
    if (operation == nullptr) {
        return;
    }
    operation->awaits_result = false;
    if (operation->receive == nullptr) {
        forget(*operation);
        return;
    }
    operation->receive->cancel();
    static_cast<void>(run_operation(*operation, nullptr, 0));
}

int Pt2pt::expect_result(Operation& operation, const Fetched& result, const Header& header) noexcept {
    operation.result = result.buffer;
    operation.result_count = result.count;
    operation.result_type = Ref<Datatype>::share(const_cast<Datatype*>(result.type));
    operation.awaits_result = (header.flags & flag_result_apart) == 0;
    if (operation.awaits_result) {
        return MPI_SUCCESS;
    }
    const int code = _pml.irecv(result.buffer, result.count, *result.type, operation.peer.rank, get_tag(header.data),
        _comm, &operation.receive);
    operation.receive = code == MPI_SUCCESS ? operation.receive : nullptr;
    return code;
}

// From here on the operation ends by itself. `data`: what is sent in a message of its own, or null.
int Pt2pt::run_operation(Operation& operation, const Origin* data, int tag) noexcept {
    Peer& peer = operation.peer;
    operation.number = peer.next_operation++;
    peer.operations.push_back(operation);
    int code = MPI_SUCCESS;
    if (data != nullptr) {
        code = _pml.isend(
            data->buffer, data->count, *data->type, peer.rank, tag, pml::SendMode::standard, _comm, &operation.send);
        if (code != MPI_SUCCESS) { // the target waits for the data
            out_of_memory();
        }
    }
    if (operation.send == nullptr && operation.receive == nullptr) {
        return code;
    }
    operation.attached = true;
    ++_under_way;
    operation.open();
    if (operation.awaits_result) {
        operation.count_up();
    }
    for (Request* part : {operation.send, operation.receive}) {
        if (part != nullptr) {
            static_cast<void>(part->attach(operation));
        }
    }
    if (operation.close()) {
        --_under_way;
        end_operation(operation);
    }
    return code;
}

void Pt2pt::operation_ready(Operation& operation) noexcept {
    const Guard guard(_lock);
    --_under_way;
    end_operation(operation);
}

void Pt2pt::end_operation(Operation& operation) noexcept {
    Peer& peer = operation.peer;
    for (Request* part : {operation.send, operation.receive}) {
        if (part != nullptr) {
            operation.error = operation.error == MPI_SUCCESS ? part->error : operation.error;
            part->recycle();
        }
    }
    peer.operations.erase(operation);
    if (operation.request != nullptr) {
        operation.request->end(operation.error);
    } else if (peer.error == MPI_SUCCESS) {
        peer.error = operation.error;
    }
    forget(operation);
}

void Pt2pt::handle_result(Peer& peer, const Header& header, const std::byte* data) noexcept {
    Operation* const operation =
        header.operation < _operations.size() ? _operations[std::size_t(header.operation)] : nullptr;
    if (operation == nullptr || &operation->peer != &peer) {
        return;
    }
    if (operation->awaits_result) {
        operation->awaits_result = false;
        const auto expected = std::uint64_t(operation->result_count) * std::uint64_t(operation->result_type->size);
        operation->error = header.error != MPI_SUCCESS || header.payload == expected ? header.error : MPI_ERR_COUNT;
        if (operation->error == MPI_SUCCESS) {
            Convertor(*operation->result_type, operation->result_count, operation->result).unpack(data, expected);
        }
        if (operation->attached) {
            operation->count_down();
        } else {
            end_operation(*operation);
        }
    } else if (header.error != MPI_SUCCESS && operation->receive != nullptr) {
        operation->error = header.error;
        operation->receive->cancel(); // the result does not come
    }
}

} // namespace patchbay::osc::pt2pt
