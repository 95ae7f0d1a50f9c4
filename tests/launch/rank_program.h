// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pmix.h>
#include <string>

// Declarations that the commands of rank_program share.
namespace rank_program {

inline pmix_proc_t self;

[[noreturn]] inline void give_up(const char* what, const char* why) {
    std::fprintf(stderr, "rank_program: %s: %s\n", what, why);
    std::_Exit(99);
}

inline void expect(const char* what, pmix_status_t status, pmix_status_t wanted = PMIX_SUCCESS) {
    if (status != wanted) {
        give_up(what, PMIx_Error_string(status));
    }
}

inline pmix_proc_t everyone() {
    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    return all;
}

// A number that the launcher provides about a process.
inline std::uint32_t look_up(const pmix_proc_t& proc, const char* key) {
    pmix_value_t* value = nullptr;
    expect(key, PMIx_Get(&proc, key, nullptr, 0, &value));
    std::uint32_t number = 0;
    pmix_status_t status = PMIX_SUCCESS;
    PMIX_VALUE_GET_NUMBER(status, value, number, std::uint32_t);
    expect(key, status);
    PMIX_VALUE_RELEASE(value);
    return number;
}

inline std::string look_up_text(const pmix_proc_t& proc, const char* key) {
    pmix_value_t* value = nullptr;
    expect(key, PMIx_Get(&proc, key, nullptr, 0, &value));
    std::string text = value->type == PMIX_STRING ? value->data.string : "?";
    PMIX_VALUE_RELEASE(value);
    return text;
}

inline void fence(const std::string&) {
    pmix_proc_t all = everyone();
    expect("PMIx_Fence", PMIx_Fence(&all, 1, nullptr, 0));
}

inline void print(const std::string& text) {
    std::puts(text.c_str());
    std::fflush(stdout);
}

// rank_services.cpp: what the launcher offers besides starting and ending processes.
void publish(const std::string&);
void unpublish(const std::string&);
void send_null_texts(const std::string&);
void look_up_published(const std::string&);
void miss_published(const std::string&);
void begin_group(const std::string& name_and_ranks);
void end_group(const std::string&);
void host_group(const std::string& name_and_ranks);
void pmix_group(const std::string&);
void request_amid_events(const std::string& times);
void exchange(const std::string&);
void query_psets(const std::string&);
void query_pset(const std::string&);
void spawn_job(const std::string&);
void spawn_missing(const std::string&);

} // namespace rank_program
