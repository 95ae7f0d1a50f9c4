// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/framework.h"
#include "frameworks/coll/coll.h"

#include <memory>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {
namespace coll {

// Makes the table of a new communicator: for each function the best module among those that provide it.
class Selector {
public:
    // `object` names the communicator for people; `only` is a selection list that overrides the job's ("" for none).
    // Local. Errc::not_available when a function is left that nobody provides.
    static Result<std::unique_ptr<Table>> select(Framework<Component>& framework, Instance& instance,
                                                 Communicator& comm, const std::string& object,
                                                 const std::string& only);
};

} // namespace coll
} // namespace patchbay
