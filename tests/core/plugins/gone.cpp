// SPDX-License-Identifier: BSD-3-Clause
// The library that is there when a plugin is linked and not when it is opened.
extern "C" [[gnu::visibility("default")]] int patchbay_test_gone() {
    return 0;
}
