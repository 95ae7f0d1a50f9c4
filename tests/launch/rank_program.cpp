// SPDX-License-Identifier: BSD-3-Clause
// What the tests of mpirun run as ranks: a PMIx client that carries out the commands in its arguments, one after the
// other. `RANK/command` is carried out by that rank only. It knows no MPI, so the launcher is tested on its own.
#include "core/runtime/group_protocol.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <pmix.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

pmix_proc_t self;
bool in_pmix = false;

[[noreturn]] void give_up(const char* what, const char* why) {
    std::fprintf(stderr, "rank_program: %s: %s\n", what, why);
    std::_Exit(99);
}

void expect(const char* what, pmix_status_t status, pmix_status_t wanted = PMIX_SUCCESS) {
    if (status != wanted) {
        give_up(what, PMIx_Error_string(status));
    }
}

pmix_proc_t everyone() {
    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    return all;
}

// A number that the launcher told about a process.
std::uint32_t look_up(const pmix_proc_t& proc, const char* key) {
    pmix_value_t* value = nullptr;
    expect(key, PMIx_Get(&proc, key, nullptr, 0, &value));
    std::uint32_t number = 0;
    pmix_status_t status = PMIX_SUCCESS;
    PMIX_VALUE_GET_NUMBER(status, value, number, std::uint32_t);
    expect(key, status);
    PMIX_VALUE_RELEASE(value);
    return number;
}

std::string look_up_text(const pmix_proc_t& proc, const char* key) {
    pmix_value_t* value = nullptr;
    expect(key, PMIx_Get(&proc, key, nullptr, 0, &value));
    std::string text = value->type == PMIX_STRING ? value->data.string : "?";
    PMIX_VALUE_RELEASE(value);
    return text;
}

void init(const std::string&) {
    expect("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    in_pmix = true;
}

void finalize(const std::string&) {
    expect("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    in_pmix = false;
}

void fence(const std::string&) {
    pmix_proc_t all = everyone();
    expect("PMIx_Fence", PMIx_Fence(&all, 1, nullptr, 0));
}

void sleep_for(const std::string& seconds) {
    double time = std::strtod(seconds.c_str(), nullptr);
    ::usleep(static_cast<useconds_t>(time * 1e6));
}

void exit_with(const std::string& status) {
    std::fflush(nullptr);
    ::_exit(std::atoi(status.c_str()));
}

void die_by(const std::string& signal) {
    std::fflush(nullptr);
    ::raise(std::atoi(signal.c_str()));
}

void abort_with(const std::string& status) {
    PMIx_Abort(std::atoi(status.c_str()), "told to", nullptr, 0);
    ::_exit(std::atoi(status.c_str()));
}

void print(const std::string& text) {
    std::puts(text.c_str());
    std::fflush(stdout);
}

void print_error(const std::string& text) {
    std::fprintf(stderr, "%s\n", text.c_str());
}

// Prints without a newline.
void print_part(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

// Lines that are written in small pieces, so that a launcher that passes on what it gets would tear them.
void torn_lines(const std::string& count) {
    for (int line = 0; line < std::atoi(count.c_str()); ++line) {
        for (int piece = 0; piece < 8; ++piece) {
            std::printf("<%u:%d:%d>", self.rank, line, piece);
            std::fflush(stdout);
            if (piece % 3 == 0) {
                ::sched_yield();
            }
        }
        std::printf("\n");
        std::fflush(stdout);
    }
}

// So many bytes, then a newline.
void long_line(const std::string& size) {
    std::string line(std::strtoul(size.c_str(), nullptr, 10), static_cast<char>('a' + self.rank));
    std::puts(line.c_str());
    std::fflush(stdout);
}

void print_environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    std::printf("%s=%s\n", name.c_str(), value == nullptr ? "(unset)" : value);
    std::fflush(stdout);
}

void print_cpus(const std::string&) {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    std::string cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) {
            cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
        }
    }
    std::printf("rank %u cpus %s\n", self.rank, cpus.c_str());
    std::fflush(stdout);
}

void print_input(const std::string&) {
    std::string text;
    char buffer[4096];
    ssize_t size = 0;
    while ((size = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0) {
        text.append(buffer, static_cast<std::size_t>(size));
    }
    std::printf("rank %u read %zu bytes: %.40s\n", self.rank, text.size(), text.c_str());
    std::fflush(stdout);
}

void print_descriptors(const std::string&) {
    std::string open;
    for (int fd = 0; fd < 1024; ++fd) {
        struct stat status;
        if (::fstat(fd, &status) == 0) {
            open += (open.empty() ? "" : ",") + std::to_string(fd);
        }
    }
    std::printf("open %s\n", open.c_str());
    std::fflush(stdout);
}

void print_job(const std::string&) {
    pmix_proc_t all = everyone();
    std::printf("rank %u of %u, app %u of %u, local %u of %u, universe %u, peers %s\n", self.rank,
        look_up(all, PMIX_JOB_SIZE), look_up(self, PMIX_APPNUM), look_up(all, PMIX_JOB_NUM_APPS),
        look_up(self, PMIX_LOCAL_RANK), look_up(all, PMIX_LOCAL_SIZE), look_up(all, PMIX_UNIV_SIZE),
        look_up_text(all, PMIX_LOCAL_PEERS).c_str());
    std::fflush(stdout);
}

// Reports each signal as it comes and goes on.
void catch_signal(const std::string& signal) {
    struct sigaction action {};
    action.sa_handler = [](int number) {
        char text[] = "caught 00\n";
        text[7] = static_cast<char>('0' + number / 10);
        text[8] = static_cast<char>('0' + number % 10);
        [[maybe_unused]] ssize_t written = ::write(STDOUT_FILENO, text, sizeof text - 1);
    };
    ::sigaction(std::atoi(signal.c_str()), &action, nullptr);
}

// As catch_signal, and ends with status 0 afterwards.
void end_at_signal(const std::string& signal) {
    struct sigaction action {};
    action.sa_handler = [](int) { ::_exit(0); };
    ::sigaction(std::atoi(signal.c_str()), &action, nullptr);
}

void ignore_signal(const std::string& signal) {
    ::signal(std::atoi(signal.c_str()), SIG_IGN);
}

// Puts the numbers into FILE.RANK, all at once.
void write_numbers(const std::string& file, const std::string& numbers) {
    std::string name = file + "." + std::to_string(self.rank);
    std::FILE* out = std::fopen((name + ".tmp").c_str(), "w");
    std::fprintf(out, "%s\n", numbers.c_str());
    std::fclose(out);
    std::rename((name + ".tmp").c_str(), name.c_str());
}

// Leaves a process behind that has detached itself from everything, ignores SIGTERM, and has its id in this file.
void leave_orphan(const std::string& file) {
    std::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) {
        ::setsid();
        if (::fork() != 0) {
            ::_exit(0);
        }
        ::signal(SIGTERM, SIG_IGN);
        write_numbers(file, std::to_string(::getpid()));
        ::sleep(1000);
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    while (::access((file + "." + std::to_string(self.rank)).c_str(), F_OK) != 0) {
        ::usleep(1000);
    }
}

void write_pid(const std::string& file) {
    write_numbers(file, std::to_string(::getpid()) + " " + std::to_string(::getppid()));
}

void touch_segment(const std::string& size) {
    const char* variable = std::getenv("PATCHBAY_NODE_SEGMENT");
    if (variable == nullptr || std::strncmp(variable, "fd=", 3) != 0) {
        give_up("PATCHBAY_NODE_SEGMENT", "not set");
    }
    int fd = std::atoi(variable + 3);
    if (self.rank == 0 && ::ftruncate(fd, std::atol(size.c_str())) != 0) {
        give_up("ftruncate", std::strerror(errno));
    }
    fence("");
    struct stat status;
    if (::fstat(fd, &status) != 0 || status.st_size != std::atol(size.c_str())) {
        give_up("the node segment", "is not shared");
    }
    print("segment ok");
}

void publish(const std::string& name) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, name.c_str(), "here I am", PMIX_STRING);
    expect("PMIx_Publish", PMIx_Publish(&info, 1));
    expect("PMIx_Publish again", PMIx_Publish(&info, 1), PMIX_ERR_DUPLICATE_KEY);
}

void unpublish(const std::string& name) {
    char* keys[] = {const_cast<char*>(name.c_str()), nullptr};
    expect("PMIx_Unpublish", PMIx_Unpublish(keys, nullptr, 0));
    expect("PMIx_Unpublish again", PMIx_Unpublish(keys, nullptr, 0), PMIX_ERR_NOT_FOUND);
}

void look_up_published(const std::string& name) {
    pmix_info_t wait;
    bool yes = true;
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &yes, PMIX_BOOL);
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, name.c_str());
    expect("PMIx_Lookup", PMIx_Lookup(&data, 1, &wait, 1));
    std::printf("rank %u found %s of rank %u\n", self.rank, data.value.data.string, data.proc.rank);
    std::fflush(stdout);
    PMIX_PDATA_DESTRUCT(&data);
}

void miss_published(const std::string& name) {
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, name.c_str());
    expect("PMIx_Lookup", PMIx_Lookup(&data, 1, nullptr, 0), PMIX_ERR_NOT_FOUND);
}

// "NAME:RANK,RANK,..." by mpirun's own groups; prints the identifier, or the error.
void host_group(const std::string& text) {
    std::string name = text.substr(0, text.find(':'));
    std::vector<pmix_proc_t> members;
    for (const char* number = text.c_str() + name.size(); *number != '\0';) {
        pmix_proc_t member = self;
        char* end = nullptr;
        member.rank = static_cast<pmix_rank_t>(std::strtoul(number + 1, &end, 10));
        members.push_back(member);
        number = end;
    }
    pmix_info_t infos[2];
    PMIX_INFO_LOAD(&infos[0], patchbay::group_key, name.c_str(), PMIX_STRING);
    PMIX_INFO_CONSTRUCT(&infos[1]);
    PMIX_LOAD_KEY(infos[1].key, patchbay::group_members_key);
    infos[1].value.type = PMIX_DATA_ARRAY;
    PMIX_DATA_ARRAY_CREATE(infos[1].value.data.darray, members.size(), PMIX_PROC);
    std::memcpy(infos[1].value.data.darray->array, members.data(), members.size() * sizeof(pmix_proc_t));
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    pmix_status_t status = PMIx_Job_control(nullptr, 0, infos, 2, &results, &count);
    if (status == PMIX_SUCCESS && count == 1 && PMIX_CHECK_KEY(&results[0], PMIX_GROUP_CONTEXT_ID)) {
        std::printf("group %s id %zu\n", name.c_str(), results[0].value.data.size);
    } else {
        std::printf("group %s %s\n", name.c_str(), PMIx_Error_string(status));
    }
    std::fflush(stdout);
}

void pmix_group(const std::string& name) {
    pmix_proc_t all = everyone();
    pmix_info_t wants_id;
    bool yes = true;
    PMIX_INFO_LOAD(&wants_id, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    expect("PMIx_Group_construct", PMIx_Group_construct(name.c_str(), &all, 1, &wants_id, 1, &results, &count));
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_CONTEXT_ID)) {
            std::printf("pmix group %s id %zu\n", name.c_str(), results[i].value.data.size);
        }
    }
    std::fflush(stdout);
    expect("PMIx_Group_destruct", PMIx_Group_destruct(name.c_str(), nullptr, 0));
}

void exchange(const std::string&) {
    pmix_value_t mine;
    std::uint32_t number = 100 + self.rank;
    PMIX_VALUE_LOAD(&mine, &number, PMIX_UINT32);
    expect("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "test.number", &mine));
    expect("PMIx_Commit", PMIx_Commit());
    fence("");
    std::uint32_t size = look_up(everyone(), PMIX_JOB_SIZE);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        pmix_proc_t peer = self;
        peer.rank = rank;
        if (look_up(peer, "test.number") != 100 + rank) {
            give_up("exchange", "a wrong number came");
        }
    }
    print("exchange ok");
}

// The number and the names of the process sets.
void query_psets(const std::string&) {
    pmix_query_t* query = nullptr;
    PMIX_QUERY_CREATE(query, 1);
    pmix_status_t status = PMIX_SUCCESS;
    for (const char* key : {PMIX_QUERY_NUM_PSETS, PMIX_QUERY_PSET_NAMES}) {
        PMIX_ARGV_APPEND(status, query->keys, key);
        expect("PMIX_ARGV_APPEND", status);
    }
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    expect("PMIx_Query_info", PMIx_Query_info(query, 1, &results, &count));
    if (count != 2) {
        give_up("PMIx_Query_info", "answers something else");
    }
    std::printf("psets %zu: %s\n", results[0].value.data.size, results[1].value.data.string);
    std::fflush(stdout);
}

void query_pset(const std::string& name) {
    pmix_query_t* query = nullptr;
    PMIX_QUERY_CREATE(query, 1);
    pmix_status_t status = PMIX_SUCCESS;
    PMIX_ARGV_APPEND(status, query->keys, PMIX_QUERY_PSET_MEMBERSHIP);
    expect("PMIX_ARGV_APPEND", status);
    PMIX_QUERY_QUALIFIERS_CREATE(query, 1);
    PMIX_INFO_LOAD(&query->qualifiers[0], PMIX_PSET_NAME, name.c_str(), PMIX_STRING);
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    status = PMIx_Query_info(query, 1, &results, &count);
    std::string text = status == PMIX_SUCCESS ? "" : std::string(" ") + PMIx_Error_string(status);
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&results[i], PMIX_QUERY_PSET_MEMBERSHIP)) {
            const auto* members = static_cast<pmix_proc_t*>(results[i].value.data.darray->array);
            for (std::size_t member = 0; member < results[i].value.data.darray->size; ++member) {
                text += " " + std::to_string(members[member].rank);
            }
        }
    }
    print("pset " + name + text);
}

const std::map<std::string, void (*)(const std::string&)> commands = {
    {"init", init},
    {"finalize", finalize},
    {"fence", fence},
    {"sleep", sleep_for},
    {"exit", exit_with},
    {"signal", die_by},
    {"abort", abort_with},
    {"print", print},
    {"error", print_error},
    {"part", print_part},
    {"torn", torn_lines},
    {"long", long_line},
    {"env", print_environment},
    {"cpus", print_cpus},
    {"input", print_input},
    {"fds", print_descriptors},
    {"job", print_job},
    {"catch", catch_signal},
    {"end-at", end_at_signal},
    {"ignore", ignore_signal},
    {"orphan", leave_orphan},
    {"pid", write_pid},
    {"segment", touch_segment},
    {"publish", publish},
    {"unpublish", unpublish},
    {"lookup", look_up_published},
    {"miss", miss_published},
    {"group", host_group},
    {"pmix-group", pmix_group},
    {"exchange", exchange},
    {"psets", query_psets},
    {"pset", query_pset},
};

} // namespace

int main(int argc, char** argv) {
    const char* rank = std::getenv("PMIX_RANK");
    self.rank = rank == nullptr ? 0 : static_cast<pmix_rank_t>(std::atoi(rank));
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        std::size_t slash = word.find('/');
        if (slash != std::string::npos && slash > 0 && word.find_first_not_of("0123456789") == slash) {
            if (std::strtoul(word.c_str(), nullptr, 10) != self.rank) {
                continue;
            }
            word.erase(0, slash + 1);
        }
        std::string name = word.substr(0, word.find('='));
        std::string argument = name.size() < word.size() ? word.substr(name.size() + 1) : "";
        auto command = commands.find(name);
        if (command == commands.end()) {
            give_up(name.c_str(), "no such command");
        }
        command->second(argument);
    }
    return 0;
}
