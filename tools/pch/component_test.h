// SPDX-License-Identifier: BSD-3-Clause
// For unit tests of components and frameworks.
#pragma once
#include "tools/pch/component.h"

#include <gtest/gtest.h>
#include <thread>
