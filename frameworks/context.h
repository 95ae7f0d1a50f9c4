// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "object/process.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

struct Core;
class Group;
class HwResources;
class Progress;
class Runtime;
namespace btl {
class Transports;
}
namespace cid {
class Directory;
class IndexTable;
struct Counters;
}

// The initialized library as a component sees it: all that a component may use of it, besides the objects that its
// calls pass. The library implements this class. A component gets a reference in `query` and `wrap`, and may keep it
// until its close() is called.
//
// All functions are thread-safe, local, and do not block, unless they say otherwise.
class Context {
public:
    // Parameters and the log of decisions; the runtime, the progress engine and the node's memory are set.
    virtual Core& core() noexcept = 0;
    // The client of the launcher (core/runtime/runtime.h).
    virtual Runtime& runtime() noexcept = 0;
    // For pollers and for waiting (core/progress/progress.h, waiter.h).
    virtual Progress& progress() noexcept = 0;
    // This process.
    virtual ProcessId self() const noexcept = 0;
    // A number of 63 bits that no other call in any process of the job returns. A process of another job has the same
    // one only as likely as if both were random.
    virtual std::uint64_t unique_number() noexcept = 0;
    // A text without '\0' that identifies one operation of all members of `members`: those that call this function with
    // the same text in the same order get the same names, and no other call ever gets one of them. `text` has no '\0'.
    // Throws std::bad_alloc.
    virtual std::string operation_name(const Group& members, std::string_view text) = 0;
    // The hardware that this process is bound to (core/runtime/hw_resources.h). Its first use takes about 10 ms.
    virtual HwResources& hw_resources() noexcept = 0;

    // The btls of this job, which all frameworks use together (frameworks/btl/transports.h). A component calls it in
    // its query or later, and gets the same object every time; it exists until all modules of the frameworks are
    // destroyed. The first call selects the btls, wrapped by the components that parameter btl_wrap names, and calls
    // back into every btl component; calls of other threads wait for it. Throws std::bad_alloc. Errc::not_available: no
    // btl can be used, with the reason of each; other errors: a selection parameter is wrong. After an error the next
    // call tries again.
    virtual Result<btl::Transports*> transports() = 0;

    // What the cid framework's components and the pml share: the indices of communicators, the communicators by their
    // exCIDs, and the statistics of parameter cid_stats.
    virtual cid::IndexTable& communicators() noexcept = 0;
    virtual cid::Directory& directory() noexcept = 0;
    virtual cid::Counters& cid_counters() noexcept = 0;

protected:
    ~Context() = default;
};

} // namespace patchbay
