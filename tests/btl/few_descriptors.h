// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace patchbay::test {

// As long as it exists, this process can open no further descriptor.
class NoFreeDescriptor {
public:
    NoFreeDescriptor() {
        getrlimit(RLIMIT_NOFILE, &_usual);
        rlimit none = _usual;
        const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::close(lowest);
        none.rlim_cur = rlim_t(lowest);
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoFreeDescriptor() { setrlimit(RLIMIT_NOFILE, &_usual); }
    NoFreeDescriptor(const NoFreeDescriptor&) = delete;
    NoFreeDescriptor& operator=(const NoFreeDescriptor&) = delete;

private:
    rlimit _usual{};
};

} // namespace patchbay::test
