// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace patchbay::osc::rdma {

// The MPI code for the errno of a one-sided operation (btl::Started::error) to that member, whose text it stores. 0 is
// MPI_SUCCESS.
int report_failure(int error, int member) noexcept;
// MPI_ERR_PROC_ABORTED with the text that this member has failed.
int report_failed_member(int member) noexcept;
// The same as report_failure() without the text, for an operation that another thread may complete.
int code_of(int error) noexcept;
// The text for an errno.
const char* describe_failure(int error) noexcept;

} // namespace patchbay::osc::rdma
