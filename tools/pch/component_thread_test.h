// SPDX-License-Identifier: BSD-3-Clause
// The same for what several threads run: these sources are optimised (tools/bazel/patchbay.bzl, pb_test).
#pragma once
#include "tools/pch/component_test.h"
