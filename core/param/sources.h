// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/param/param.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

inline constexpr std::string_view param_env_prefix = "PATCHBAY_MCA_";
// Written by mpirun: the comma-separated names of the parameters that its command line set. Their values stand in the
// environment like any other.
inline constexpr std::string_view param_cmdline_env = "PATCHBAY_MCA_CMDLINE";

// Where a process looks for values that users wrote down. A test passes its own.
struct ParamSources {
    std::string system_file;              // <prefix>/etc/patchbay-mca-params.conf
    std::string user_file;                // ~/.patchbay/mca-params.conf, empty without a home
    std::vector<std::string> environment; // "NAME=value"; only those with our prefix matter

    static ParamSources of_process();
};

// A value that a user has set, before the parameter's type is known.
struct RawParam {
    std::string value;
    ParamSource source;
    std::string origin;
};

// The highest source's value per name. Errc::invalid with file and line for a malformed file, Errc::system for a file
// that exists but cannot be read; a missing file is none.
Result<std::map<std::string, RawParam, std::less<>>> read_param_sources(const ParamSources& places);

} // namespace patchbay
