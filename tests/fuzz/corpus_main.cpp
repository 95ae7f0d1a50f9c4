// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target over the inputs whose files are its arguments, and then for a second over inputs that are like
// these: the test of a target, which needs no libFuzzer. PATCHBAY_FUZZ_SECONDS: how long. PATCHBAY_FUZZ_SEED: which.
#include "tests/fuzz/mutation.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using patchbay::fuzz::Input;

bool read(const char* file, Input& bytes) {
    std::FILE* stream = std::fopen(file, "rb");
    if (stream == nullptr) {
        return false;
    }
    std::uint8_t part[4096];
    for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, stream)) > 0;) {
        bytes.insert(bytes.end(), part, part + got);
    }
    return std::fclose(stream) == 0;
}

// A number from the environment: the first of these variables that is set.
double setting(std::initializer_list<const char*> variables, double otherwise) {
    for (const char* variable : variables) {
        if (const char* text = std::getenv(variable); text != nullptr && *text != '\0') {
            return std::strtod(text, nullptr);
        }
    }
    return otherwise;
}

// The file has the input that is being run, for the case that the target ends the process.
class LastInput {
public:
    LastInput() {
        const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
        _name = std::string(folder != nullptr ? folder : "/tmp") + "/patchbay-fuzz-" + std::to_string(::getpid());
        _file = ::open(_name.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    }
    ~LastInput() {
        ::close(_file);
        ::unlink(_name.c_str());
    }
    const std::string& name() const { return _name; }
    bool write(const Input& input) const {
        return ::pwrite(_file, input.data(), input.size(), 0) == ssize_t(input.size()) &&
            ::ftruncate(_file, off_t(input.size())) == 0;
    }

private:
    std::string _name;
    int _file;
};

bool run_mutated(const std::vector<Input>& corpus) {
    using Clock = std::chrono::steady_clock;
    const auto seed = std::uint64_t(setting({"PATCHBAY_FUZZ_SEED", "PATCHBAY_TEST_ROTATION"}, 1));
    const auto end = Clock::now() + std::chrono::duration<double>(setting({"PATCHBAY_FUZZ_SECONDS"}, 1));
    const LastInput last;
    std::printf("inputs like these, PATCHBAY_FUZZ_SEED=%llu; the last one is in %s\n",
        static_cast<unsigned long long>(seed), last.name().c_str());
    std::fflush(stdout);
    patchbay::fuzz::Mutation mutation(seed, corpus);
    unsigned long long runs = 0;
    for (; Clock::now() < end; ++runs) {
        const Input input = mutation.next();
        if (!last.write(input)) {
            std::perror(last.name().c_str());
            return false;
        }
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%llu of them\n", runs);
    return true;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s INPUT...\n", argv[0]);
        return EXIT_FAILURE;
    }
    LLVMFuzzerTestOneInput(nullptr, 0);
    std::vector<Input> corpus;
    for (int i = 1; i < argc; ++i) {
        Input& bytes = corpus.emplace_back();
        std::printf("%s\n", argv[i]); // the last line of a test that ends here names the input
        std::fflush(stdout);
        if (!read(argv[i], bytes)) {
            std::perror(argv[i]);
            return EXIT_FAILURE;
        }
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    return run_mutated(corpus) ? EXIT_SUCCESS : EXIT_FAILURE;
}
