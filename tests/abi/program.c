/* SPDX-License-Identifier: BSD-3-Clause */
/* Needs nothing but the ABI: header and library. */
#include "tests/mpi_check/check.h"

#include <string.h>

static void check_versions(void) {
    int major, minor, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_version(&major, &minor);
    CHECK_TEXT(major == 5 && minor == 0, "MPI_Get_version");
    MPI_Abi_get_version(&major, &minor);
    CHECK_TEXT(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION, "MPI_Abi_get_version");
    MPI_Get_library_version(text, &length);
    CHECK_TEXT(strncmp(text, "Patchbay MPI ", 13) == 0 && (int)strlen(text) == length, "MPI_Get_library_version");
}

static void check_abi_info(void) {
    MPI_Info info;
    char value[16];
    int length = sizeof value, found;
    MPI_Abi_get_info(&info);
    MPI_Info_get_string(info, "mpi_count_size", &length, value, &found);
    CHECK_TEXT(found && strcmp(value, "8") == 0, "mpi_count_size in MPI_Abi_get_info");
    MPI_Info_free(&info);
}

static void check_handle_numbers(void) {
    MPI_Info first, second;
    MPI_Info_create(&first);
    MPI_Info_create(&second);
    CHECK_TEXT(MPI_Comm_toint(MPI_COMM_WORLD) == 257, "MPI_Comm_toint of MPI_COMM_WORLD");
    CHECK_TEXT(MPI_Comm_fromint(257) == MPI_COMM_WORLD, "MPI_Comm_fromint of 257");
    CHECK_TEXT(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE, "MPI_Type_toint and back");
    CHECK_TEXT(MPI_Info_toint(first) > 4095, "a handle's number lies outside the reserved range");
    CHECK_TEXT(MPI_Info_toint(first) == MPI_Info_toint(first), "a handle keeps its number");
    CHECK_TEXT(MPI_Info_toint(first) != MPI_Info_toint(second), "two handles have two numbers");
    CHECK_TEXT(MPI_Info_fromint(MPI_Info_toint(first)) == first, "MPI_Info_toint and back");
    MPI_Info_free(&first);
    MPI_Info_free(&second);
}

static void check_fortran_properties(void) {
    MPI_Info info, stored;
    char truth = 1, falsehood = 0, read_true, read_false, value[16];
    int is_set, length = sizeof value, found;
    MPI_Abi_get_fortran_info(&stored);
    CHECK_TEXT(stored == MPI_INFO_NULL, "no Fortran properties at first");
    MPI_Abi_get_fortran_booleans(1, &read_true, &read_false, &is_set);
    CHECK_TEXT(!is_set, "no Fortran booleans at first");

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", "4");
    CHECK_TEXT(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS, "MPI_Abi_set_fortran_info");
    CHECK_TEXT(MPI_Abi_set_fortran_info(info) == MPI_ERR_ABI, "a second MPI_Abi_set_fortran_info");
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&stored);
    CHECK_TEXT(stored != MPI_INFO_NULL, "MPI_Abi_get_fortran_info");
    MPI_Info_get_string(stored, "mpi_integer_size", &length, value, &found);
    CHECK_TEXT(found && strcmp(value, "4") == 0, "the Fortran properties are kept");
    MPI_Info_free(&stored);

    CHECK_TEXT(MPI_Abi_set_fortran_booleans(1, &truth, &falsehood) == MPI_SUCCESS, "MPI_Abi_set_fortran_booleans");
    CHECK_TEXT(MPI_Abi_set_fortran_booleans(1, &truth, &falsehood) == MPI_ERR_ABI, "setting the booleans again");
    MPI_Abi_get_fortran_booleans(1, &read_true, &read_false, &is_set);
    CHECK_TEXT(is_set && read_true == 1 && read_false == 0, "MPI_Abi_get_fortran_booleans");
}

static void check_status_fields(void) {
    MPI_Status status;
    int value, count;
    memset(&status, 0, sizeof status);
    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 4);
    MPI_Status_set_error(&status, MPI_ERR_TAG);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Status_set_elements(&status, MPI_INT, 5);
    MPI_Status_get_source(&status, &value);
    CHECK_TEXT(value == 3 && status.MPI_SOURCE == 3, "source");
    MPI_Status_get_tag(&status, &value);
    CHECK_TEXT(value == 4 && status.MPI_TAG == 4, "tag");
    MPI_Status_get_error(&status, &value);
    CHECK_TEXT(value == MPI_ERR_TAG && status.MPI_ERROR == MPI_ERR_TAG, "error");
    MPI_Test_cancelled(&status, &value);
    CHECK_TEXT(value == 1, "cancelled");
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_TEXT(count == 5, "MPI_Get_count of whole elements");
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK_TEXT(count == MPI_UNDEFINED, "MPI_Get_count of a broken element");
}

static void check_large_counts(void) {
    MPI_Status status;
    MPI_Count large;
    int count;
    MPI_Status_set_elements_c(&status, MPI_BYTE, (MPI_Count)5 << 30);
    MPI_Get_count_c(&status, MPI_BYTE, &large);
    CHECK_TEXT(large == (MPI_Count)5 << 30, "MPI_Get_count_c above 2^31");
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_TEXT(count == MPI_UNDEFINED, "MPI_Get_count above 2^31");
}

static void check_memory(void) {
    MPI_Info info;
    void* memory = NULL;
    double before = MPI_Wtime();
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
    CHECK_TEXT(MPI_Alloc_mem(100, info, &memory) == MPI_SUCCESS && memory != NULL, "MPI_Alloc_mem");
    CHECK_TEXT((uintptr_t)memory % 4096 == 0, "mpi_minimum_memory_alignment");
    CHECK_TEXT(MPI_Free_mem(memory) == MPI_SUCCESS, "MPI_Free_mem");
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "48");
    CHECK_TEXT(MPI_Alloc_mem(100, info, &memory) == MPI_ERR_INFO_VALUE, "an alignment that is no power of two");
    CHECK_TEXT(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory) == MPI_ERR_SIZE, "MPI_Alloc_mem of -1 byte");
    CHECK_TEXT(MPI_Alloc_mem(PTRDIFF_MAX, MPI_INFO_NULL, &memory) == MPI_ERR_NO_MEM, "MPI_Alloc_mem of everything");
    MPI_Info_free(&info);
    CHECK_TEXT(MPI_Wtime() >= before && MPI_Wtick() > 0 && MPI_Wtick() < 1e-3, "time");
}

static void check_addresses(void) {
    int array[4] = {0};
    MPI_Aint first, last;
    MPI_Get_address(&array[0], &first);
    MPI_Get_address(&array[3], &last);
    CHECK_TEXT(MPI_Aint_diff(last, first) == 3 * (MPI_Aint)sizeof(int), "MPI_Aint_diff");
    CHECK_TEXT(MPI_Aint_add(first, 3 * (MPI_Aint)sizeof(int)) == last, "MPI_Aint_add");
}

int main(int argc, char** argv) {
    /* Legal before MPI_Init */
    check_versions();
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_versions();
    check_abi_info();
    check_handle_numbers();
    check_fortran_properties();
    check_status_fields();
    check_large_counts();
    check_memory();
    check_addresses();
    MPI_Finalize();
    check_versions();
    return failures();
}
