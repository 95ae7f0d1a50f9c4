// SPDX-License-Identifier: BSD-3-Clause
// Messages of the bootstrap exchange, which come from processes without a common communicator.
#include "mpi/bootstrap/message.h"
#include "tests/fuzz/bytes.h"

using namespace patchbay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    BootstrapMessage view;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    if (!BootstrapMessage::read(bytes, &view)) {
        return 0;
    }
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < view.head.words; ++i) {
        words.push_back(view.word(i));
    }
    OperationKey key;
    key.string_tag = view.string_tag;
    key.members = view.members;
    key.sequence = view.head.sequence;
    REQUIRE(view.has_key(key));
    const std::vector<std::byte> again = BootstrapHeader::write(key, view.head, words);
    REQUIRE(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    return 0;
}
