// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        const char* base = std::getenv("TEST_TMPDIR");
        std::string name = std::string(base == nullptr ? "/tmp" : base) + "/core_test_XXXXXX";
        _path = ::mkdtemp(name.data());
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() { std::filesystem::remove_all(_path); }

    const std::string& path() const { return _path; }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(_path + "/" + name) << text;
        return _path + "/" + name;
    }

private:
    std::string _path;
};
