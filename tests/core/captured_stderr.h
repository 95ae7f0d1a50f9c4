// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdio>
#include <string>
#include <unistd.h>

// Collects what is written to descriptor 2 until text() is asked for or the object ends.
class CapturedStderr {
public:
    CapturedStderr()
        : _file(std::tmpfile()),
          _saved(::dup(STDERR_FILENO)) {
        ::dup2(fileno(_file), STDERR_FILENO);
    }
    CapturedStderr(const CapturedStderr&) = delete;
    CapturedStderr& operator=(const CapturedStderr&) = delete;
    ~CapturedStderr() {
        ::dup2(_saved, STDERR_FILENO);
        ::close(_saved);
        std::fclose(_file);
    }

    std::string text() const {
        std::string result;
        char buffer[4096];
        ssize_t got = 0;
        while ((got = ::pread(fileno(_file), buffer, sizeof(buffer), off_t(result.size()))) > 0) {
            result.append(buffer, std::size_t(got));
        }
        return result;
    }

private:
    std::FILE* _file;
    int _saved;
};

inline std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
        ++count;
    }
    return count;
}
