// SPDX-License-Identifier: BSD-3-Clause
#include "core/param/registry.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace patchbay;
using namespace std::chrono_literals;

namespace {

constexpr ParamSpec table[] = {
    {"flag", ParamType::boolean, "true", "a flag"},
    {"count", ParamType::integer, "-3", "a number"},
    {"limit", ParamType::size, "4KiB", "a size in bytes"},
    {"patience", ParamType::duration, "10us", "a time"},
    {"label", ParamType::string, "pppp", "a text"},
    {"mode", ParamType::enumeration, "cma", "a choice", "none,cma,copy", ParamLevel::tuner_basic, ParamScope::local},
    {"peers", ParamType::list, "a, b", "a list"},
    {"fixed", ParamType::integer, "1", "cannot be set", nullptr, ParamLevel::dev_all, ParamScope::constant},
    {"depth", ParamType::integer, "3", "a number in a range", "-1..8"},
    {"chunk", ParamType::size, "8KiB", "a size in a range", "1KiB..1MiB"},
    {"least", ParamType::duration, "1ms", "a time with a lower limit", "10us.."},
    {"most", ParamType::size, "0", "a size with an upper limit", "..4KiB"},
};

ParamSources environment(std::vector<std::string> entries) {
    ParamSources places;
    places.environment = std::move(entries);
    return places;
}

std::string set_error(ParamRegistry& params, const char* name, const char* value) {
    const Status set = params.set(name, value);
    return set ? "(no error)" : set.error().text;
}

} // namespace

TEST(Param, DefaultsOfEveryType) {
    ParamRegistry params;
    ASSERT_TRUE(params.define("btl", "sm", table));
    EXPECT_TRUE(params.at("btl_sm_flag").as_bool());
    EXPECT_EQ(params.at("btl_sm_count").as_int(), -3);
    EXPECT_EQ(params.at("btl_sm_limit").as_size(), 4096u);
    EXPECT_EQ(params.at("btl_sm_patience").as_duration(), 10us);
    EXPECT_EQ(params.at("btl_sm_label").as_string(), "pppp");
    EXPECT_EQ(params.at("btl_sm_mode").as_enum(), 1u);
    EXPECT_EQ(params.at("btl_sm_peers").as_list(), (std::vector<std::string>{"a", "b"}));

    const Param& mode = params.at("btl_sm_mode");
    EXPECT_EQ(mode.framework(), "btl");
    EXPECT_EQ(mode.component(), "sm");
    EXPECT_EQ(mode.help(), "a choice");
    EXPECT_EQ(mode.choices().size(), 3u);
    EXPECT_EQ(mode.level(), ParamLevel::tuner_basic);
    EXPECT_EQ(mode.scope(), ParamScope::local);
    EXPECT_EQ(mode.source(), ParamSource::default_value);
    EXPECT_EQ(mode.origin(), "default");
}

TEST(Param, NamesLeaveOutEmptyParts) {
    constexpr ParamSpec one[] = {{"verbose", ParamType::integer, "0", "h"}};
    constexpr ParamSpec selection[] = {{"", ParamType::list, "", "h"}};
    ParamRegistry params;
    ASSERT_TRUE(params.define("", "", one));
    ASSERT_TRUE(params.define("btl", "", selection));
    EXPECT_NE(params.find("verbose"), nullptr);
    EXPECT_NE(params.find("btl"), nullptr);
    EXPECT_EQ(params.find("btl_"), nullptr);
}

TEST(Param, IndexIsOrderOfDefinitionAndStays) {
    ParamRegistry params;
    ASSERT_TRUE(params.define("btl", "sm", table));
    const Param* first = &params.by_index(0);
    ASSERT_TRUE(params.define("btl", "ofi", table));
    ASSERT_TRUE(params.define("btl", "sm", table)); // again: nothing new
    EXPECT_EQ(params.count(), 2 * std::size(table));
    EXPECT_EQ(&params.by_index(0), first);
    EXPECT_EQ(params.by_index(std::size(table)).name(), "btl_ofi_flag");
}

TEST(Param, TwoTablesCannotShareAName) {
    constexpr ParamSpec one[] = {{"b_c", ParamType::integer, "0", "h"}};
    constexpr ParamSpec other[] = {{"c", ParamType::integer, "0", "h"}};
    ParamRegistry params;
    ASSERT_TRUE(params.define("a", "", one));
    const Status second = params.define("a", "b", other);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().text, "parameter a_b_c of component a_b is already defined by a");
}

TEST(Param, IllTypedValueNamesParameterTypeValueAndOrigin) {
    ParamRegistry params;
    ASSERT_TRUE(params.read(environment({"PATCHBAY_MCA_btl_sm_limit=many", "PATCHBAY_MCA_btl_sm_mode=cna"})));
    const Status defined = params.define("btl", "sm", table);
    ASSERT_FALSE(defined);
    EXPECT_EQ(defined.error().code, Errc::invalid);
    EXPECT_EQ(defined.error().text,
        "parameter btl_sm_limit (size): 'many' is not a size (like 4096, 64k, 4KiB or 1MiB) "
        "[environment PATCHBAY_MCA_btl_sm_limit]\n"
        "parameter btl_sm_mode (enum): 'cna' is not one of none, cma, copy; did you mean 'cma'? "
        "[environment PATCHBAY_MCA_btl_sm_mode]");
    // The parameter stays usable, and a second definition does not make the mistake disappear.
    EXPECT_EQ(params.at("btl_sm_limit").as_size(), 4096u);
    EXPECT_FALSE(params.define("btl", "sm", table));
    ASSERT_TRUE(params.set("btl_sm_limit", "1k"));
    ASSERT_TRUE(params.set("btl_sm_mode", "copy"));
    EXPECT_TRUE(params.define("btl", "sm", table));
}

TEST(Param, EveryTypeRefusesWhatIsNotOfIt) {
    ParamRegistry params;
    ASSERT_TRUE(params.define("btl", "sm", table));
    for (const char* name : {"btl_sm_flag", "btl_sm_count", "btl_sm_limit", "btl_sm_patience", "btl_sm_mode"}) {
        const Status set = params.set(name, "?");
        ASSERT_FALSE(set) << name;
        EXPECT_EQ(set.error().code, Errc::invalid);
        EXPECT_NE(set.error().text.find(name), std::string::npos);
        EXPECT_NE(set.error().text.find("'?'"), std::string::npos);
        EXPECT_NE(set.error().text.find("[program]"), std::string::npos);
        EXPECT_TRUE(params.at(name).is_default());
    }
}

TEST(Param, ValueOutOfRangeNamesTheRange) {
    ParamRegistry params;
    ASSERT_TRUE(params.read(environment({"PATCHBAY_MCA_btl_sm_depth=9", "PATCHBAY_MCA_btl_sm_chunk=1023"})));
    const Status defined = params.define("btl", "sm", table);
    ASSERT_FALSE(defined);
    EXPECT_EQ(defined.error().code, Errc::invalid);
    EXPECT_EQ(defined.error().text,
        "parameter btl_sm_depth (int): '9' is not in the range -1..8 [environment PATCHBAY_MCA_btl_sm_depth]\n"
        "parameter btl_sm_chunk (size): '1023' is not in the range 1KiB..1MiB "
        "[environment PATCHBAY_MCA_btl_sm_chunk]");
    EXPECT_EQ(params.at("btl_sm_depth").as_int(), 3);
    EXPECT_EQ(params.at("btl_sm_depth").range(), "-1..8");
    EXPECT_EQ(params.at("btl_sm_count").range(), "");
    EXPECT_EQ(params.at("btl_sm_mode").range(), "");
    EXPECT_TRUE(params.at("btl_sm_depth").choices().empty());
}

TEST(Param, RangesContainTheirEnds) {
    ParamRegistry params;
    ASSERT_TRUE(params.define("btl", "sm", table));
    for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{{"btl_sm_depth", "-1"},
             {"btl_sm_depth", "8"}, {"btl_sm_chunk", "1k"}, {"btl_sm_chunk", "1MiB"}, {"btl_sm_least", "10us"},
             {"btl_sm_least", "100000s"}, {"btl_sm_most", "0"}, {"btl_sm_most", "4096"}}) {
        EXPECT_TRUE(params.set(name, value)) << name << " " << value;
    }
    for (const auto& [name, value] :
        std::vector<std::pair<const char*, const char*>>{{"btl_sm_depth", "-2"}, {"btl_sm_depth", "9"},
            {"btl_sm_chunk", "0"}, {"btl_sm_chunk", "2MiB"}, {"btl_sm_least", "0"}, {"btl_sm_most", "4097"}}) {
        const Status set = params.set(name, value);
        ASSERT_FALSE(set) << name << " " << value;
        EXPECT_NE(set.error().text.find("is not in the range"), std::string::npos) << set.error().text;
    }
    EXPECT_FALSE(params.set_number("btl_sm_depth", 9));
    EXPECT_EQ(params.at("btl_sm_depth").as_int(), 8);
}

TEST(Param, TablesWithABadRangeAreRefused) {
    const auto error_of = [](const char* initial, const char* range) {
        const ParamSpec one[] = {{"depth", ParamType::integer, initial, "h", range}};
        const Status checked = ParamRegistry::check_table("btl", "sm", one, 1);
        return checked ? "(no error)" : checked.error().text;
    };
    EXPECT_EQ(error_of("1", "0..8"), "(no error)");
    EXPECT_EQ(error_of("9", "0..8"), "bad parameter table: parameter btl_sm_depth: '9' is not in the range 0..8");
    EXPECT_EQ(error_of("1", "0-8"),
        "bad parameter table: parameter btl_sm_depth: its range '0-8' is not of the form lowest..highest");
    EXPECT_EQ(error_of("1", "0..many"),
        "bad parameter table: parameter btl_sm_depth: its range '0..many': 'many' is not an integer (like 42, -1 or "
        "0x2a)");
}

TEST(Param, SetByTheProgram) {
    ParamRegistry params;
    ASSERT_TRUE(params.define("btl", "sm", table));
    ASSERT_TRUE(params.set("btl_sm_limit", "64k"));
    EXPECT_EQ(params.at("btl_sm_limit").as_size(), 65536u);
    EXPECT_EQ(params.at("btl_sm_limit").text(), "64k");
    EXPECT_EQ(params.at("btl_sm_limit").source(), ParamSource::program);
    EXPECT_EQ(set_error(params, "btl_sm_limt", "1"), "there is no parameter btl_sm_limt; did you mean 'btl_sm_limit'?");
    EXPECT_EQ(set_error(params, "btl_sm_fixed", "2"), "parameter btl_sm_fixed cannot be set to '2' by the program");
}

TEST(Param, GivenOnesAreFoundByThePrefixBeforeTheyAreDefined) {
    ParamRegistry params;
    ASSERT_TRUE(params.read(environment({"PATCHBAY_MCA_btl_sm_limit=8k"})));
    EXPECT_TRUE(params.gives_any("btl_"));
    EXPECT_TRUE(params.gives_any("btl_sm_limit"));
    EXPECT_FALSE(params.gives_any("btl_t"));
    EXPECT_FALSE(params.gives_any("coll_"));
    ASSERT_TRUE(params.define("coll", "sm", table));
    EXPECT_FALSE(params.gives_any("coll_"));
    ASSERT_TRUE(params.set("coll_sm_count", "5"));
    EXPECT_TRUE(params.gives_any("coll_"));
}

TEST(Param, FrozenWhileItsFrameworkIsOpen) {
    ParamRegistry params;
    ASSERT_TRUE(params.define("btl", "sm", table));
    params.freeze("btl");
    ASSERT_TRUE(params.define("btl", "ofi", table)); // found later, in use all the same
    ASSERT_TRUE(params.define("coll", "sm", table));
    EXPECT_EQ(
        set_error(params, "btl_sm_count", "5"), "parameter btl_sm_count cannot be set to '5' any more: it is in use");
    EXPECT_FALSE(params.set("btl_ofi_count", "5"));
    EXPECT_TRUE(params.set("coll_sm_count", "5"));
    params.thaw("btl");
    EXPECT_TRUE(params.set("btl_sm_count", "5"));
    EXPECT_TRUE(params.set("btl_ofi_count", "5"));
}

TEST(Param, UnknownNamesAreReportedOnceWithOriginAndSuggestion) {
    ParamRegistry params;
    ASSERT_TRUE(params.read(environment({"PATCHBAY_MCA_btl_sm_limt=1", "PATCHBAY_MCA_nonsense=2",
        "PATCHBAY_MCA_later_x=3", "PATCHBAY_MCA_btl_sm_flag=0"})));
    ASSERT_TRUE(params.define("btl", "sm", table));
    std::vector<std::string> asked;
    int asked_all = 0;
    const auto define_more = [&](const std::string& name) {
        asked.push_back(name);
        if (name == "later_x") {
            constexpr ParamSpec later[] = {{"x", ParamType::integer, "0", "h"}};
            EXPECT_TRUE(params.define("later", "", later));
        }
    };
    const auto unknown = params.take_unknown(define_more, [&] { ++asked_all; });
    EXPECT_EQ(asked, (std::vector<std::string>{"btl_sm_limt", "later_x", "nonsense"}));
    EXPECT_EQ(asked_all, 1);
    ASSERT_EQ(unknown.size(), 2u);
    EXPECT_EQ(unknown[0],
        "unknown parameter btl_sm_limt = '1' [environment PATCHBAY_MCA_btl_sm_limt]; did you mean "
        "'btl_sm_limit'?");
    EXPECT_EQ(unknown[1], "unknown parameter nonsense = '2' [environment PATCHBAY_MCA_nonsense]");
    EXPECT_EQ(params.at("later_x").as_int(), 3);
    EXPECT_TRUE(params.take_unknown(define_more, [] {}).empty());
}

TEST(Param, KnownNamesCostNoFurtherTables) {
    ParamRegistry params;
    ASSERT_TRUE(params.read(environment({"PATCHBAY_MCA_btl_sm_flag=0"})));
    ASSERT_TRUE(params.define("btl", "sm", table));
    const auto unexpected = [](auto&&...) { ADD_FAILURE() << "asked for more tables"; };
    EXPECT_TRUE(params.take_unknown(unexpected, unexpected).empty());
}

TEST(Param, ReadersSeeWholeValuesWhileTheProgramSets) {
    ParamRegistry params;
    ASSERT_TRUE(params.define("btl", "sm", table));
    const Param& label = params.at("btl_sm_label");
    std::atomic<bool> stop = false;
    std::thread reader([&] {
        while (!stop.load()) {
            const std::string& text = label.as_string();
            ASSERT_EQ(text, std::string(text.size(), text.at(0))) << "torn";
        }
    });
    ASSERT_TRUE(params.set("btl_sm_label", "aaaa"));
    std::thread definer([&] { EXPECT_TRUE(params.define("btl", "ofi", table)); });
    for (int i = 0; i < 2000; ++i) {
        ASSERT_TRUE(params.set("btl_sm_label", std::string(40, char('a' + i % 20))));
    }
    stop = true;
    reader.join();
    definer.join();
}

TEST(ParamDeathTest, ReadingAnotherTypeIsABug) {
    ParamRegistry params;
    ASSERT_TRUE(params.define("btl", "sm", table));
    EXPECT_DEATH((void)params.at("btl_sm_limit").as_bool(), "btl_sm_limit is of type size and was read as bool");
    EXPECT_DEATH((void)params.at("btl_sm_nothing"), "btl_sm_nothing is read but no table defines it");
}
