// SPDX-License-Identifier: BSD-3-Clause
// For unit tests.
#pragma once
#include "tools/pch/standard.h"

#include <gtest/gtest.h>
#include <thread>
