// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

class Instance;

namespace api {

// Ends the job with this exit status: through the launcher while the library is initialized, otherwise only this
// process. The caller has printed the reason.
[[noreturn]] void end_job(Instance* instance, int code) noexcept;

} // namespace api
} // namespace patchbay
