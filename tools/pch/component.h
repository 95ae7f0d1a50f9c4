// SPDX-License-Identifier: BSD-3-Clause
// For components and frameworks: the interfaces that most of them include.
#pragma once
#include "tools/pch/standard.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/core.h"
#include "core/memory/node_segment.h"
#include "core/progress/progress.h"
#include "core/progress/waiter.h"
#include "core/runtime/runtime.h"
#include "frameworks/btl/btl.h"
#include "frameworks/btl/one_sided.h"
#include "frameworks/btl/transports.h"
#include "frameworks/coll/immediate.h"
#include "frameworks/context.h"
#include "frameworks/pml/pml.h"
#include "object/convertor.h"
