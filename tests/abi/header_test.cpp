// SPDX-License-Identifier: BSD-3-Clause
// mpi.h against the tables that come from the MPI Forum's data. What the compiler can check is in the generated
// source of this test.
#include "tests/abi/header_test.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <type_traits>

static_assert(sizeof(MPI_Aint) == sizeof(void*) && std::is_signed_v<MPI_Aint>);
static_assert(sizeof(MPI_Offset) == 8 && std::is_signed_v<MPI_Offset>);
static_assert(sizeof(MPI_Count) == 8 && std::is_signed_v<MPI_Count>);

static_assert(sizeof(MPI_Status) == 32 && alignof(MPI_Status) == 4);
static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == 4);
static_assert(offsetof(MPI_Status, MPI_ERROR) == 8);
static_assert(MPI_F_STATUS_SIZE * sizeof(int) == sizeof(MPI_Status));
static_assert(std::is_trivial_v<MPI_Status> && std::is_standard_layout_v<MPI_Status>);

static_assert(std::is_pointer_v<MPI_Comm> && std::is_pointer_v<MPI_Datatype> && std::is_pointer_v<MPI_Errhandler> &&
    std::is_pointer_v<MPI_File> && std::is_pointer_v<MPI_Group> && std::is_pointer_v<MPI_Info> &&
    std::is_pointer_v<MPI_Message> && std::is_pointer_v<MPI_Op> && std::is_pointer_v<MPI_Request> &&
    std::is_pointer_v<MPI_Session> && std::is_pointer_v<MPI_Win>);
static_assert(std::is_enum_v<MPI_T_cb_safety> && std::is_enum_v<MPI_T_source_order>);

namespace {

TEST(Header, PointerConstantsHaveTheirValues) {
    int checked = 0;
    for (const PointerConstant* constant = pointer_constants; constant->name != nullptr; ++constant) {
        EXPECT_EQ(constant->found, constant->expected) << constant->name;
        ++checked;
    }
    EXPECT_GE(checked, 130);
}

bool is_predefined_handle(const PointerConstant& constant) {
    return constant.expected >= 0x20 && constant.expected < 4096;
}

TEST(Header, FixedSizeTypesCarryTheirSize) {
    const auto size_in = [](MPI_Datatype type) { return 1u << ((reinterpret_cast<std::uintptr_t>(type) >> 3) & 7); };
    EXPECT_EQ(size_in(MPI_CHAR), 1u);
    EXPECT_EQ(size_in(MPI_BYTE), 1u);
    EXPECT_EQ(size_in(MPI_INT16_T), 2u);
    EXPECT_EQ(size_in(MPI_UINT32_T), 4u);
    EXPECT_EQ(size_in(MPI_INT64_T), 8u);
    EXPECT_EQ(size_in(MPI_COMPLEX32), 32u);
}

TEST(Header, OnlyAliasesShareAHandle) {
    for (const PointerConstant* a = pointer_constants; a->name != nullptr; ++a) {
        for (const PointerConstant* b = a + 1; b->name != nullptr && is_predefined_handle(*a); ++b) {
            if (a->expected == b->expected) {
                const bool is_alias = a->found == reinterpret_cast<std::uintptr_t>(MPI_LONG_LONG) ||
                    a->found == reinterpret_cast<std::uintptr_t>(MPI_C_FLOAT_COMPLEX);
                EXPECT_TRUE(is_alias) << a->name << " and " << b->name;
            }
        }
    }
}

// The callback types are not in the tables; each is used here with a function of the standard's type.
void user_function(void*, void*, int*, MPI_Datatype*) {}
void user_function_c(void*, void*, MPI_Count*, MPI_Datatype*) {}
int copy_function(MPI_Comm, int, void*, void*, void*, int*) {
    return 0;
}
int delete_function(MPI_Comm, int, void*, void*) {
    return 0;
}
int type_copy_function(MPI_Datatype, int, void*, void*, void*, int*) {
    return 0;
}
int type_delete_function(MPI_Datatype, int, void*, void*) {
    return 0;
}
int win_copy_function(MPI_Win, int, void*, void*, void*, int*) {
    return 0;
}
int win_delete_function(MPI_Win, int, void*, void*) {
    return 0;
}
void comm_errhandler(MPI_Comm*, int*, ...) {}
void file_errhandler(MPI_File*, int*, ...) {}
void session_errhandler(MPI_Session*, int*, ...) {}
void win_errhandler(MPI_Win*, int*, ...) {}
int query_function(void*, MPI_Status*) {
    return 0;
}
int free_function(void*) {
    return 0;
}
int cancel_function(void*, int) {
    return 0;
}
int extent_function(MPI_Datatype, MPI_Aint*, void*) {
    return 0;
}
int conversion_function(void*, MPI_Datatype, int, void*, MPI_Offset, void*) {
    return 0;
}
int conversion_function_c(void*, MPI_Datatype, MPI_Count, void*, MPI_Offset, void*) {
    return 0;
}
void event_function(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void*) {}
void event_free_function(MPI_T_event_registration, MPI_T_cb_safety, void*) {}
void event_dropped_function(MPI_Count, MPI_T_event_registration, int, MPI_T_cb_safety, void*) {}

template <class Expected, class Found>
constexpr bool is_callback(Found*) {
    return std::is_same_v<Expected, Found>;
}

TEST(Header, CallbackTypes) {
    EXPECT_TRUE(is_callback<MPI_User_function>(user_function));
    EXPECT_TRUE(is_callback<MPI_User_function_c>(user_function_c));
    EXPECT_TRUE(is_callback<MPI_Copy_function>(copy_function));
    EXPECT_TRUE(is_callback<MPI_Delete_function>(delete_function));
    EXPECT_TRUE(is_callback<MPI_Comm_copy_attr_function>(copy_function));
    EXPECT_TRUE(is_callback<MPI_Comm_delete_attr_function>(delete_function));
    EXPECT_TRUE(is_callback<MPI_Type_copy_attr_function>(type_copy_function));
    EXPECT_TRUE(is_callback<MPI_Type_delete_attr_function>(type_delete_function));
    EXPECT_TRUE(is_callback<MPI_Win_copy_attr_function>(win_copy_function));
    EXPECT_TRUE(is_callback<MPI_Win_delete_attr_function>(win_delete_function));
    EXPECT_TRUE(is_callback<MPI_Comm_errhandler_function>(comm_errhandler));
    EXPECT_TRUE(is_callback<MPI_File_errhandler_function>(file_errhandler));
    EXPECT_TRUE(is_callback<MPI_Session_errhandler_function>(session_errhandler));
    EXPECT_TRUE(is_callback<MPI_Win_errhandler_function>(win_errhandler));
    EXPECT_TRUE(is_callback<MPI_Comm_errhandler_fn>(comm_errhandler));
    EXPECT_TRUE(is_callback<MPI_File_errhandler_fn>(file_errhandler));
    EXPECT_TRUE(is_callback<MPI_Session_errhandler_fn>(session_errhandler));
    EXPECT_TRUE(is_callback<MPI_Win_errhandler_fn>(win_errhandler));
    EXPECT_TRUE(is_callback<MPI_Grequest_query_function>(query_function));
    EXPECT_TRUE(is_callback<MPI_Grequest_free_function>(free_function));
    EXPECT_TRUE(is_callback<MPI_Grequest_cancel_function>(cancel_function));
    EXPECT_TRUE(is_callback<MPI_Datarep_extent_function>(extent_function));
    EXPECT_TRUE(is_callback<MPI_Datarep_conversion_function>(conversion_function));
    EXPECT_TRUE(is_callback<MPI_Datarep_conversion_function_c>(conversion_function_c));
    EXPECT_TRUE(is_callback<MPI_T_event_cb_function>(event_function));
    EXPECT_TRUE(is_callback<MPI_T_event_free_cb_function>(event_free_function));
    EXPECT_TRUE(is_callback<MPI_T_event_dropped_cb_function>(event_dropped_function));
}

} // namespace
