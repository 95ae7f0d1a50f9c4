// SPDX-License-Identifier: BSD-3-Clause
#include "object/errhandler.h"
#include "object/probed_handle.h"

#include <gtest/gtest.h>

using namespace patchbay;

namespace {

std::string text_of(int code) {
    std::string text = "none";
    return error_string_of(code, &text) == MPI_SUCCESS ? text : "invalid";
}

int class_of(int code) {
    int error_class = -1;
    return error_class_of(code, &error_class) == MPI_SUCCESS ? error_class : -1;
}

} // namespace

TEST(error_codes, predefined_ones_are_their_own_class_and_have_a_text) {
    for (int code = MPI_SUCCESS; code <= MPI_ERR_ABI; ++code) {
        EXPECT_EQ(class_of(code), code);
        EXPECT_EQ(text_of(code).substr(0, 4), "MPI_") << code;
    }
    for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; ++code) {
        EXPECT_EQ(class_of(code), code);
    }
    EXPECT_EQ(text_of(MPI_ERR_TRUNCATE).substr(0, 16), "MPI_ERR_TRUNCATE");
    EXPECT_EQ(class_of(MPI_ERR_ABI + 1), -1);
    EXPECT_EQ(text_of(-1), "invalid");
}

TEST(error_codes, added_ones) {
    int error_class = 0;
    int code = 0;
    ASSERT_EQ(add_error_class(&error_class), MPI_SUCCESS);
    ASSERT_EQ(add_error_code(error_class, &code), MPI_SUCCESS);
    EXPECT_GT(error_class, MPI_ERR_LASTCODE);
    EXPECT_EQ(last_used_error_code(), code);
    EXPECT_EQ(class_of(error_class), error_class);
    EXPECT_EQ(class_of(code), error_class);
    EXPECT_EQ(text_of(code), ""); // until it has one
    EXPECT_EQ(add_error_string(code, "too little light"), MPI_SUCCESS);
    EXPECT_EQ(text_of(code), "too little light");
    EXPECT_EQ(remove_error_code(code), MPI_ERR_ARG); // it has a text
    EXPECT_EQ(class_of(code), error_class);
    EXPECT_EQ(remove_error_string(code), MPI_SUCCESS);
    EXPECT_EQ(remove_error_string(code), MPI_ERR_ARG); // it has none any more
    EXPECT_EQ(text_of(code), "");
    EXPECT_EQ(add_error_string(code, ""), MPI_SUCCESS); // an empty one is one
    EXPECT_EQ(remove_error_code(code), MPI_ERR_ARG);
    EXPECT_EQ(remove_error_string(code), MPI_SUCCESS);
    EXPECT_EQ(remove_error_class(error_class), MPI_ERR_ARG); // it has a code
    EXPECT_EQ(remove_error_code(error_class), MPI_ERR_ARG);  // that is a class
    EXPECT_EQ(remove_error_code(code), MPI_SUCCESS);
    EXPECT_EQ(class_of(code), -1);
    EXPECT_EQ(remove_error_class(error_class), MPI_SUCCESS);
    EXPECT_EQ(class_of(error_class), -1);
}

TEST(error_codes, a_class_may_go_with_its_text) {
    int error_class = 0;
    ASSERT_EQ(add_error_class(&error_class), MPI_SUCCESS);
    EXPECT_EQ(add_error_string(error_class, "weather"), MPI_SUCCESS);
    EXPECT_EQ(remove_error_class(error_class), MPI_SUCCESS);
    EXPECT_EQ(text_of(error_class), "invalid");
}

TEST(error_codes, a_code_of_a_predefined_class) {
    int code = 0;
    ASSERT_EQ(add_error_code(MPI_ERR_IO, &code), MPI_SUCCESS);
    EXPECT_EQ(class_of(code), MPI_ERR_IO);
    EXPECT_EQ(remove_error_code(code), MPI_SUCCESS);
}

TEST(error_codes, predefined_ones_cannot_be_changed) {
    int code = 0;
    EXPECT_EQ(add_error_string(MPI_ERR_IO, "mine"), MPI_ERR_ARG);
    EXPECT_EQ(remove_error_class(MPI_ERR_IO), MPI_ERR_ARG);
    EXPECT_EQ(remove_error_code(MPI_ERR_IO), MPI_ERR_ARG);
    EXPECT_EQ(remove_error_string(MPI_ERR_IO), MPI_ERR_ARG);
    EXPECT_EQ(add_error_code(MPI_ERR_LASTCODE + 100000, &code), MPI_ERR_ARG);
}

TEST(errhandler, predefined_handles) {
    EXPECT_EQ(to_object<Errhandler>(MPI_ERRHANDLER_NULL), nullptr);
    EXPECT_EQ(to_object<Errhandler>(MPI_ERRORS_ARE_FATAL)->behaviour, Errhandler::Behaviour::fatal);
    EXPECT_EQ(to_object<Errhandler>(MPI_ERRORS_ABORT)->behaviour, Errhandler::Behaviour::abort);
    EXPECT_EQ(to_object<Errhandler>(MPI_ERRORS_RETURN)->behaviour, Errhandler::Behaviour::give_back);
    EXPECT_EQ(to_handle(to_object<Errhandler>(MPI_ERRORS_RETURN)), MPI_ERRORS_RETURN);
    Ref<Errhandler>::adopt(to_object<Errhandler>(MPI_ERRORS_RETURN)).reset();
    Ref<Errhandler>::adopt(to_object<Errhandler>(MPI_ERRORS_RETURN)).reset();
    EXPECT_NE(probed_object<Errhandler>(MPI_ERRORS_RETURN), nullptr);
}
