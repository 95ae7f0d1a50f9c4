// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay {

class Instance;

namespace api {

// Ends the job with this exit status: through the launcher while the library is initialized, otherwise only this
// process. The caller has printed the reason.
[[noreturn]] void end_job(Instance* instance, int code) noexcept;
// Ends this process with this exit status, which is not 0. The launcher ends the others unless it is told otherwise
// (mpirun --disable-auto-cleanup).
[[noreturn]] void end_process(int code) noexcept;

} // namespace api
} // namespace patchbay
