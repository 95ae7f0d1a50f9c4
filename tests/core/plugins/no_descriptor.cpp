// SPDX-License-Identifier: BSD-3-Clause
// A shared library that is no component.
extern "C" [[gnu::visibility("default")]] int patchbay_test_answer() {
    return 42;
}
