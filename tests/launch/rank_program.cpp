// SPDX-License-Identifier: BSD-3-Clause
// What the tests of mpirun run as ranks: a PMIx client that carries out the commands in its arguments, one after the
// other. `RANK/command` is carried out by that rank only. It does not use MPI, so that the tests cover the launcher
// alone.
#include "tests/launch/rank_program.h"

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

namespace rank_program {

namespace {

void init(const std::string&) {
    expect("PMIx_Init", PMIx_Init(&self, nullptr, 0));
}

void finalize(const std::string&) {
    expect("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
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
    PMIx_Abort(std::atoi(status.c_str()), "as commanded", nullptr, 0);
    ::_exit(std::atoi(status.c_str()));
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

// Prints the namespace of the job and the port of the PMIx server, which the launcher itself prints nowhere.
void print_identity(const std::string&) {
    const char* server = std::getenv("PMIX_SERVER_URI41");
    const char* colon = server == nullptr ? nullptr : std::strrchr(server, ':');
    if (colon == nullptr) {
        give_up("PMIX_SERVER_URI41", "has no port");
    }
    std::printf("namespace %s port %s\n", self.nspace, colon + 1);
    std::fflush(stdout);
}

void await_file(const std::string& file) {
    while (::access(file.c_str(), F_OK) != 0) {
        ::usleep(1000);
    }
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
    {"identity", print_identity},
    {"await", await_file},
    {"publish", publish},
    {"unpublish", unpublish},
    {"null-texts", send_null_texts},
    {"lookup", look_up_published},
    {"miss", miss_published},
    {"begin-group", begin_group},
    {"end-group", end_group},
    {"group", host_group},
    {"pmix-group", pmix_group},
    {"request-amid-events", request_amid_events},
    {"exchange", exchange},
    {"psets", query_psets},
    {"pset", query_pset},
    {"spawn", spawn_job},
    {"spawn-missing", spawn_missing},
};

} // namespace

} // namespace rank_program

int main(int argc, char** argv) {
    using namespace rank_program;
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
