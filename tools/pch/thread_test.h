// SPDX-License-Identifier: BSD-3-Clause
// For unit tests of what several threads run, whose sources are optimised (tools/bazel/patchbay.bzl, pb_test).
#pragma once
#include "tools/pch/unit_test.h"
