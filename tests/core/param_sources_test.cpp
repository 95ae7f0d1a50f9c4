// SPDX-License-Identifier: BSD-3-Clause
#include "core/param/registry.h"
#include "tests/core/temporary_directory.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace patchbay;

namespace {

constexpr ParamSpec table[] = {{"limit", ParamType::size, "1", "a size"}};

std::string read_error(const ParamSources& places) {
    const auto read = read_param_sources(places);
    return read ? "(no error)" : read.error().text;
}

} // namespace

// Adds one source after the other, from the lowest; each must win over all before it and be named as the origin.
TEST(ParamSources, PrecedenceOverAllSixWithOrigin) {
    const TemporaryDirectory directory;
    ParamSources places;
    const auto expect = [&](std::size_t value, ParamSource source, const std::string& origin,
                            const char* set = nullptr) {
        ParamRegistry params;
        ASSERT_TRUE(params.read(places));
        ASSERT_TRUE(params.define("btl", "sm", table));
        if (set != nullptr) {
            ASSERT_TRUE(params.set("btl_sm_limit", set));
        }
        const Param& limit = params.at("btl_sm_limit");
        EXPECT_EQ(limit.as_size(), value);
        EXPECT_EQ(limit.source(), source);
        EXPECT_EQ(limit.origin(), origin);
    };
    expect(1, ParamSource::default_value, "default");

    places.system_file = directory.write("system.conf", "# site\n\nbtl_sm_limit = 2\n");
    expect(2, ParamSource::system_file, "file " + places.system_file + ":3");

    places.user_file = directory.write("user.conf", "btl_sm_limit=3 # mine\n");
    expect(3, ParamSource::user_file, "file " + places.user_file + ":1");

    places.environment = {"PATH=/bin", "PATCHBAY_MCA_btl_sm_limit=4"};
    expect(4, ParamSource::environment, "environment PATCHBAY_MCA_btl_sm_limit");

    places.environment = {"PATCHBAY_MCA_btl_sm_limit=5", "PATCHBAY_MCA_CMDLINE=btl,btl_sm_limit"};
    expect(5, ParamSource::command_line, "command line (--mca btl_sm_limit)");

    expect(6, ParamSource::program, "program", "6");
}

TEST(ParamSources, MissingFilesAreNoError) {
    ParamSources places;
    places.user_file = "/nonexistent/params.conf";
    places.system_file = "/dev/null/params.conf";
    EXPECT_TRUE(read_param_sources(places));
}

TEST(ParamSources, MalformedLineNamesFileAndLine) {
    const TemporaryDirectory directory;
    ParamSources places;
    places.user_file = directory.write("a.conf", "btl = sm\nbtl sm\n");
    EXPECT_EQ(read_error(places), places.user_file + ":2: expected 'name = value', got 'btl sm'");
    places.user_file = directory.write("b.conf", "[btl]\n");
    EXPECT_EQ(
        read_error(places), places.user_file + ":1: expected 'name = value', got '[btl]' (there are no sections)");
}

TEST(ParamSources, BlanksCommentsAndLineEndsOfOtherSystems) {
    const TemporaryDirectory directory;
    ParamSources places;
    places.user_file =
        directory.write("a.conf", "  btl =  sm , self \r\n#coll = basic\n\r\n\tx=a=b#c=d\ny =\nlast = 1");
    const auto read = read_param_sources(places);
    ASSERT_TRUE(read) << read.error().text;
    const auto& params = read.value();
    EXPECT_EQ(params.size(), 4u);
    EXPECT_EQ(params.find("btl")->second.value, "sm , self");
    EXPECT_EQ(params.find("x")->second.value, "a=b");
    EXPECT_EQ(params.find("y")->second.value, "");
    EXPECT_EQ(params.find("last")->second.value, "1");
    EXPECT_EQ(params.find("last")->second.origin, "file " + places.user_file + ":6");
}

TEST(ParamSources, AValueWithoutANameIsAnError) {
    const TemporaryDirectory directory;
    ParamSources places;
    places.user_file = directory.write("a.conf", "btl = sm\n = 5\n");
    EXPECT_EQ(read_error(places), places.user_file + ":2: expected 'name = value', got ' = 5'");
}

TEST(ParamSources, SameNameTwiceInOneFileIsAnError) {
    const TemporaryDirectory directory;
    ParamSources places;
    places.user_file = directory.write("a.conf", "btl = sm\ncoll = basic\nbtl = ofi\n");
    EXPECT_EQ(read_error(places),
        "file " + places.user_file + ":3 sets btl a second time, after file " + places.user_file +
            ":1; remove one of the two");
}

TEST(ParamSources, UnreadableFileIsAnErrorWithItsCause) {
    const TemporaryDirectory directory;
    ParamSources places;
    places.user_file = directory.path(); // a directory: opens, but cannot be read
    EXPECT_EQ(read_error(places), "cannot read parameter file " + places.user_file + ": Is a directory");
}

TEST(ParamSources, EmptyValuesAndEqualSignsInValues) {
    ParamSources places;
    places.environment = {"PATCHBAY_MCA_btl=", "PATCHBAY_MCA_x=a=b", "PATCHBAY_MCA_", "PATCHBAY_MCAOTHER=1"};
    const auto read = read_param_sources(places);
    ASSERT_TRUE(read);
    EXPECT_EQ(read.value().size(), 2u);
    EXPECT_EQ(read.value().find("btl")->second.value, "");
    EXPECT_EQ(read.value().find("x")->second.value, "a=b");
}

TEST(ParamSources, ProcessPlacesFollowHomeAndEnvironment) {
    setenv("HOME", "/home/somebody", 1);
    setenv("PATCHBAY_MCA_btl", "sm", 1);
    const ParamSources places = ParamSources::of_process();
    EXPECT_EQ(places.user_file, "/home/somebody/.patchbay/mca-params.conf");
    EXPECT_TRUE(places.system_file.ends_with("/etc/patchbay-mca-params.conf"));
    EXPECT_EQ(places.environment, std::vector<std::string>{"PATCHBAY_MCA_btl=sm"});
    unsetenv("HOME");
    EXPECT_EQ(ParamSources::of_process().user_file, "");
    unsetenv("PATCHBAY_MCA_btl");
}
