// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/process_id.h" // ProcessId, which the client of the launcher uses too
