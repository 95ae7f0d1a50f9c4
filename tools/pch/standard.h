// SPDX-License-Identifier: BSD-3-Clause
// What most sources include, parsed once (tools/bazel/precompiled_header.bzl). A source includes what it uses all the
// same: other builds (--config=clang, plugins outside the tree) have no precompiled header.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
