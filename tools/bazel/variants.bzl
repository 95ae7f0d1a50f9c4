# SPDX-License-Identifier: BSD-3-Clause
"""Variants for mpi_test, made from the list of components, so that every component in the list is tested."""

load("//components:components.bzl", "COMPONENTS", "TEST_PARAMETERS", "TEST_VARIANTS")

# Two sets of variants with at most this many combinations are combined in full.
_CROSSED = 6

def component_variants(framework, kind = "", only = None):
    """Every component of a framework, as name of a variant -> parameters.

    Args:
      framework: the framework of the components.
      kind: the set of variants in TEST_VARIANTS, which at least one component declares. A component that does not is one
        variant.
      only: one component, the only one whose variants are returned.

    Returns:
      A dictionary for the argument `variants` of mpi_test.
    """
    if kind and not any([kind in sets for (owner, _), sets in TEST_VARIANTS.items() if owner == framework]):
        fail("no component of {} has the set of variants '{}'".format(framework, kind))
    variants = {}
    for listed, name in COMPONENTS:
        if listed == framework and only in (None, name):
            more = TEST_VARIANTS.get((framework, name), {}).get(kind)
            if more == None:
                more = {name: _parameters(framework, name)}
            for variant in more:
                if variant in variants:
                    fail("two components of {} have a variant '{}'".format(framework, variant))
            variants.update(more)
    if not variants:
        fail("no component of {} has variants '{}'".format(framework, kind))
    return variants

def combined(first, second):
    """Two sets of variants in one test: all combinations where these are few, otherwise each variant at least once.

    The names are those of `first` where `second` has one variant only.

    Args:
      first: name of a variant -> parameters.
      second: the same for parameters that `first` does not set.

    Returns:
      A dictionary for the argument `variants` of mpi_test.
    """
    one = first.items()
    other = second.items()
    if len(one) * len(other) <= _CROSSED:
        pairs = [(a, b) for a in one for b in other]
    else:
        pairs = [(one[i % len(one)], other[i % len(other)]) for i in range(max(len(one), len(other)))]
    return {
        a[0] if len(other) == 1 else "{}_{}".format(a[0], b[0]): dict(a[1].items() + b[1].items())
        for a, b in pairs
    }

def _parameters(framework, component):
    return {
        name.replace("{}", component): value.replace("{}", component)
        for name, value in TEST_PARAMETERS.get(framework, {framework: "{}"}).items()
    }
