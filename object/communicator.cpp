// SPDX-License-Identifier: BSD-3-Clause
#include "object/communicator.h"

namespace patchbay {

Communicator::~Communicator() = default;

std::string Communicator::describe() const {
    std::lock_guard lock(mutex);
    return name.empty() ? "communicator " + std::to_string(index) + " of " + std::to_string(size) + " processes"
                        : "communicator " + name;
}

} // namespace patchbay
