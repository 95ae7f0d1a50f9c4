// SPDX-License-Identifier: BSD-3-Clause
// For mpi/: the instance, which has all frameworks and objects in it.
#pragma once
#include "tools/pch/standard.h"

#include "mpi/instance/instance.h"
