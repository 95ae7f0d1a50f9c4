// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/common/payload_copy.h"

namespace patchbay::btl::sm {

using common::copy_past_cache;
using common::PayloadCopy;
using common::Stores;
using common::StoreWay;

} // namespace patchbay::btl::sm
