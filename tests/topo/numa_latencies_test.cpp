// SPDX-License-Identifier: BSD-3-Clause
// The latencies between NUMA nodes, of a machine that a file describes.
#include "core/runtime/hw_resources.h"

#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <string>
#include <vector>

using namespace patchbay;

namespace {

// Writes the description of a machine with three NUMA nodes, with or without latencies, and has hwloc use it.
void describe_machine(bool with_latencies) {
    unsetenv("HWLOC_XMLFILE");
    hwloc_topology_t topology = nullptr;
    ASSERT_EQ(hwloc_topology_init(&topology), 0);
    ASSERT_EQ(hwloc_topology_set_synthetic(topology, "numanode:3 core:2 pu:1"), 0);
    ASSERT_EQ(hwloc_topology_load(topology), 0);
    if (with_latencies) {
        std::vector<hwloc_obj_t> nodes;
        for (unsigned i = 0; i < 3; ++i) {
            nodes.push_back(hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, i));
        }
        std::vector<hwloc_uint64_t> values = {10, 20, 30, 20, 10, 25, 31, 26, 11};
        void* added = hwloc_distances_add_create(
            topology, "NUMALatency", HWLOC_DISTANCES_KIND_FROM_USER | HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
        ASSERT_NE(added, nullptr);
        ASSERT_EQ(hwloc_distances_add_values(topology, added, 3, nodes.data(), values.data(), 0), 0);
        ASSERT_EQ(hwloc_distances_add_commit(topology, added, 0), 0);
    }
    const std::string file = testing::TempDir() + "machine.xml";
    ASSERT_EQ(hwloc_topology_export_xml(topology, file.c_str(), 0), 0);
    hwloc_topology_destroy(topology);
    setenv("HWLOC_XMLFILE", file.c_str(), 1);
}

TEST(NumaLatencies, AreThoseOfTheNode) {
    describe_machine(true);
    HwResources hardware;
    EXPECT_EQ(hardware.count("NUMANode"), 3u);
    EXPECT_EQ(hardware.numa_latencies(0), (std::vector<std::uint64_t>{10, 20, 30}));
    EXPECT_EQ(hardware.numa_latencies(2), (std::vector<std::uint64_t>{31, 26, 11}));
    EXPECT_TRUE(hardware.numa_latencies(3).empty());
}

TEST(NumaLatencies, MayBeUnknown) {
    describe_machine(false);
    HwResources hardware;
    EXPECT_EQ(hardware.count("NUMANode"), 3u);
    EXPECT_TRUE(hardware.numa_latencies(0).empty());
}

} // namespace
