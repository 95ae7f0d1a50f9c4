// SPDX-License-Identifier: BSD-3-Clause
// Info objects against a map: set, get, delete, duplicate, list. Keys and values are any text.
#include "include/mpi.h"
#include "tests/fuzz/bytes.h"

#include <cstring>
#include <map>

using patchbay::fuzz::Bytes;

namespace {

using Model = std::map<std::string, std::string>;

bool is_key(const std::string& key) {
    return !key.empty() && key.size() < MPI_MAX_INFO_KEY;
}

void check_get(MPI_Info info, const Model& model, const std::string& key, int room) {
    char text[MPI_MAX_INFO_VAL + 1];
    std::memset(text, '#', sizeof text);
    int length = room;
    int flag = -1;
    const int code = MPI_Info_get_string(info, key.c_str(), &length, text, &flag);
    if (!is_key(key)) {
        REQUIRE(code == MPI_ERR_INFO_KEY);
        return;
    }
    const auto found = model.find(key);
    REQUIRE(code == MPI_SUCCESS && flag == (found != model.end()));
    if (flag != 0) {
        REQUIRE(length == int(found->second.size()) + 1);
        REQUIRE(room == 0 || found->second.substr(0, std::size_t(room - 1)) == text);
        REQUIRE(text[room] == '#'); // nothing is written behind the room
    }
}

void check_all(MPI_Info info, const Model& model) {
    int keys = -1;
    REQUIRE(MPI_Info_get_nkeys(info, &keys) == MPI_SUCCESS && keys == int(model.size()));
    for (int i = 0; i < keys; ++i) {
        char key[MPI_MAX_INFO_KEY + 1];
        REQUIRE(MPI_Info_get_nthkey(info, i, key) == MPI_SUCCESS && model.count(key) == 1);
    }
    char key[MPI_MAX_INFO_KEY + 1];
    REQUIRE(MPI_Info_get_nthkey(info, keys, key) != MPI_SUCCESS);
}

// One operation; the text up to a line's end is its key, and the next its value.
void step(MPI_Info& info, Model& model, Bytes& bytes) {
    const int what = bytes.byte() % 5;
    const std::string key(std::string(bytes.until('\n')).c_str());
    switch (what) {
    case 0: {
        const std::string value(std::string(bytes.until('\n')).c_str());
        const int code = MPI_Info_set(info, key.c_str(), value.c_str());
        if (is_key(key) && value.size() < MPI_MAX_INFO_VAL) {
            REQUIRE(code == MPI_SUCCESS);
            model[key] = value;
        } else {
            REQUIRE(code == (is_key(key) ? MPI_ERR_INFO_VALUE : MPI_ERR_INFO_KEY));
        }
        break;
    }
    case 1: {
        const int code = MPI_Info_delete(info, key.c_str());
        REQUIRE((code == MPI_SUCCESS) == (model.erase(key) == 1));
        break;
    }
    case 2: {
        MPI_Info copy;
        REQUIRE(MPI_Info_dup(info, &copy) == MPI_SUCCESS && MPI_Info_free(&info) == MPI_SUCCESS);
        info = copy;
        break;
    }
    default:
        check_get(info, model, key, int(bytes.byte()));
        break;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bool returns = ::setenv("PATCHBAY_MCA_mpi_initial_errhandler", "return", 1) == 0;
    REQUIRE(returns);
    Bytes bytes(data, size);
    Model model;
    MPI_Info info;
    REQUIRE(MPI_Info_create(&info) == MPI_SUCCESS);
    while (!bytes.empty()) {
        step(info, model, bytes);
    }
    check_all(info, model);
    REQUIRE(MPI_Info_free(&info) == MPI_SUCCESS);
    return 0;
}
