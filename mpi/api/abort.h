// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

class Instance;

namespace api {

// Ends the job with this exit status: through the launcher while the library is at work, else this process alone. What
// happened has been said before.
[[noreturn]] void end_job(Instance* instance, int code) noexcept;

} // namespace api
} // namespace patchbay
