// SPDX-License-Identifier: BSD-3-Clause
// The messages between the head and an agent, and those between two mpirun: what is read as a message is written with
// the same bytes again.
#include "launch/messages.h"
#include "launch/run_messages.h"
#include "tests/fuzz/bytes.h"

using namespace patchbay::launch;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (auto message = decode_to_agent(bytes); message) {
        REQUIRE(encode(*message) == bytes);
    }
    if (auto message = decode_to_head(bytes); message) {
        REQUIRE(encode(*message) == bytes);
    }
    if (auto message = decode_run_message(bytes); message) {
        REQUIRE(encode(*message) == bytes);
    }
    return 0;
}
