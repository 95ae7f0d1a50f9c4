// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"

#include <list>
#include <map>
#include <optional>
#include <pmix.h>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// The data that ranks publish for each other under keys (PMIx_Publish, PMIx_Lookup, PMIx_Unpublish). Called in the
// event loop's thread only.
class NameService {
public:
    struct Lookup {
        std::vector<std::string> keys;
        bool wait = false;       // until all keys are published
        int timeout_seconds = 0; // 0: no limit; only with wait
        pmix_lookup_cbfunc_t callback = nullptr;
        void* callback_data = nullptr;
    };

    explicit NameService(EventLoop& loop)
        : _loop(loop) {}
    ~NameService();

    // PMIX_ERR_DUPLICATE_KEY if one of the keys is published already; then none is published.
    pmix_status_t publish(const pmix_proc_t& owner, const pmix_info_t* infos, std::size_t count);
    // Answers through the callback, at once or when the keys have been published.
    void lookup(Lookup lookup);
    // Without keys: all that this process has published. PMIX_ERR_NOT_FOUND if a key is not its own or not published.
    pmix_status_t unpublish(const pmix_proc_t& owner, const std::vector<std::string>& keys);
    // The job has ended, and with it the names of services that its processes have published by MPI. What they have
    // published by PMIx itself stays.
    void forget(std::string_view nspace);

private:
    struct Entry {
        pmix_proc_t owner;
        pmix_value_t value;
    };
    struct Waiting {
        Lookup lookup;
        std::optional<EventLoop::TimerId> timer;
    };

    bool all_there(const Lookup& lookup) const;
    void answer(const Lookup& lookup, pmix_status_t when_none);
    void erase(std::map<std::string, Entry>::iterator entry);

    EventLoop& _loop;
    std::map<std::string, Entry> _entries;
    std::list<Waiting> _waiting;
};

} // namespace patchbay::launch
