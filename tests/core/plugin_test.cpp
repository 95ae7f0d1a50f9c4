// SPDX-License-Identifier: BSD-3-Clause
// Components in shared libraries: what fits, what does not, and what is left when they are closed.
#include "core/component/framework.h"
#include "core/component/interface_hash.h"
#include "core/component/repository.h"
#include "core/core.h"
#include "tests/core/captured_stderr.h"
#include "tests/core/plugins/demo.h"
#include "tests/core/temporary_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/stat.h>

using namespace patchbay;
namespace fs = std::filesystem;

namespace {

// Where the build put the plugins.
fs::path built_plugins() {
    const char* elsewhere = std::getenv("PATCHBAY_TEST_PLUGINS");
    return fs::absolute(elsewhere == nullptr ? "tests/core/plugins" : elsewhere);
}

// A directory that holds copies of some plugins.
class PluginDirectory {
public:
    explicit PluginDirectory(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            fs::copy_file(built_plugins() / file_name(name), file(name));
        }
    }
    static std::string file_name(const std::string& name) { return "mca_demo_" + name + ".so"; }
    std::string file(const std::string& name) const { return path() + "/" + file_name(name); }
    const std::string& path() const { return _directory.path(); }

private:
    TemporaryDirectory _directory;
};

std::unique_ptr<Core> make_core(std::vector<std::string> directories, std::vector<std::string> environment = {}) {
    ParamSources places;
    places.environment = std::move(environment);
    auto core = Core::create({}, places, directories);
    EXPECT_TRUE(core) << core.error().text;
    return core ? std::move(*core) : nullptr;
}

std::string greeting(Framework<demo::Component>& framework) {
    auto selected = framework.select_one("a test", [](demo::Component& component) { return component.query(0); });
    return selected ? selected->module->greet() : selected.error().text;
}

// The text on stderr when the framework opens with `name` beside a good component and no list names it; checks that the
// good component is used.
std::string said_about(const std::string& name) {
    const PluginDirectory directory({"alpha", name});
    const auto core = make_core({directory.path()});
    core->decisions.enable(true);
    Framework<demo::Component> framework("demo", demo::version);
    CapturedStderr captured;
    auto lease = framework.open(*core);
    EXPECT_TRUE(lease) << lease.error().text;
    EXPECT_EQ(greeting(framework), "hello from alpha");
    EXPECT_EQ(count_of(captured.text(), "\n"), 1u) << captured.text();
    EXPECT_GE(count_of(captured.text(), directory.file(name)), 1u) << captured.text();
    bool recorded = false;
    for (const Decision& decision : core->decisions.decisions()) {
        recorded = recorded || (decision.candidate == name && decision.outcome == Outcome::incompatible);
    }
    EXPECT_TRUE(recorded);
    return captured.text();
}

// The error when a list names it.
std::string error_when_asked_for(const std::string& name) {
    const PluginDirectory directory({"alpha", name});
    const auto core = make_core({directory.path()}, {"PATCHBAY_MCA_demo=alpha," + name});
    Framework<demo::Component> framework("demo", demo::version);
    CapturedStderr captured;
    auto lease = framework.open(*core);
    EXPECT_FALSE(lease);
    EXPECT_EQ(captured.text(), "") << "the caller reports it";
    return lease ? "(no error)" : lease.error().text;
}

void expect_incompatible(const std::string& name, const std::string& cause) {
    EXPECT_EQ(count_of(said_about(name), cause), 1u) << said_about(name);
    const std::string error = error_when_asked_for(name);
    EXPECT_EQ(count_of(error, cause), 1u) << error;
    EXPECT_EQ(count_of(error, PluginDirectory::file_name(name) + " cannot be used: "), 1u) << error;
}

// What is mapped from files, one line each. Anonymous memory is the allocator's own business.
std::string mapped_files() {
    std::ifstream in("/proc/self/maps");
    std::string line;
    std::string files;
    while (std::getline(in, line)) {
        if (const std::size_t path = line.find('/'); path != std::string::npos) {
            files += line.substr(path) + "\n";
        }
    }
    return files;
}

std::size_t open_descriptors() {
    return std::size_t(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

} // namespace

TEST(Plugin, GoodOnesAreOpenedAndTheBestIsChosen) {
    const PluginDirectory directory({"alpha", "beta"});
    const auto core = make_core({directory.path()}, {"PATCHBAY_MCA_demo_beta_limit=64k"});
    Framework<demo::Component> framework("demo", demo::version);
    auto lease = framework.open(*core);
    ASSERT_TRUE(lease) << lease.error().text;
    EXPECT_EQ(greeting(framework), "hello from beta");
    EXPECT_EQ(core->params.at("demo_beta_limit").as_size(), 65536u);
    EXPECT_EQ(core->params.at("demo_alpha_limit").as_size(), 4096u);
}

TEST(Plugin, WrongCoreAbi) {
    const std::string version = std::to_string(core_abi_version);
    expect_incompatible("oldcore", "it was built for core ABI 0, this library has " + version + "; build it again");
}

TEST(Plugin, WrongDescriptorSize) {
    expect_incompatible("short", "it was built for a descriptor size of 40, this library has ");
}

TEST(Plugin, WrongFrameworkVersion) {
    expect_incompatible(
        "oldframework", "it was built for framework demo version 2, this library has 3; build it again");
}

TEST(Plugin, WrongToolchain) {
    expect_incompatible("toolchain", "it was built for toolchain msvc, this library has itanium;libstdc++");
}

TEST(Plugin, WrongHeaders) {
    expect_incompatible("headers",
        std::string("it was built with other headers: 0123456789abcdef of Patchbay MPI ") + interface_release +
            ", this library has " + interface_hash + " of Patchbay MPI " + interface_release +
            "; build it again against this installation (pkg-config patchbay-plugin)");
}

TEST(Plugin, NoHeadersNamed) {
    expect_incompatible("noheaders", "it was built with other headers: (unnamed) of Patchbay MPI ");
}

TEST(Plugin, OtherLibraryMode) {
    expect_incompatible(
        "debugmode", "it was built for toolchain itanium;libstdc++-cxx11abi1;_GLIBCXX_DEBUG;c++20, this");
}

TEST(Plugin, WrongName) {
    expect_incompatible("liar", "its descriptor says framework demo, component alpha, its file name says demo, liar");
}

TEST(Plugin, ParameterWhoseDefaultHasAnotherType) {
    expect_incompatible("badtable", "bad parameter table: parameter demo_badtable_limit");
}

// dlopen() would end the process, or wait.
TEST(Plugin, FilesThatMustNotBeOpened) {
    const auto expect_left_out = [](const PluginDirectory& directory, const std::string& cause) {
        const auto core = make_core({directory.path()});
        Framework<demo::Component> framework("demo", demo::version);
        CapturedStderr captured;
        auto lease = framework.open(*core);
        ASSERT_TRUE(lease) << lease.error().text;
        EXPECT_EQ(greeting(framework), "hello from alpha");
        EXPECT_EQ(count_of(captured.text(), directory.file("beta") + " cannot be used: " + cause), 1u)
            << captured.text();
    };
    const PluginDirectory cut({"alpha", "beta"});
    for (const std::uintmax_t left : {4000, 100}) {
        fs::resize_file(cut.file("beta"), left);
        expect_left_out(cut, "it is shorter than its headers say; copy it again");
    }
    const PluginDirectory fifo({"alpha"});
    ASSERT_EQ(mkfifo(fifo.file("beta").c_str(), 0600), 0);
    expect_left_out(fifo, "it is no regular file");
}

TEST(Plugin, NoDescriptor) {
    expect_incompatible("nodescriptor", "it has no symbol patchbay_component; it is no component");
}

TEST(Plugin, MissingSymbol) {
    expect_incompatible("nosymbol", "undefined symbol: patchbay_test_gone");
}

TEST(Plugin, MissingLibrary) {
    expect_incompatible("nolibrary", "libpatchbay_test_gone.so: cannot open shared object file");
}

TEST(Plugin, NotALibraryAtAll) {
    const TemporaryDirectory directory;
    directory.write("mca_demo_text.so", "this is text\n");
    directory.write("mca_demo.so", "no component name: ignored\n");
    directory.write("readme.txt", "ignored\n");
    const auto core = make_core({directory.path()});
    EXPECT_EQ(core->components.components("demo"), std::vector<std::string>{"text"});
    const auto loaded = core->components.load("demo", "text", demo::version);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::invalid);
    EXPECT_EQ(count_of(loaded.error().text, "mca_demo_text.so cannot be used: "), 1u) << loaded.error().text;
}

TEST(Plugin, SameComponentInTwoDirectoriesFirstWinsAndOneLineSaysSo) {
    const PluginDirectory first({"alpha"});
    const PluginDirectory second({"alpha", "beta"});
    CapturedStderr captured;
    const auto core = make_core({first.path(), second.path(), first.path()});
    EXPECT_EQ(count_of(captured.text(), "\n"), 1u) << captured.text();
    EXPECT_EQ(count_of(captured.text(),
                  "component alpha of framework demo is installed twice: " + first.file("alpha") + " is used, " +
                      second.file("alpha") + " is not"),
        1u)
        << captured.text();
    const auto loaded = core->components.load("demo", "alpha", demo::version);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded.value().file(), first.file("alpha"));
    EXPECT_EQ(core->components.components("demo"), (std::vector<std::string>{"alpha", "beta"}));
}

TEST(Plugin, ComponentPathComesFirstAndItsMissingDirectoriesAreReported) {
    const PluginDirectory installed({"alpha"});
    const PluginDirectory mine({"alpha"});
    CapturedStderr captured;
    const auto core = make_core({installed.path(), "/nonexistent/optional"},
        {"PATCHBAY_MCA_component_path=" + mine.path() + ":/nonexistent/wanted"});
    EXPECT_EQ(core->components.load("demo", "alpha", demo::version).value().file(), mine.file("alpha"));
    EXPECT_EQ(
        count_of(captured.text(), "cannot read component directory /nonexistent/wanted: No such file or directory"), 1u)
        << captured.text();
    EXPECT_EQ(count_of(captured.text(), "optional"), 0u);
}

TEST(Plugin, OneThatIsLinkedInComesAfterTheUsersOwnAndBeforeThatOfTheInstallation) {
    const PluginDirectory somewhere({"alpha", "beta"});
    const auto alpha = Plugin::open(somewhere.file("alpha"), "demo", "alpha", demo::version);
    const auto beta = Plugin::open(somewhere.file("beta"), "demo", "beta", demo::version);
    ASSERT_TRUE(alpha && beta);
    const ComponentDescriptor* linked_in[] = {&alpha.value().descriptor(), &beta.value().descriptor()};
    const PluginDirectory users({"alpha"});
    const PluginDirectory installed({"alpha", "beta"});
    CapturedStderr captured;
    const auto core = Core::create(ParamSources(), ComponentPlaces{{}, {users.path()}, linked_in, {installed.path()}});
    ASSERT_TRUE(core);
    const Repository& components = (*core.value()).components;
    EXPECT_EQ(components.load("demo", "alpha", demo::version).value().file(), users.file("alpha"));
    EXPECT_EQ(components.load("demo", "beta", demo::version).value().file(), "(built in)");
    for (const std::string& line : {users.file("alpha") + " is used, (built in) is not",
             users.file("alpha") + " is used, " + installed.file("alpha"),
             "(built in) is used, " + installed.file("beta") + " is not"}) {
        EXPECT_EQ(count_of(captured.text(), line), 1u) << captured.text();
    }
}

TEST(Plugin, MisspeltParameterIsReportedWithTheNearestOfAnUnopenedComponent) {
    const PluginDirectory directory({"alpha", "beta"});
    const auto core = make_core({directory.path()},
        {"PATCHBAY_MCA_demo_beta_limti=1", "PATCHBAY_MCA_demo_alpha_patience=5ms", "PATCHBAY_MCA_demp=alpha"});
    CapturedStderr captured;
    ASSERT_TRUE(core->report_unknown_params());
    const std::string printed = captured.text();
    EXPECT_EQ(count_of(printed, "\n"), 2u) << printed;
    EXPECT_EQ(count_of(printed,
                  "unknown parameter demo_beta_limti = '1' [environment PATCHBAY_MCA_demo_beta_limti]; did "
                  "you mean 'demo_beta_limit'?"),
        1u)
        << printed;
    EXPECT_EQ(
        count_of(printed, "unknown parameter demp = 'alpha' [environment PATCHBAY_MCA_demp]; did you mean 'demo'?"), 1u)
        << printed;
    ASSERT_TRUE(core->report_unknown_params());
    EXPECT_EQ(captured.text(), printed) << "once is enough";
}

TEST(Plugin, FindingComponentsOpensNone) {
    const PluginDirectory directory({"alpha", "beta"});
    const auto core = make_core({directory.path()}, {"PATCHBAY_MCA_demo=alpha"});
    ASSERT_TRUE(core->report_unknown_params());
    EXPECT_EQ(count_of(mapped_files(), directory.path()), 0u);
}

TEST(Plugin, ParameterTablesOfAllComponentsCanBeReadWithoutRunningThem) {
    const PluginDirectory directory({"alpha", "beta", "oldcore", "oldframework"});
    const auto core = make_core({directory.path()});
    ASSERT_TRUE(core->components.define_all_params(core->params));
    EXPECT_NE(core->params.find("demo_alpha_limit"), nullptr);
    EXPECT_NE(core->params.find("demo_beta_patience"), nullptr);
}

TEST(Plugin, ThousandCyclesLeaveNoMappingNoDescriptorAndNoMemory) {
    const PluginDirectory directory({"alpha", "beta"});
    Framework<demo::Component> framework("demo", demo::version);
    const auto cycle = [&] {
        const auto core = make_core({directory.path()});
        auto lease = framework.open(*core);
        ASSERT_TRUE(lease);
        ASSERT_EQ(greeting(framework), "hello from beta");
    };
    cycle();
    const std::string mappings = mapped_files();
    const std::size_t descriptors = open_descriptors();
    const std::size_t allocated = mallinfo2().uordblks;
    for (int i = 0; i < 1000; ++i) {
        cycle();
    }
    EXPECT_LE(mallinfo2().uordblks, allocated + 4096) << "four bytes for each cycle";
    EXPECT_EQ(mapped_files(), mappings);
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(count_of(mappings, directory.path()), 0u);
}
