// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/name_service.h"

#include "launch/pmix/pmix_thread.h"

#include <algorithm>
#include <string_view>

namespace patchbay::launch {

namespace {

// Of the keys in core/runtime/dynamic_protocol.h.
constexpr std::string_view own_prefix = "patchbay.";

// PMIx's own keys are directives and not data.
bool is_data(const pmix_info_t& info) {
    return !std::string_view(info.key).starts_with("pmix.");
}

// Calls the callback, which packs the results before it returns, on PMIx's thread.
void send(const NameService::Lookup& lookup, pmix_status_t status, std::vector<pmix_pdata_t> found) {
    on_pmix_thread(
        [callback = lookup.callback, data = lookup.callback_data, status, found = std::move(found)]() mutable {
            callback(status, found.data(), found.size(), data);
            for (pmix_pdata_t& entry : found) {
                PMIX_PDATA_DESTRUCT(&entry);
            }
        });
}

} // namespace

pmix_status_t NameService::status_of(const Status& claimed) {
    if (claimed) {
        return PMIX_SUCCESS;
    }
    if (claimed.error().code == Errc::invalid) {
        return PMIX_ERR_DUPLICATE_KEY;
    }
    _rank_events.message(claimed.error().text);
    return PMIX_ERR_NO_PERMISSIONS;
}

NameService::~NameService() {
    while (!_entries.empty()) {
        erase(_entries.begin());
    }
}

bool NameService::is_everywhere(const pmix_info_t* infos, std::size_t count) {
    return std::any_of(infos, infos + count, [](const pmix_info_t& info) {
        return PMIX_CHECK_KEY(&info, PMIX_RANGE) && info.value.type == PMIX_DATA_RANGE &&
            info.value.data.range == PMIX_RANGE_GLOBAL;
    });
}

void NameService::erase(std::map<std::string, Entry>::iterator entry) {
    if (entry->second.everywhere) {
        _exchange.give_up(entry->first);
    }
    PMIX_VALUE_DESTRUCT(&entry->second.value);
    _entries.erase(entry);
}

void NameService::publish(
    const pmix_proc_t& owner, const pmix_info_t* infos, std::size_t count, const Published& done) {
    if (!is_everywhere(infos, count)) {
        done(add(owner, infos, count, false));
        return;
    }
    const pmix_info_t* data = std::find_if(infos, infos + count, is_data);
    if (data == infos + count || data->value.type != PMIX_STRING || data->value.data.string == nullptr ||
        std::count_if(infos, infos + count, is_data) > 1) {
        done(PMIX_ERR_NOT_SUPPORTED);
        return;
    }
    if (_entries.contains(data->key)) {
        done(PMIX_ERR_DUPLICATE_KEY);
        return;
    }
    _exchange.claim(data->key, data->value.data.string, [=, this](const Status& claimed) {
        pmix_status_t status = status_of(claimed);
        if (status == PMIX_SUCCESS) {
            status = add(owner, infos, count, true);
            if (status != PMIX_SUCCESS) { // published meanwhile for this mpirun only
                _exchange.give_up(data->key);
            }
        }
        done(status);
    });
}

pmix_status_t NameService::add(const pmix_proc_t& owner, const pmix_info_t* infos, std::size_t count, bool everywhere) {
    for (std::size_t i = 0; i < count; ++i) {
        if (is_data(infos[i]) && _entries.contains(infos[i].key)) {
            return PMIX_ERR_DUPLICATE_KEY;
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (is_data(infos[i])) {
            Entry& entry = _entries[infos[i].key];
            entry.owner = owner;
            entry.everywhere = everywhere;
            PMIX_VALUE_CONSTRUCT(&entry.value);
            PMIx_Value_xfer(&entry.value, &infos[i].value);
        }
    }
    answer_waiting();
    return PMIX_SUCCESS;
}

void NameService::answer_waiting() {
    for (auto waiting = _waiting.begin(); waiting != _waiting.end();) {
        if (!all_there(waiting->lookup)) {
            ++waiting;
            continue;
        }
        if (waiting->timer) {
            _loop.cancel(*waiting->timer);
        }
        answer(waiting->lookup, PMIX_ERR_NOT_FOUND);
        waiting = _waiting.erase(waiting);
    }
}

bool NameService::all_there(const Lookup& lookup) const {
    return std::ranges::all_of(lookup.keys, [this](const std::string& key) { return _entries.contains(key); });
}

void NameService::lookup(Lookup lookup) {
    if (lookup.everywhere && !lookup.wait && lookup.keys.size() == 1 && !all_there(lookup)) {
        ask_others(std::move(lookup));
        return;
    }
    if (!lookup.wait || all_there(lookup)) {
        answer(lookup, PMIX_ERR_NOT_FOUND);
        return;
    }
    auto waiting = _waiting.insert(_waiting.end(), Waiting{std::move(lookup), std::nullopt});
    if (waiting->lookup.timeout_seconds > 0) {
        waiting->timer = _loop.after(std::chrono::seconds(waiting->lookup.timeout_seconds), [this, waiting] {
            answer(waiting->lookup, PMIX_ERR_TIMEOUT);
            _waiting.erase(waiting);
        });
    }
}

void NameService::answer(const Lookup& lookup, pmix_status_t when_none) {
    std::vector<pmix_pdata_t> found;
    for (const std::string& key : lookup.keys) {
        auto entry = _entries.find(key);
        if (entry == _entries.end()) {
            continue;
        }
        pmix_pdata_t& data = found.emplace_back();
        PMIX_PDATA_CONSTRUCT(&data);
        data.proc = entry->second.owner;
        PMIX_LOAD_KEY(data.key, key.c_str());
        PMIx_Value_xfer(&data.value, &entry->second.value);
    }
    pmix_status_t status = found.size() == lookup.keys.size() ? PMIX_SUCCESS
        : found.empty()                                       ? when_none
                                                              : PMIX_ERR_PARTIAL_SUCCESS;
    send(lookup, status, std::move(found));
}

void NameService::ask_others(Lookup lookup) {
    const std::string key = lookup.keys.front();
    _exchange.look_up(key, [lookup = std::move(lookup), key](const std::optional<std::string>& value) {
        std::vector<pmix_pdata_t> found;
        if (value) {
            pmix_pdata_t& data = found.emplace_back(); // its owner stays empty: the namespace is a secret
            PMIX_PDATA_CONSTRUCT(&data);
            PMIX_LOAD_KEY(data.key, key.c_str());
            PMIx_Value_load(&data.value, value->c_str(), PMIX_STRING);
        }
        send(lookup, value ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, std::move(found));
    });
}

void NameService::forget(std::string_view nspace) {
    for (auto entry = _entries.begin(); entry != _entries.end();) {
        const auto next = std::next(entry);
        if (entry->first.starts_with(own_prefix) && entry->second.owner.nspace == nspace) {
            erase(entry);
        }
        entry = next;
    }
}

pmix_status_t NameService::unpublish(const pmix_proc_t& owner, const std::vector<std::string>& keys) {
    auto owned = [&owner](const Entry& entry) { return PMIX_CHECK_PROCID(&entry.owner, &owner); };
    if (keys.empty()) {
        for (auto entry = _entries.begin(); entry != _entries.end();) {
            auto next = std::next(entry);
            if (owned(entry->second)) {
                erase(entry);
            }
            entry = next;
        }
        return PMIX_SUCCESS;
    }
    pmix_status_t status = PMIX_SUCCESS;
    for (const std::string& key : keys) {
        auto entry = _entries.find(key);
        if (entry != _entries.end() && owned(entry->second)) {
            erase(entry);
        } else {
            status = PMIX_ERR_NOT_FOUND;
        }
    }
    return status;
}

} // namespace patchbay::launch
