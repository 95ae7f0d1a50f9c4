// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace [[gnu::visibility("default")]] patchbay {

// The parts of a machine after which process sets are named, as mpix://NUMA/0, by the launcher and by processes.
struct HardwareKind {
    const char* hwloc; // hwloc's name of the type
    const char* name;
    // The number that the operating system gives. It numbers cores within their package only, and caches not at all:
    // these have hwloc's number, in the order of the machine.
    bool has_system_number;
    // There may be as many sets as processes. A count of all sets would need a request for each of them, so it leaves
    // these out; they are found by their names.
    bool is_listed;
};

inline constexpr HardwareKind hardware_kinds[] = {
    {"NUMANode", "NUMA", true, true},
    {"Package", "PACKAGE", true, true},
    {"L3Cache", "L3CACHE", false, true},
    {"Core", "CORE", false, false},
};

inline constexpr char hardware_scheme[] = "mpix://";

} // namespace patchbay
