#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C++ source of built_in_rules() (table.h) from a decision table: rules_of_table.py TABLE.json >FILE.cpp

The names of functions and algorithms go to the compiler as they are, and tests/coll:table_test compares the result with
what the component itself reads in the table. So only what the compiler does not check is checked here."""
import json
import sys

FORMS = ["blocking", "nonblocking", "persistent"]
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
FILE = """// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/tuned/table.h"

namespace patchbay::coll::tuned {{

namespace {{

constexpr Rule rules[] = {{
{rules}
}};

}} // namespace

std::span<const Rule> built_in_rules() noexcept {{
    return rules;
}}

}} // namespace patchbay::coll::tuned
"""


def size(value):
    if isinstance(value, int):
        return value
    unit = value.lstrip("0123456789")
    return int(value[:len(value) - len(unit)]) * (UNITS[unit] if unit else 1)


def choice(rule):
    members = [f".algorithm = Algorithm::{rule.pop('use')}"]
    if "segment" in rule:
        members.append(f".segment = {size(rule.pop('segment'))}")
    if "radix" in rule:
        members.append(f".radix = {rule.pop('radix')}")
    return "{" + ", ".join(members) + "}"


def initializer(function, rule):
    """The members of Rule in their order there, as the compiler demands."""
    rule.pop("note", None)
    members = [f".function = Function::{function}"]
    if "forms" in rule:
        members.append(f".forms = {sum(1 << FORMS.index(form) for form in rule.pop('forms'))}")
    if "ranks" in rule:
        ranks = rule.pop("ranks")
        least, most = (ranks, ranks) if isinstance(ranks, int) else ranks
        members += [f".least_ranks = {least}", f".most_ranks = {most}"]
    if "bytes_below" in rule:
        members.append(f".bytes_below = {size(rule.pop('bytes_below'))}u")
    for condition in ["commutative", "power_of_two", "shared_cores"]:
        if condition in rule:
            members.append(f".{condition} = {'true' if rule.pop(condition) else 'false'}")
    members.append(f".choice = {choice(rule)}")
    if rule:
        sys.exit(f"a rule of {function} has members that {sys.argv[0]} does not translate: {', '.join(rule)}")
    return f"    {{{', '.join(members)}}},"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        table = json.load(file)
    table.pop("note", None)
    print(FILE.format(rules="\n".join(initializer(function, rule) for function, rules in table.items() for rule in rules)),
          end="")


main()
