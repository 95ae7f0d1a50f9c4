#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables that tests/abi holds mpi.h against.

usage: import_abi.py ABI.json APIS.json OUTPUT_FOLDER

The two inputs are the MPI Forum's machine-readable description of the standard (constants with their ABI values, and
procedures with the *kind* of each argument). The outputs are expected_constants.tsv (name, C type, value) and
expected_functions.tsv (name, return type, argument types). The C types are derived here from the kinds, by the rules
of the standard's chapter on language bindings, and not from any header: mpi.h is written by hand, so that the test
compares two independent sources.
"""

import json
import os
import sys

# Kinds that are one C type everywhere.
SIMPLE = {
    "int": """ACCESS_MODE ARGUMENT_COUNT ARRAY_LENGTH ARRAY_LENGTH_NNI ARRAY_LENGTH_PI ASSERT BIND_TYPE CAT_INDEX COLOR
        COMBINER COMM_COMPARISON COMM_SIZE COMM_SIZE_PI COORDINATE CVAR_INDEX CVAR_INDEX_SPECIAL DEGREE DIMENSION
        DISTRIB_ENUM DTYPE_DISTRIBUTION ERROR_CLASS ERROR_CODE EVENT_INDEX FILE_DESCRIPTOR GENERIC_DTYPE_INT
        GROUP_COMPARISON INDEX INFO_VALUE_LENGTH KEY KEYVAL KEY_INDEX LOCK_TYPE LOGICAL LOGICAL_OPTIONAL MATH
        NUM_BYTES_SMALL NUM_DIMS ORDER PARTITION PROCESS_GRID_SIZE PROFILE_LEVEL PVAR_CLASS PVAR_INDEX RANK RANK_NNI
        SOURCE_INDEX SPLIT_TYPE STRING_LENGTH TAG THREAD_LEVEL TOOLENUM_INDEX TOOLENUM_SIZE TOOLS_NUM_ELEM_SMALL
        TOOL_VAR_VALUE TOOL_VAR_VERBOSITY TOPOLOGY_TYPE TYPECLASS TYPECLASS_SIZE UPDATE_MODE UPDATE_NUMBER
        VARIABLE_SCOPE VERSION WEIGHT""",
    "MPI_Aint": """ALLOC_MEM_NUM_BYTES DISPLACEMENT DISPLACEMENT_NNI DISPOFFSET_SMALL LOCATION_SMALL
        RMA_DISPLACEMENT_NNI WINDOW_SIZE WIN_ATTACH_SIZE""",
    "MPI_Count": "DROPPED_COUNT GENERIC_DTYPE_COUNT NUM_BYTES TOOLS_TICK_COUNT XFER_NUM_ELEM XFER_NUM_ELEM_NNI",
    "MPI_Offset": "OFFSET",
    "double": "TICK_RESOLUTION WALL_TIME",
    "MPI_Comm": "COMMUNICATOR",
    "MPI_Datatype": "DATATYPE",
    "MPI_Errhandler": "ERRHANDLER",
    "MPI_File": "FILE",
    "MPI_Group": "GROUP",
    "MPI_Info": "INFO",
    "MPI_Message": "MESSAGE",
    "MPI_Op": "OPERATION",
    "MPI_Request": "REQUEST",
    "MPI_Session": "SESSION",
    "MPI_Win": "WINDOW",
    "MPI_T_enum": "TOOLS_ENUM",
    "MPI_T_cvar_handle": "CVAR",
    "MPI_T_pvar_handle": "PVAR",
    "MPI_T_pvar_session": "PVAR_SESSION",
    "MPI_T_event_registration": "EVENT_REGISTRATION",
    "MPI_T_event_instance": "EVENT_INSTANCE",
    "MPI_T_cb_safety": "CALLBACK_SAFETY",
    "MPI_T_source_order": "SOURCE_ORDERING",
}
SIMPLE = {kind: ctype for ctype, kinds in SIMPLE.items() for kind in kinds.split()}

# Kinds whose type differs between a function and its large-count twin: (plain, twin).
LARGE = {
    "POLYDISPLACEMENT": ("int", "MPI_Aint"),
    "POLYDISPLACEMENT_AINT_COUNT": ("MPI_Aint", "MPI_Count"),
    "POLYDISPLACEMENT_COUNT": ("int", "MPI_Count"),
    "POLYDISPOFFSET": ("MPI_Aint", "MPI_Count"),
    "POLYDTYPE_NUM_ELEM": ("int", "MPI_Count"),
    "POLYDTYPE_NUM_ELEM_NNI": ("int", "MPI_Count"),
    "POLYDTYPE_NUM_ELEM_PI": ("int", "MPI_Count"),
    "POLYDTYPE_PACK_SIZE": ("MPI_Aint", "MPI_Count"),
    "POLYDTYPE_STRIDE_BYTES": ("MPI_Aint", "MPI_Count"),
    "POLYLOCATION": ("MPI_Aint", "MPI_Count"),
    "POLYNUM_BYTES": ("int", "MPI_Count"),
    "POLYNUM_BYTES_NNI": ("int", "MPI_Count"),
    "POLYNUM_PARAM_VALUES": ("int", "MPI_Count"),
    "POLYRMA_DISPLACEMENT": ("int", "MPI_Aint"),
    "POLYXFER_NUM_ELEM": ("int", "MPI_Count"),
    "POLYXFER_NUM_ELEM_NNI": ("int", "MPI_Count"),
}

# Untyped memory: one void * whether it goes in or comes out (the address of a pointer also converts to void *).
VOID = """ATTRIBUTE_VAL ATTRIBUTE_VAL_10 BUFFER C_BUFFER C_BUFFER2 C_BUFFER3 C_BUFFER4 EXTRA_STATE EXTRA_STATE2
    LOGICAL_VOID TOOL_MPI_OBJ""".split()

# The callbacks of the tool interface are named by their kind.
TOOL_CALLBACKS = {
    "EVENT_CB_FUNCTION": "MPI_T_event_cb_function *",
    "EVENT_FREE_CB_FUNCTION": "MPI_T_event_free_cb_function *",
    "EVENT_DROP_CB_FUNCTION": "MPI_T_event_dropped_cb_function *",
}

# Procedures of the API that the ABI leaves out, since they need a Fortran compiler's types.
NOT_IN_ABI = ("_c2f", "_f2c", "_c2f08", "_f082c", "_f2f08", "_f082f")

# Erratum to MPI 5.0: the partitioned initialisers got an int count and a large-count twin, as everything else has.
ERRATUM = {("MPI_Psend_init", "XFER_NUM_ELEM_NNI"), ("MPI_Precv_init", "XFER_NUM_ELEM_NNI")}

# The Forum's table files this one with the access modes; the standard's text gives it the type of an offset.
CONSTANT_TYPES = {"MPI_DISPLACEMENT_CURRENT": "MPI_Offset"}


def pointer_to(ctype):
    return ctype + ("*" if ctype.endswith("*") else " *")


def kind_of(procedure, parameter):
    """The parameter's kind, after errata."""
    kind = parameter["kind"]
    return "POLYXFER_NUM_ELEM_NNI" if (procedure["name"], kind) in ERRATUM else kind


def argument_type(procedure, parameter, large):
    kind = kind_of(procedure, parameter)
    const = "const " if str(parameter["constant"]).lower() == "true" else ""
    if kind == "VARARGS":
        return "..."
    if kind in VOID:
        return const + "void *"
    if kind == "STRING":
        return const + "char *"
    if kind in ("STRING_ARRAY", "STRING_2DARRAY"):
        return "char " + ("**" if kind == "STRING_ARRAY" else "***")
    if kind == "ARGUMENT_LIST":
        # MPI_Init may change the caller's list, MPI_Info_create_env only reads it.
        return "char **" if parameter["pointer"] is False else "char ***"
    if kind == "STATUS":
        return const + "MPI_Status *"
    if kind == "FUNCTION":
        return pointer_to(parameter["func_type"])
    if kind == "POLYFUNCTION":
        return pointer_to(parameter["func_type"] + ("_c" if large else ""))
    if kind in TOOL_CALLBACKS:
        return TOOL_CALLBACKS[kind]
    ctype = LARGE[kind][large] if kind in LARGE else SIMPLE[kind]
    if isinstance(parameter["length"], list):
        return const + ctype + " (*)" + "".join("[" + extent + "]" for extent in parameter["length"][1:])
    is_array = parameter["length"] is not None
    is_output = parameter["param_direction"] != "in"
    if parameter["pointer"] is not None and not is_array:
        return const + pointer_to(ctype) if parameter["pointer"] else ctype
    return const + pointer_to(ctype) if is_array or is_output else ctype


def signature(procedure, large):
    types = []
    for parameter in procedure["parameters"]:
        if "c_parameter" in parameter["suppress"] or (parameter["large_only"] and not large):
            continue
        types.append(argument_type(procedure, parameter, large))
    kind = procedure["return_kind"]
    return SIMPLE[kind], ", ".join(types) or "void"


def functions(apis):
    for procedure in apis.values():
        attributes = procedure["attributes"]
        name = procedure["name"]
        if attributes["callback"] or attributes["predefined_function"] or not attributes["c_expressible"]:
            continue
        if name.endswith(NOT_IN_ABI) or name == "MPI_Sizeof":
            continue
        yield (name,) + signature(procedure, False)
        kinds = [kind_of(procedure, parameter) for parameter in procedure["parameters"]]
        if any(kind in LARGE or kind == "POLYFUNCTION" for kind in kinds):
            yield (name + "_c",) + signature(procedure, True)


def constants(abi):
    for constant in abi["constants"].values():
        ctype = constant["handle_types"]["c"]["type"]
        if ctype is not None and isinstance(constant["abi_value"], int):
            ctype = CONSTANT_TYPES.get(constant["name"], ctype).replace(" *", "*").replace("*", " *", 1)
            yield constant["name"], ctype, str(constant["abi_value"])


def write(path, header, rows):
    with open(path, "w", encoding="utf-8") as out:
        print("# SPDX-License-Identifier: BSD-3-Clause", file=out)
        print("# " + header + "; written by tools/api/import_abi.py", file=out)
        for row in sorted(rows):
            print("\t".join(row), file=out)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as abi, open(sys.argv[2], encoding="utf-8") as apis:
        expected_constants = constants(json.load(abi))
        expected_functions = functions(json.load(apis))
        folder = sys.argv[3]
        write(os.path.join(folder, "expected_constants.tsv"), "name, C type, value", expected_constants)
        write(os.path.join(folder, "expected_functions.tsv"), "name, return type, argument types", expected_functions)


if __name__ == "__main__":
    main()
