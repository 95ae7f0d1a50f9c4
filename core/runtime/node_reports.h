// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// Which errors the processes of a node have printed before any of them had a library: a parameter with a wrong value is
// the same error in every process of a job, and is to be printed once. mpirun makes the table, a small memfd, and hands
// it to every process that it starts, by this environment variable (announced_descriptor.h).
inline constexpr char node_reports_variable[] = "PATCHBAY_NODE_REPORTS";

// By the launcher, once per node: the descriptor, closed on exec.
Result<int> make_node_reports();

// Whether no process of this job on this node has called this with the same text before. Also true where that cannot be
// known: without the table, or when it is full. Never blocks; safe from any thread.
bool is_first_report_on_node(std::string_view text) noexcept;

} // namespace patchbay
