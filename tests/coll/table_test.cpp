// SPDX-License-Identifier: BSD-3-Clause
// Decision tables of coll/tuned: what a file says, and what is wrong with it.
#include "components/coll/tuned/pair.h"
#include "components/coll/tuned/table.h"
#include "object/communicator.h"

#include <gtest/gtest.h>
#include <limits>
#include <string>

// The library defines it; nothing here reaches it.
void patchbay::Communicator::destroy(Communicator*) noexcept {}

using namespace patchbay;
using namespace patchbay::coll;
using namespace patchbay::coll::tuned;

namespace {

// The error of a file with this text.
std::string error_of(const std::string& text) {
    const auto table = tuned::Table::parse(text, "my.json");
    return table ? "" : table.error().text;
}

Decisions decisions(const std::string& rules) {
    auto table = tuned::Table::parse(R"({"allreduce": )" + rules + "}", "my.json");
    EXPECT_TRUE(bool(table)) << (table ? "" : table.error().text);
    Decisions result;
    if (table) {
        for (const Rule& rule : table->rules()) {
            result.add(rule);
        }
    }
    return result;
}

Algorithm chosen(const Decisions& rules, std::uint64_t bytes, bool commutative = true, Form form = Form::blocking) {
    return rules.choose(Function::allreduce, form, 4, bytes, commutative).algorithm;
}

TEST(TableTest, TheFirstRuleThatAdmitsACallIsTaken) {
    const Decisions rules = decisions(R"([
        {"bytes_below": 100, "use": "linear"},
        {"bytes_below": "1KiB", "commutative": false, "use": "direct"},
        {"bytes_below": "4KiB", "forms": ["nonblocking", "persistent"], "use": "halves"},
        {"use": "ring"}])");
    EXPECT_EQ(chosen(rules, 99), Algorithm::linear);
    EXPECT_EQ(chosen(rules, 100), Algorithm::ring);
    EXPECT_EQ(chosen(rules, 100, false), Algorithm::direct);
    EXPECT_EQ(chosen(rules, 100, true, Form::persistent), Algorithm::halves);
    EXPECT_EQ(chosen(rules, 4096, true, Form::nonblocking), Algorithm::ring);
}

// Which blocking calls of two ranks are one exchange.
TEST(TableTest, CallsOfAPair) {
    const auto limit = [](const std::string& rules) { return pair::limit(Function::allreduce, decisions(rules)); };
    constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(limit("[]"), 0u);
    EXPECT_EQ(limit(R"([{"use": "doubling"}])"), all);
    EXPECT_EQ(limit(R"([{"use": "halves"}])"), 0u);
    EXPECT_EQ(limit(R"([{"use": "doubling", "segment": "64KiB"}])"), 0u);
    EXPECT_EQ(limit(R"([{"use": "pass"}, {"use": "doubling"}])"), 0u);
    EXPECT_EQ(limit(R"([{"bytes_below": 100, "use": "direct"}, {"bytes_below": 200, "use": "doubling"}])"), 200u);
    EXPECT_EQ(limit(R"([{"bytes_below": 100, "use": "direct"}, {"use": "ring"}, {"use": "doubling"}])"), 100u);
    // A rule that admits nothing which an earlier one leaves.
    EXPECT_EQ(limit(R"([{"bytes_below": 100, "use": "direct"}, {"bytes_below": 50, "use": "ring"},
        {"bytes_below": 200, "use": "direct"}])"),
        200u);
    // An op may be admitted or not.
    EXPECT_EQ(limit(R"([{"commutative": true, "use": "doubling"}, {"use": "doubling"}])"), 0u);
    EXPECT_EQ(limit(R"([{"forms": ["nonblocking"], "use": "halves"}, {"use": "doubling"}])"), all);
    EXPECT_EQ(pair::limit(Function::gather, decisions(R"([{"use": "doubling"}])")), 0u);
}

TEST(TableTest, ACallWithoutARuleIsPassedOn) {
    EXPECT_EQ(chosen(decisions("[]"), 8), Algorithm::pass);
    EXPECT_EQ(chosen(decisions(R"([{"bytes_below": 8, "use": "linear"}])"), 8), Algorithm::pass);
    EXPECT_EQ(chosen(decisions(R"([{"use": "pass"}, {"use": "linear"}])"), 8), Algorithm::pass);
}

TEST(TableTest, AnAlgorithmThatDoesNotApplyIsNotTaken) {
    const Decisions rules = decisions(R"([{"use": "ring"}, {"use": "halves"}])");
    EXPECT_EQ(chosen(rules, 8, true), Algorithm::ring);
    EXPECT_EQ(chosen(rules, 8, false), Algorithm::halves);
    EXPECT_FALSE(applies(Function::allgather, Algorithm::doubling, 6, true));
    EXPECT_TRUE(applies(Function::allreduce, Algorithm::doubling, 6, true));
    EXPECT_FALSE(applies(Function::allgather, Algorithm::neighbour, 7, true));
}

TEST(TableTest, ConditionsOfACommunicator) {
    const auto table = tuned::Table::parse(
        R"({"bcast": [{"ranks": [3, 8], "power_of_two": false, "shared_cores": true, "use": "chain", "segment": "4KiB"}],
            "reduce": [{"ranks": 2, "use": "halves"}]})",
        "my.json");
    ASSERT_TRUE(bool(table));
    ASSERT_EQ(table.value().rules().size(), 2u);
    const Rule& first = table.value().rules()[0];
    EXPECT_EQ(first.function, Function::bcast);
    EXPECT_EQ(first.least_ranks, 3);
    EXPECT_EQ(first.most_ranks, 8);
    EXPECT_EQ(first.power_of_two, false);
    EXPECT_EQ(first.shared_cores, true);
    EXPECT_EQ(first.choice.segment, 4096u);
    EXPECT_EQ(describe_conditions(first), "3 to 8 ranks, no power of two, shared cores");
    EXPECT_EQ(describe_choice(first.choice), "chain, segments of 4KiB");
    EXPECT_EQ(describe_conditions(table.value().rules()[1]), "2 ranks");
    EXPECT_EQ(describe_conditions(Rule{}), "all other calls");
}

// Each error has file, line, what is wrong, and what would be right.
TEST(TableTest, ErrorsHaveTheirLine) {
    const auto expect = [](const std::string& text, const std::string& begin, const std::string& part) {
        const std::string error = error_of(text);
        EXPECT_EQ(error.substr(0, begin.size()), begin) << error;
        EXPECT_NE(error.find(part), std::string::npos) << error;
    };
    expect("{\n\"bcast\": [\n  {\"use\": linear}\n]}", "my.json:3: ", "no JSON");
    expect("{\n\"bcast\": [\n", "my.json:2: ", "no JSON");
    expect("{\n\"bcats\": []}", "my.json:2: ", "did you mean 'bcast'?");
    expect("{\n\n\"scatterv\": []}", "my.json:3: ", "does not serve 'scatterv'");
    expect("{\"bcast\": [\n{\"use\": \"rings\"}]}", "my.json:2: ", "bcast has no algorithm 'rings'");
    expect("{\"allreduce\": [\n\n{\"use\": \"rings\"}]}", "my.json:3: ", "did you mean 'ring'?");
    expect("{\"bcast\": [\n{\n\"byte_below\": 1,\n\"use\": \"linear\"}]}", "my.json:3: ", "'bytes_below'?");
    expect("{\"bcast\": [\n{\"bytes_below\": \"4 parsecs\",\n\"use\": \"linear\"}]}", "my.json:2: ", "bytes_below");
    expect("{\"bcast\": [\n{\"bytes_below\": \n-4\n,\"use\": \"linear\"}]}", "my.json:3: ", "negative");
    expect("{\"bcast\": [\n{\"ranks\": 1.5\n,\"use\": \"linear\"}]}", "my.json:2: ", "fraction");
    expect("{\"bcast\": [\n{\"ranks\": [8, 3],\n\"use\": \"linear\"}]}", "my.json:2: ", "least is more");
    expect("{\"bcast\": [\n{\"ranks\": [8]}]}", "my.json:2: ", "ranks is a number");
    expect("{\"bcast\": [\n{\"ranks\": 4}]}", "my.json:2: ", "no \"use\"");
    expect("{\"bcast\": [\n{\"use\": \"chain\"}]}", "my.json:2: ", "segment");
    expect("{\"bcast\": [\n{\"commutative\": 1, \"use\": \"linear\"}]}", "my.json:2: ", "true or false");
    expect("{\"bcast\": [\n{\"forms\": [\"blocking\", \"later\"], \"use\": \"linear\"}]}", "my.json:2: ", "persistent");
    expect("{\"allreduce\": [\n{\"radix\": 3, \"use\": \"doubling\"}]}", "my.json:2: ", "radix is 2, 4");
    expect("{\"bcast\": 3}", "my.json:1: ", "list of rules");
    expect("[]", "my.json:1: ", "object of functions");
    expect("", "my.json:1: ", "no JSON");
}

TEST(TableTest, AFileThatCannotBeReadIsNamed) {
    const auto table = tuned::Table::read("/nowhere/table.json");
    ASSERT_FALSE(bool(table));
    EXPECT_EQ(table.error().code, Errc::not_found);
    EXPECT_NE(table.error().text.find("/nowhere/table.json"), std::string::npos);
    EXPECT_NE(table.error().text.find("coll_tuned_table"), std::string::npos);
}

// The build translates the table, so that no process reads it (components/coll/tuned/rules_of_table.py).
TEST(TableTest, TheStatesOfTheVariableAreTheAlgorithms) {
    std::string names = "none";
    for (std::size_t i = 0; i < std::size_t(Algorithm::count); ++i) {
        names += "," + std::string(algorithm_name(Algorithm(i)));
    }
    EXPECT_EQ(algorithm_states, names + ",pair");
}

TEST(TableTest, TheBuiltInRulesAreThoseOfTheInstalledTable) {
    const auto read = tuned::Table::read("components/coll/tuned/coll_tuned.json");
    ASSERT_TRUE(bool(read)) << read.error().text;
    const std::span<const Rule> built_in = tuned::Table().rules(), installed = read.value().rules();
    ASSERT_EQ(built_in.size(), installed.size());
    for (std::size_t i = 0; i < built_in.size(); ++i) {
        EXPECT_EQ(built_in[i], installed[i]) << "rule " << i << ": " << function_name(installed[i].function) << ", "
                                             << describe_conditions(installed[i]);
    }
}

// Each function of the installed table ends with a rule for all calls that are left.
TEST(TableTest, TheInstalledTableIsComplete) {
    const auto table = tuned::Table::read("components/coll/tuned/coll_tuned.json");
    ASSERT_TRUE(bool(table)) << table.error().text;
    for (std::size_t f = 0; f < function_count; ++f) {
        if (!served.has(Function(f))) {
            continue;
        }
        const Rule* last = nullptr;
        for (const Rule& rule : table.value().rules()) {
            last = rule.function == Function(f) ? &rule : last;
        }
        ASSERT_NE(last, nullptr) << function_name(Function(f));
        EXPECT_EQ(describe_conditions(*last), "all other calls") << function_name(Function(f));
        EXPECT_TRUE(applies(Function(f), last->choice.algorithm, 7, false)) << function_name(Function(f));
    }
}

} // namespace
