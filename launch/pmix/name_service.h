// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/name_exchange.h"
#include "launch/pmix/rank_events.h"

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <pmix.h>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// The data that ranks publish for each other under keys (PMIx_Publish, PMIx_Lookup, PMIx_Unpublish). With the directive
// PMIX_RANGE and the value PMIX_RANGE_GLOBAL one text is known to, or looked up among, all mpirun of this user. Called
// in the event loop's thread only.
class NameService {
public:
    struct Lookup {
        std::vector<std::string> keys;
        bool wait = false;       // until all keys are published
        int timeout_seconds = 0; // 0: no limit; only with wait
        bool everywhere = false; // the others are asked for a key that this mpirun does not have; not with wait
        pmix_lookup_cbfunc_t callback = nullptr;
        void* callback_data = nullptr;
    };

    NameService(EventLoop& loop, RankEvents& rank_events, UserListener& listener)
        : _loop(loop),
          _rank_events(rank_events),
          _exchange(loop, listener) {}
    ~NameService();

    // PMIX_ERR_DUPLICATE_KEY if one of the keys is published already; then none is published. The infos must be valid
    // until `done` is called, which may be within this call. PMIX_ERR_NO_PERMISSIONS: this mpirun can have no socket
    // for others. PMIX_ERR_NOT_SUPPORTED: what is to be known everywhere is not one text.
    using Published = std::function<void(pmix_status_t)>;
    void publish(const pmix_proc_t& owner, const pmix_info_t* infos, std::size_t count, const Published& done);
    // Whether the directives have PMIX_RANGE_GLOBAL.
    static bool is_everywhere(const pmix_info_t* infos, std::size_t count);
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
        bool everywhere = false;
    };
    struct Waiting {
        Lookup lookup;
        std::optional<EventLoop::TimerId> timer;
    };

    pmix_status_t add(const pmix_proc_t& owner, const pmix_info_t* infos, std::size_t count, bool everywhere);
    void answer_waiting();
    bool all_there(const Lookup& lookup) const;
    void ask_others(Lookup lookup);
    void answer(const Lookup& lookup, pmix_status_t when_none);
    void erase(std::map<std::string, Entry>::iterator entry);

    pmix_status_t status_of(const Status& claimed);

    EventLoop& _loop;
    RankEvents& _rank_events;
    NameExchange _exchange;
    std::map<std::string, Entry> _entries;
    std::list<Waiting> _waiting;
};

} // namespace patchbay::launch
