# SPDX-License-Identifier: BSD-3-Clause
"""Which cases of an MPI test run: mpi_test.bzl lists all, and `./dev test` sets the choice in the environment.

PATCHBAY_TEST_SET       default: a sample; quick: the sample without the static library; full: every case
PATCHBAY_TEST_FIFTH     0 to 4: a third of the sample and a part of all cases, and a part of the tests
PATCHBAY_TEST_ROTATION  a number that grows with the commits: which part of the fifth
PATCHBAY_TEST_BUILD     plain, asan or tsan, set by .bazelrc
TESTBRIDGE_TEST_ONLY    Bazel's --test_filter: the cases whose names match this pattern, and nothing else

As a program, `case_selection.py BUILD FIFTH ROTATION`, it reads labels of tests and prints those that this run has in
this build: the others are not even compiled. BUILD `long` is that of the tests with this tag, in the plain build; they are
not among those of BUILD `plain`.
"""
import fnmatch
import sys
import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Runs:
    """Which runs have a build: those with these values of PATCHBAY_TEST_FIFTH. Five runs in a row are a round; after so
    many rounds each case (plain) or each test (the others) was in one of these runs."""
    fifths: tuple
    rounds: int

    @property
    def commits(self):
        return 5 * self.rounds

    def have(self, text, fifth, rotation):
        part = _part(text, len(self.fifths) * self.rounds)
        return self.fifths[part // self.rounds] == fifth and part % self.rounds == rotation // 5 % self.rounds


# A sanitizer builds nearly everything once more; so do the second compiler and the other configurations, in number 1.
RUNS = {"plain": Runs((0, 1, 2, 3, 4), 2), "long": Runs((0, 1, 2, 3, 4), 1), "asan": Runs((0,), 15),
        "tsan": Runs((2,), 15)}

# Each run has some of the five parts of the tests of the plain build: the first of them and how many, by
# PATCHBAY_TEST_FIFTH; in the next round the first is one further. To compile and to run them all takes half an hour on two
# slow cores: the runs that build nothing else have three parts, and together all tests. The number of parts is no multiple
# of the rounds of "plain", so that each case is selected in a run that has its test.
PLAIN_PARTS = 5
PARTS_OF_RUN = {0: (0, 1), 1: (1, 1), 2: (2, 1), 3: (3, 3), 4: (1, 3)}

# A test that runs with its sanitizer has one of so many parts of its cases, and another one the next time.
SANITIZED_PARTS = 4


@dataclass(frozen=True)
class Wish:
    """Which cases of a test program are requested."""
    which: str = "default"
    fifth: int = -1
    rotation: int = 0
    build: str = "plain"
    pattern: str = ""

    @staticmethod
    def of(environment):
        which = environment.get("PATCHBAY_TEST_SET", "default")
        build = environment.get("PATCHBAY_TEST_BUILD", "plain")
        if which not in ("default", "quick", "full"):
            raise ValueError(f"PATCHBAY_TEST_SET is '{which}'")
        if build not in ("plain", "asan", "tsan"):
            raise ValueError(f"PATCHBAY_TEST_BUILD is '{build}'")
        return Wish(which, int(environment.get("PATCHBAY_TEST_FIFTH", "-1")),
                    int(environment.get("PATCHBAY_TEST_ROTATION", "0")), build,
                    environment.get("TESTBRIDGE_TEST_ONLY", ""))


@dataclass(frozen=True)
class Case:
    """One launch: a variant (its parameters) at a number of ranks, with the components as plugins or in the library."""
    variant: str
    ranks: int
    static: bool
    sampled: bool  # part of the default set

    @property
    def name(self):
        words = (["static"] if self.static else []) + ([self.variant] if self.variant else [])
        return "_".join(words + [f"np{self.ranks}"])


def all_cases(test, wish):
    """Every case of a test in this build. `test` is what mpi_test.bzl has written."""
    variants, ranks = list(test["variants"]), test["np"]
    if wish.build != "plain":
        sample = _sanitizer_sample(variants, ranks, wish.rotation if wish.fifth < 0 else _time(wish))
        return [Case(variant, n, False, (variant, n) == sample) for variant in variants for n in ranks]
    sample = _sample(variants, ranks)
    plain = [Case(variant, n, False, (variant, n) in sample) for variant in variants for n in ranks]
    return plain + [Case(variant, n, True, n in test["static"]) for variant in variants for n in ranks]


def select(label, test, wish):
    """The cases that are to run now."""
    cases = all_cases(test, wish)
    if wish.pattern:
        return [case for case in cases if fnmatch.fnmatch(case.name, wish.pattern)]
    if wish.which == "full":
        return cases
    if wish.which == "quick":
        return [case for case in cases if case.sampled and not case.static]
    sample = _sample_of_run(label, cases, wish)
    return [case for case in cases if case in sample or in_fifth(wish, label, case.name)]


def _sample_of_run(label, cases, wish):
    """The sampled cases that run. With a fifth, in the plain build, one of them, another one each time, and a third of
    the others: all of them would take most of its time."""
    sample = [case for case in cases if case.sampled]
    if wish.fifth < 0 or wish.build != "plain" or not sample:
        return sample
    always = sample[wish.rotation % len(sample)]
    return [case for case in sample
            if case == always or _part(f"sample {label} {case.name}", 3) == wish.rotation // 5 % 3]


def in_fifth(wish, label, name):
    """Each case of each build is in one part, always the same, which has its run."""
    if wish.fifth < 0:
        return False
    if wish.build == "plain":
        return RUNS["plain"].have(f"plain {label} {name}", wish.fifth, wish.rotation)
    return _part(f"{wish.build} {label} {name}", SANITIZED_PARTS) == _time(wish) % SANITIZED_PARTS


def test_in_run(build, label, fifth, rotation):
    """Whether the run with this fifth and rotation has this test in this build."""
    if build == "plain":
        first, parts = PARTS_OF_RUN[fifth]
        return (_part(f"test {label}", PLAIN_PARTS) - first - rotation // 5) % PLAIN_PARTS < parts
    return RUNS[build].have(f"{build} {label}", fifth, rotation)


def _time(wish):
    """How often a test has run in this build."""
    return wish.rotation // RUNS[wish.build].commits


def _part(text, parts):
    return zlib.crc32(text.encode()) % parts


def _sample(variants, ranks):
    """Each variant at least once and each number of ranks at least once: no more launches than the longer list has."""
    return {(variants[i % len(variants)], ranks[i % len(ranks)]) for i in range(max(len(variants), len(ranks)))}


def _sanitizer_sample(variants, ranks, rotation):
    """One variant, another one each time, at the lowest number of ranks that communicate."""
    return variants[rotation % len(variants)], next((n for n in ranks if n > 1), ranks[0])


if __name__ == "__main__":
    arguments = int(sys.argv[2]), int(sys.argv[3])
    sys.stdout.writelines(line for line in sys.stdin if test_in_run(sys.argv[1], line.strip(), *arguments))
