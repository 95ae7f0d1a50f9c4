// SPDX-License-Identifier: BSD-3-Clause
#include "launch/program_search.h"

#include "launch/report.h"

#include <cerrno>
#include <climits>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::launch {

namespace {

// Returns 0, or the errno value if this file cannot be run.
int why_not(const std::string& path) {
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) {
        return errno;
    }
    if (S_ISDIR(status.st_mode)) {
        return EISDIR;
    }
    return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

std::string in_directory(std::string_view directory, std::string_view name) {
    if (directory.empty() || name.starts_with('/')) {
        return std::string(name);
    }
    return std::string(directory) + "/" + std::string(name);
}

FoundProgram failure(const std::string& name, int error) {
    bool missing = error == ENOENT || error == ENOTDIR;
    std::string text = "cannot run " + name + ": " + errno_text(error);
    if (error == EACCES) {
        text += " (chmod +x?)";
    }
    return {"", text, missing ? exit_not_found : exit_cannot_run};
}

// Searches directories separated by ':'; returns whether the program was found. Stores a file that exists but cannot be
// run.
bool search(std::string_view directories, const std::string& working_directory, const std::string& name,
    FoundProgram& found, std::string& unusable, int& error) {
    while (true) {
        std::size_t colon = directories.find(':');
        std::string directory = in_directory(working_directory, directories.substr(0, colon));
        std::string path = in_directory(directory.empty() ? "." : directory, name);
        int reason = why_not(path);
        if (reason == 0) {
            found.path = path;
            return true;
        }
        if (reason != ENOENT && reason != ENOTDIR && unusable.empty()) {
            unusable = path;
            error = reason;
        }
        if (colon == std::string_view::npos) {
            return false;
        }
        directories.remove_prefix(colon + 1);
    }
}

} // namespace

std::string absolute(const std::string& directory) {
    char current[PATH_MAX];
    if (directory.starts_with('/') || ::getcwd(current, sizeof current) == nullptr) {
        return directory;
    }
    return directory.empty() ? std::string(current) : std::string(current) + "/" + directory;
}

FoundProgram find_program(const AppSpec& app, const char* path_variable) {
    const std::string& name = app.argv[0];
    // From the root, because the process of the rank is in that directory when it executes the program.
    const std::string directory = app.working_directory.empty() ? "" : absolute(app.working_directory);
    FoundProgram found;
    if (name.empty()) {
        return {"", "cannot run a program with an empty name", exit_not_found};
    }
    if (name.find('/') != std::string::npos) {
        found.path = in_directory(directory, name);
        int error = why_not(found.path);
        return error == 0 ? found : failure(found.path, error);
    }
    std::string unusable;
    int error = 0;
    if (!app.search_path.empty() && search(app.search_path, directory, name, found, unusable, error)) {
        return found;
    }
    if (path_variable != nullptr && search(path_variable, directory, name, found, unusable, error)) {
        return found;
    }
    if (!unusable.empty()) {
        return failure(unusable, error);
    }
    std::string text = "cannot run " + name + ": there is no such program in " +
        (app.search_path.empty() ? "PATH" : "the directories of --path or in PATH");
    if (why_not(in_directory(directory, name)) == 0) {
        text += "; for the one in the working directory write ./" + name;
    }
    return {"", text, exit_not_found};
}

} // namespace patchbay::launch
