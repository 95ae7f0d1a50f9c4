# SPDX-License-Identifier: BSD-3-Clause
# find_package(Patchbay) of CMake: for components of Patchbay MPI that are built outside its tree. Programs use FindMPI.
#
#   find_package(Patchbay REQUIRED)
#   patchbay_add_plugin(coll mine mine.cpp)     # the target mca_coll_mine, the file mca_coll_mine.so
#
# or, for a target of one's own: target_link_libraries(TARGET PRIVATE Patchbay::plugin).
get_filename_component(PATCHBAY_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET Patchbay::plugin)
    add_library(Patchbay::plugin INTERFACE IMPORTED)
    set_target_properties(Patchbay::plugin PROPERTIES
        INTERFACE_COMPILE_FEATURES cxx_std_20
        INTERFACE_INCLUDE_DIRECTORIES "${PATCHBAY_PREFIX}/include/patchbay;${PATCHBAY_PREFIX}/include"
        INTERFACE_COMPILE_OPTIONS "-fPIC;-fvisibility=hidden"
        INTERFACE_LINK_OPTIONS "-Wl,-z,defs;-Wl,--version-script=${PATCHBAY_PREFIX}/share/patchbay/plugin.map;-Wl,-rpath,${PATCHBAY_PREFIX}/lib"
        INTERFACE_LINK_LIBRARIES "${PATCHBAY_PREFIX}/lib/libmpi_abi.so.1")
endif()

function(patchbay_add_plugin framework name)
    add_library(mca_${framework}_${name} MODULE ${ARGN})
    set_target_properties(mca_${framework}_${name} PROPERTIES PREFIX "" SUFFIX ".so")
    target_link_libraries(mca_${framework}_${name} PRIVATE Patchbay::plugin)
endfunction()
