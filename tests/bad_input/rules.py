# SPDX-License-Identifier: BSD-3-Clause
"""What is a valid argument, and which values are wrong with which class of error, for every parameter of every function.

A parameter without a rule is an error of functions.py, so that no new function is forgotten: add a rule here, or name the
function in UNTESTED with the reason.
"""
import re
from dataclasses import dataclass, field

# Functions of which no argument can be wrong in a way that the library must detect, or that other tests call.
UNTESTED = {
    r"MPIX_Threadcomm_\w+": "they need threads; tests/threadcomm/errors.cpp calls them with wrong arguments",
    r"MPI_(Init|Init_thread|Finalize|Initialized|Finalized|Abort)": "tests/init; before_and_after.cpp",
    r"MPI_Intercomm_create(_from_groups)?": "tests/intercomm/errors.c: the other leader gets the error, too",
    r"MPI_(Wtime|Wtick|Aint_add|Aint_diff|Pcontrol)": "they return no code",
    r"MPI_\w+_(c2f|f2c|toint|fromint)": "they return no code; tests/abi/handles.c",
    r"MPI_\w+_(COPY_FN|DELETE_FN|DUP_FN)": "callbacks of the library",
    r"MPI_(COMM|TYPE|WIN|CONVERSION)_\w+": "callbacks of the library",
    r"MPI_(NULL|DUP)_\w+": "callbacks of the library",
    r"MPI_T_(init_thread|finalize)": "tests/mpi_t",
    r"MPIX_(Bind|Ibind|Unbind|Iunbind|Rebind)_\w+": "tests/chan/errors.cpp: most errors need a request in a certain state",
}

HANDLES = {
    "MPI_Comm": ("comm", "COMM", "p.comm"),
    "MPI_Group": ("group", "GROUP", "p.group"),
    "MPI_Datatype": ("datatype", "TYPE", "MPI_INT"),
    "MPI_Op": ("op", "OP", "MPI_SUM"),
    "MPI_Info": ("info", "INFO", "p.info"),
    "MPI_Errhandler": ("errhandler", "ERRHANDLER", "p.errhandler"),
    "MPI_Session": ("session", "SESSION", "p.session"),
    "MPI_Request": ("request", "REQUEST", "p.persistent"),
    "MPI_Win": ("win", "WIN", "p.win"),
    "MPI_Message": ("message", "REQUEST", "MPI_MESSAGE_NO_PROC"),
    # Errors that begin with T_ are those of the tool information interface, which calls no error handler.
    "MPI_T_cvar_handle": ("cvar", "T_INVALID_HANDLE", "p.cvar"),
    "MPI_T_pvar_session": ("pvar_session", "T_INVALID_SESSION", "p.pvar_session"),
    "MPI_T_pvar_handle": ("pvar", "T_INVALID_HANDLE", "p.pvar"),
    "MPI_T_enum": ("enumeration", "T_INVALID_HANDLE", "p.enumeration"),
    "MPI_T_event_registration": ("registration", "T_INVALID_HANDLE", "p.registration"),
    "MPI_T_event_instance": ("instance", "T_INVALID_HANDLE", "nullptr"),
}
ALL_HANDLES = ("null_handle", "zero_handle", "freed_handle", "other_handle", "random_handle")
NOT_NULL = ALL_HANDLES[1:]


@dataclass
class Bad:
    what: str
    error: str
    handle: str = "count"
    place: str = "value"


@dataclass
class Rule:
    valid: str
    bad: list = field(default_factory=list)


def handle(kind, valid=None, place="value", which=ALL_HANDLES, pointer="ARG"):
    name, error, usual = HANDLES[kind]
    bad = [Bad(what, error, name, place) for what in which]
    valid = valid or usual
    if place == "variable":
        valid = f"pointer_to({valid})"
        bad.append(Bad("null_pointer", pointer))
    elif place == "array":
        valid = f"array_of({valid})"
        bad.append(Bad("null_pointer", pointer))
    return Rule(valid, bad)


def number(valid, error, *what):
    return Rule(str(valid), [Bad(w, error) for w in what or ("minus_one", )])


def any_value(valid="0"):
    return Rule(valid)


OUT = Rule("p.out()", [Bad("null_pointer", "ARG")])
OPTIONAL_OUT = Rule("p.out()")
TEXT = Rule('"name"', [Bad("null_pointer", "ARG")])
COUNT = number(1, "COUNT")
RANK = number(0, "RANK", "minus_many", "large")
# This process, so that all arguments are significant.
ROOT = number("p.rank", "ROOT", "minus_many", "large")
TAG = number(3, "TAG", "minus_many")
ARGUMENT = number(1, "ARG")
INTS = Rule("p.ones<int>()", [Bad("null_pointer", "ARG")])
AINTS = Rule("p.ones<MPI_Aint>()", [Bad("null_pointer", "ARG")])
ZEROS = Rule("p.zeros()", [Bad("null_pointer", "ARG")])
FUNCTION = Rule("nullptr", [])
CALLBACK = Rule("callback()", [Bad("null_pointer", "ARG")])


def buffer(valid, *what):
    return Rule(valid, [Bad(w, "BUFFER") for w in what or ("null_pointer", "in_place")])


# The communicator, request or group that a function needs, where it is not an ordinary one.
SPECIAL = [
    (r"MPI_Cart_(coords|get|rank|shift|sub)$|MPI_Cartdim_get$", "MPI_Comm", "p.cart"),
    (r"MPI_Graph_(get|neighbors|neighbors_count)$|MPI_Graphdims_get$", "MPI_Comm", "p.graph"),
    (r"MPI_Dist_graph_neighbors(_count)?$", "MPI_Comm", "p.dist"),
    (r"MPI_(Ineighbor|Neighbor)_", "MPI_Comm", "p.cart"),
    (r"MPI_Comm_remote_(size|group)$|MPI_Intercomm_merge$", "MPI_Comm", "p.inter"),
    ("MPI_Win_(attach|detach)$", "MPI_Win", "p.dynamic"),
    (r"MPI_Pready", "MPI_Request", "p.psend"),
    (r"MPI_Parrived", "MPI_Request", "p.precv"),
]

# By function and parameter; the first that fits counts, before the rules by type and name below.
EXCEPTIONS = []

# By type (as in the header, without const, with [] or * for each level) and name.
BY_NAME = []


def exception(function, name, rule):
    EXCEPTIONS.append((re.compile(function + "$"), re.compile(name + "$"), rule))


def by_name(kind, name, rule):
    BY_NAME.append((re.compile(kind + "$"), re.compile(name + "$"), rule))


INTEGER = r"(int|MPI_Count|MPI_Aint)"
by_name(INTEGER, r"(count|sendcount|recvcount|incount|outcount|insize|outsize)", COUNT)
by_name(INTEGER, "(origin|target|result)_count", COUNT)
by_name("int", "(dest|source|rank|target_rank|local_leader|remote_leader)", RANK)
by_name("MPI_Aint", "target_disp", Rule("0", [Bad("minus_one", "DISP"), Bad("large", "RMA_RANGE")]))
by_name(INTEGER, "disp_unit", number(1, "DISP", "minus_one", "zero"))
by_name("int", "assert", number(0, "ASSERT", "minus_one", "large"))
by_name("int", "lock_type", number("MPI_LOCK_SHARED", "LOCKTYPE", "minus_one", "large"))
by_name("int", "root", ROOT)
by_name("int", "(tag|sendtag|recvtag)", TAG)
by_name("int", r"\w*keyval", number("p.comm_keyval", "KEYVAL", "minus_one", "large"))
by_name("int", r"partition(_low|_high)?", number(0, "ARG", "minus_one", "large"))
by_name("int", "partitions", number(4, "ARG"))
by_name(INTEGER, "(blocklength|size|length|n|max\\w*|ndims)", ARGUMENT)
by_name(INTEGER, "(stride|lb|extent|disp|color|key|high|reorder|commute|flag|level|direction)", any_value("1"))
by_name("int", "(errorcode|errorclass|error)", number("MPI_ERR_OTHER", "ARG", "large"))
by_name(r"int\[\]|int\*", "(sendcounts|recvcounts)", INTS)
by_name(r"MPI_Count\[\]", "(sendcounts|recvcounts)", Rule("p.ones<MPI_Count>()", [Bad("null_pointer", "ARG")]))
by_name(r"(int|MPI_Aint)\[\]", "(displs|sdispls|rdispls)", ZEROS)
by_name(r"MPI_Datatype\[\]", "(sendtypes|recvtypes|array_of_types)", handle("MPI_Datatype", place="array"))
by_name(r"MPI_Request\[\]", "array_of_requests", handle("MPI_Request", place="array"))
by_name(r"(int|MPI_Count|MPI_Aint)\[\]", r"(array_of_\w+|ranks|coords|dims|periods|edges|indx|remain_dims)", ZEROS)
by_name(r"void\*", "(sendbuf|inbuf)", buffer("p.send_buffer()"))
by_name(r"void\*", "(recvbuf|buf|outbuf|inoutbuf)", buffer("p.receive_buffer()"))
by_name(r"void\*", "(origin|origin_addr|compare_addr)", buffer("p.send_buffer()"))
by_name(r"void\*", "result_addr", buffer("p.receive_buffer()"))
by_name(r"char\*", r"\w+", TEXT)
by_name(r"(MPI_Status\*|MPI_Status\[\])", r"\w+", Rule("&p.status"))
by_name(r"(int|MPI_Count|MPI_Aint)\*", r"\w+", OUT)
by_name(r"(int|MPI_Count|MPI_Aint)\[\]", r"\w+", OUT)
by_name(r"int\(\*\)\[3\]|int\[\]\[3\]", "ranges", ZEROS)
by_name(r"MPI_\w+\*", r"(new\w+|comm_cart|comm_graph|comm_dist_graph|pair_type|info_used)", OUT)
by_name(r"\w+_function(_c)?\*", r"\w+", FUNCTION)
by_name("MPI_Info", "info", handle("MPI_Info", which=NOT_NULL))
for _kind in HANDLES:
    by_name(_kind, r"\w+", handle(_kind))
# The tool information interface: results are optional where there are several.
TOOL = "MPI_T_"
TOOL_OUT = Rule("p.out()", [Bad("null_pointer", "T_INVALID")])
# An event instance exists in a callback only: tests/mpi_t.
exception(TOOL + "event_(read|copy|get_timestamp|get_source)", "(buffer|event_timestamp|source_index)", any_value("p.out()"))
for _name in ("cvar", "pvar", "event", "cat", "source"):
    exception(TOOL + r"\w+(?<!_get_index)", _name + "_index", number(0, "T_INVALID_INDEX", "minus_one", "large"))
exception(TOOL + r"(cvar|pvar|event|category)_get_index", "name",
          Rule('"name"', [Bad("null_pointer", "T_INVALID"), Bad("no_text", "T_INVALID_NAME")]))
exception(TOOL + r"pvar_get_index", "name",
          Rule('"name"', [Bad("null_pointer", "T_INVALID"), Bad("no_text", "T_INVALID_NAME")]))
exception(TOOL + "pvar_get_index", "var_class", number("MPI_T_PVAR_CLASS_COUNTER", "T_INVALID_NAME", "large"))
exception(TOOL + "enum_get_item", "indx", number(0, "T_INVALID_INDEX", "minus_one", "large"))
exception(TOOL + r"\w+_get_(info|item)", r"(?!info_used)(?!\w+_index)(?!enumtype$)(?!event_registration)(?!cb_safety)\w+",
          any_value("nullptr"))
exception(TOOL + "(enum_get_item|enum_get_info)", "enumtype", handle("MPI_T_enum"))
exception(TOOL + r"\w+", "enumtype", any_value("nullptr"))
exception(TOOL + r"category_get_\w+", "len", number(1, "T_INVALID"))
exception(TOOL + r"\w+_alloc", "obj_handle", any_value("nullptr"))
exception(TOOL + "event_read", "element_index", any_value("0"))
# The program itself has no way to load another value of the enumeration.
exception(TOOL + r"\w+", "cb_safety", any_value("MPI_T_CB_REQUIRE_NONE"))
exception(TOOL + r"\w+", "info", Rule("MPI_INFO_NULL", [Bad(what, "T_INVALID", "info") for what in NOT_NULL]))
exception(TOOL + r"\w+", r"(user_data|\w+_cb_function)", any_value("nullptr"))
exception(TOOL + "cvar_handle_free", "handle", handle("MPI_T_cvar_handle", place="variable", pointer="T_INVALID_HANDLE"))
exception(TOOL + "pvar_handle_free", "handle", handle("MPI_T_pvar_handle", place="variable", pointer="T_INVALID"))
exception(TOOL + "pvar_session_free", "session", handle("MPI_T_pvar_session", place="variable", pointer="T_INVALID"))
exception(TOOL + r"\w+_alloc", "(handle|count|event_registration)", TOOL_OUT)
exception(TOOL + "pvar_session_create", "session", TOOL_OUT)
exception(TOOL + r"\w+", r"(num\w*|cat_index|[cp]var_index|event_index|indices|update_number|timestamp|info_used|buf)", TOOL_OUT)
exception("MPI_Register_datarep(_c)?", "dtype_file_extent_fn", CALLBACK)
exception("MPI_Register_datarep(_c)?", "extra_state", any_value("nullptr"))
# Dynamic processes. The communicator is one of this process alone, because the other members would have to take part.
DYNAMIC = "MPI_Comm_(spawn|spawn_multiple|connect|accept)"
exception(DYNAMIC, "comm", handle("MPI_Comm", "MPI_COMM_SELF"))
exception(DYNAMIC, "root", number(0, "ROOT", "minus_many", "large"))
exception("MPI_Comm_spawn", "maxprocs", number(1, "ARG", "minus_one", "zero"))
exception("MPI_Comm_spawn_multiple", "count", number(1, "COUNT", "minus_one", "zero"))
exception("MPI_Comm_spawn_multiple", "array_of_commands",
          Rule('array_of(const_cast<char*>("name"))', [Bad("null_pointer", "ARG")]))
exception("MPI_Comm_spawn_multiple", "array_of_maxprocs", INTS)
exception("MPI_Comm_spawn_multiple", "array_of_info", handle("MPI_Info", "MPI_INFO_NULL", place="array", which=NOT_NULL))
exception(DYNAMIC, r"(argv|array_of_argv|array_of_errcodes)", any_value("nullptr"))
exception("MPI_Comm_(connect|accept)|MPI_Close_port", "port_name",
          Rule('"name"', [Bad("null_pointer", "ARG"), Bad("no_text", "PORT")]))
exception("MPI_Lookup_name", "service_name", Rule('"name"', [Bad("null_pointer", "ARG"), Bad("no_text", "NAME")]))
exception("MPI_Unpublish_name", "service_name", Rule('"name"', [Bad("null_pointer", "ARG"), Bad("no_text", "SERVICE")]))
exception("MPI_(Open_port|Lookup_name)", "port_name", OUT)
exception("MPI_Comm_join", "fd", number(0, "ARG"))
exception("MPIX_Session_(get_attr|set_attr|delete_attr)", "keyval", number("p.session_keyval", "KEYVAL", "minus_one", "large"))
exception("MPIX_Session_(create_keyval|set_attr)", "(extra_state|attribute_val)", any_value("nullptr"))
# Arguments that mean something else, or need another value, than those of the same name elsewhere.
exception("MPI_Info_create_env", "argc", any_value())
exception(r"MPI_(Info_(dup|set|delete|get\w*)|Abi_set_fortran_info)", "info", handle("MPI_Info"))
exception("MPI_Dims_create", "ndims", number(1, "DIMS"))
exception(r"MPI_I?[eE]xscan(_init)?(_c)?", "recvbuf", any_value("p.receive_buffer()")) # not significant in rank 0
# What is wrong with the elements of these arrays: tests/topo/bad_input.c.
exception("MPI_Graph_(create|map)", "indx", INTS)
exception("MPI_Graph_(create|map)", "edges", ZEROS)
exception("MPI_Dist_graph_(create|create_adjacent)", "degrees", INTS)
exception("MPI_Dist_graph_(create|create_adjacent|neighbors)", r"(destinations|sources)", ZEROS)
exception("MPI_Dist_graph_(create|create_adjacent)", r"\w*weights", ZEROS)
exception("MPI_Dist_graph_neighbors", r"\w*weights", any_value("p.zeros()")) # the graph has none
# Texts that the function writes.
exception(r"MPI_(Get_\w+|(Comm|Type|Win)_get_name|Error_string|Info_get(_string|_nthkey)?)",
          "(version|name|comm_name|type_name|win_name|string|value)", OUT)
exception("MPI_Info_get_nthkey", "key", OUT)
exception("MPI_Info_(set|delete|get|get_string|get_valuelen)", "key", Rule(TEXT.valid, [Bad("null_pointer", "INFO_KEY")]))
exception("MPI_Info_set", "value", Rule(TEXT.valid, [Bad("null_pointer", "INFO_VALUE")]))
exception("MPIX_Bundle_init", "requests", handle("MPI_Request", place="array"))
exception("MPI_Request_get_status", "request", handle("MPI_Request", which=NOT_NULL))
exception("MPI_Parrived", "request", handle("MPI_Request", "p.precv", which=NOT_NULL))
exception("MPI_(Wait|Test)", "request", handle("MPI_Request", place="variable", which=NOT_NULL))
exception("MPI_(Wait|Test|Request_get_status_)(all|any|some)", "array_of_requests",
          handle("MPI_Request", place="array", which=NOT_NULL))
exception(r"MPI_(Comm|Session|Win)_call_errhandler", "errorcode", any_value("MPI_ERR_OTHER"))
exception("MPI_Info_get_string", "buflen", Rule("pointer_to(8)", [Bad("null_pointer", "ARG")]))
exception("MPI_Type_get_contents(_c)?", r"max_\w+", number(10, "ARG"))
exception("MPI_Type_get_contents(_c)?", r"array_of_(addresses|large_counts)", OPTIONAL_OUT)
exception("MPI_I?[bB]cast(_init)?(_c)?", "buffer", buffer("p.receive_buffer()"))
exception("MPI_Cart_(create|map)", "ndims", number(1, "DIMS"))
exception("MPI_Cart_shift", "direction", number(0, "DIMS", "minus_one", "large"))
exception("MPI_Type_get_name", "datatype", handle("MPI_Datatype", which=NOT_NULL))
exception("MPI_Comm_get_name", "comm", handle("MPI_Comm", which=NOT_NULL))
exception("MPI_Win_get_name", "win", handle("MPI_Win", which=NOT_NULL))
exception("MPI_Win_free", "win", handle("MPI_Win", place="variable"))
exception(r"MPI_Win_(get|set|delete)_attr", "win_keyval", number("p.win_keyval", "KEYVAL", "minus_one", "large"))
exception("MPI_Win_(create|allocate|allocate_shared|attach)(_c)?", "size", number(8, "SIZE"))
exception("MPI_Win_(create|attach)(_c)?", "base", Rule("p.send_buffer()", [Bad("null_pointer", "BASE")]))
exception("MPI_Win_detach", "base", any_value("p.send_buffer()")) # tests/win/dynamic.c
# MPI_Get writes to its origin; in p.win the memory of the target is the send buffer.
exception("(MPI_R?[gG]et(_c)?|MPIX_Get_init)", "(origin|origin_addr)", buffer("p.receive_buffer()"))
exception("MPI_Op_create(_c)?", "user_fn", CALLBACK)
exception(r"MPI_\w+_create_errhandler", r"\w+_errhandler_fn", CALLBACK)
exception(r"MPI_(Pack|Unpack)\w*", "position", ZEROS)
exception(r"MPI_(Pack|Unpack)\w*", "(insize|outsize)", ARGUMENT)
exception("MPI_Unpack(_external)?(_c)?", "inbuf", buffer("p.send_buffer()"))
exception("MPI_(Get_(count|elements)|Status_|Test_cancelled).*", "status", Rule("&p.status", [Bad("null_pointer", "ARG")]))
exception("MPI_Alloc_mem", "size", number(8, "SIZE"))
exception("MPI_Session_get_nth_pset", "pset_len", ZEROS)
exception("MPI_Session_get_nth_pset", "pset_name", OPTIONAL_OUT)
exception("MPI_(Group_from_session_pset|Session_get_pset_info)", "pset_name", Rule('"mpi://SELF"', [Bad("null_pointer", "ARG")]))
exception("MPI_Comm_split", "color", number(0, "ARG"))
exception("MPI_Free_mem", "base", any_value("nullptr"))
exception("MPI_Get_address", "location", any_value())
exception(r"MPI_\w+_(create_keyval|set_attr)|MPI_Keyval_create|MPI_Attr_put|MPI_Grequest_start",
          "(extra_state|attribute_val)", any_value("nullptr"))
exception(r"MPI_Type_(get|set|delete)_attr", r"type_keyval", number("p.type_keyval", "KEYVAL", "minus_one", "large"))
COLLECTIVE = r"MPI_(I?[aA]llgather|I?[gG]ather|I?[aA]lltoall|I?[rR]educe|I?[aA]llreduce|I?[sS]can|I?[eE]xscan)"
# MPI_IN_PLACE is allowed there.
exception(COLLECTIVE + r"(v|w|_scatter|_scatter_block)?(_init)?(_c)?", "sendbuf", buffer("p.send_buffer()", "null_pointer"))
exception(r"MPI_I?[sS]catterv?(_init)?(_c)?", "recvbuf", buffer("p.receive_buffer()", "null_pointer"))
exception("MPI_Type_create_(darray|subarray)(_c)?", "order", number("MPI_ORDER_C", "ARG", "large"))
exception("MPI_Type_create_darray(_c)?", "rank", number(0, "ARG", "minus_one", "large"))
exception("MPI_Type_create_darray(_c)?", "array_of_distribs", Rule("array_of(int(MPI_DISTRIBUTE_BLOCK))",
                                                                   [Bad("null_pointer", "ARG")]))
exception("MPI_Type_create_darray(_c)?", "array_of_dargs", Rule("array_of(int(MPI_DISTRIBUTE_DFLT_DARG))",
                                                                [Bad("null_pointer", "ARG")]))
exception("MPI_Type_create_darray(_c)?", "array_of_psizes", INTS)
exception("MPI_Type_create_darray", "array_of_gsizes", INTS)
exception("MPI_Type_create_subarray", "array_of_(sub)?sizes", INTS)
exception("MPI_Type_create_(darray|subarray)_c", "array_of_(g|sub)?sizes", Rule("p.ones<MPI_Count>()",
                                                                               [Bad("null_pointer", "ARG")]))
exception("MPI_Type_create_f90_.*", "[pr]", number(6, "ARG", "large"))
exception("MPI_Type_get_contents(_c)?", "array_of_datatypes", OUT)
exception("MPI_Type_get_contents(_c)?", "datatype", handle("MPI_Datatype", "p.type"))
exception("MPI_Type_match_size", "typeclass", number("MPI_TYPECLASS_REAL", "ARG", "large"))
exception("MPI_Type_match_size", "size", number(8, "ARG"))
exception("MPI_(P|Unp)ack_external(_size)?(_c)?", "datarep", Rule('"external32"', [Bad("null_pointer", "ARG"),
                                                                                    Bad("no_text", "ARG")]))
exception("MPI_Comm_split_type", "split_type", number("MPI_COMM_TYPE_SHARED", "ARG", "large"))
exception("MPI_(Dims_create|Graph_create|Graph_map)", "nnodes", number(1, "ARG"))
exception("MPI_Dist_graph_create_adjacent", "(in|out)degree", number(1, "ARG"))
exception("MPI_Info_get", "valuelen", ARGUMENT)
exception("MPI_Session_init", "errhandler", handle("MPI_Errhandler", "MPI_ERRORS_RETURN"))
exception("MPI_Abi_set_fortran_booleans", "logical_size", number(4, "ARG", "large"))
exception("MPI_Abi_get_fortran_booleans", "logical_size", any_value("4")) # of another size there are no values
exception("MPI_Status_set_(source|tag)", "(source|tag)", any_value())
exception("MPI_Status_set_error", "error", any_value())
# Handles that the function changes, and those that it gives.
exception("MPI_(Comm_free|Comm_disconnect)", "comm", handle("MPI_Comm", place="variable"))
exception("MPI_Group_free", "group", handle("MPI_Group", place="variable"))
exception("MPI_Type_(commit|free)", "datatype", handle("MPI_Datatype", place="variable"))
exception("MPI_Op_free", "op", handle("MPI_Op", "p.op", place="variable"))
exception("MPI_Info_free", "info", handle("MPI_Info", place="variable"))
exception("MPI_Errhandler_free", "errhandler", handle("MPI_Errhandler", place="variable"))
exception("MPI_Session_finalize", "session", handle("MPI_Session", place="variable"))
exception("MPI_(Wait|Test|Request_free|Cancel|Start)", "request", handle("MPI_Request", place="variable"))
for _function, _valid in (("MPI_Comm_free_keyval|MPI_Keyval_free", "p.comm_keyval"), ("MPI_Type_free_keyval", "p.type_keyval"),
                          ("MPI_Win_free_keyval", "p.win_keyval"), ("MPIX_Session_free_keyval", "p.session_keyval")):
    exception(_function, r"\w*keyval", Rule(f"pointer_to({_valid})", [Bad("null_pointer", "ARG")] + [
        Bad(what, "KEYVAL", place="variable") for what in ("minus_one", "large")]))
exception("MPI_(Mrecv|Imrecv)(_c)?", "message", handle("MPI_Message", place="variable"))
for _kind in HANDLES:
    by_name(_kind + r"\*", r"\w+", OUT)
by_name(r"void\*", r"\w+", OUT)
by_name(r"void\*\*", r"\w+", OUT)
by_name(r"char\*\*\*?|char\*\[\]", r"\w+", OPTIONAL_OUT)


def find(function, kind, name):
    """The rule for a parameter; None: there is none."""
    for pattern, parameter, rule in EXCEPTIONS:
        if pattern.match(function) and parameter.match(name):
            return rule
    for special, special_kind, valid in SPECIAL:
        if kind == special_kind and re.match(special, function):
            return handle(kind, valid)
    for pattern, parameter, rule in BY_NAME:
        if pattern.match(kind) and parameter.match(name):
            return rule
    return None


def untested(function):
    """The reason why a function has no rules; None: it has."""
    return next((reason for pattern, reason in UNTESTED.items() if re.fullmatch(pattern, function)), None)


# Where the text calls an argument something else.
CALLED = [
    ("MPI_(Lookup|Unpublish)_name", "service_name", "service"),
    ("MPI_Comm_spawn_multiple", "array_of_info", "info"),
    ("MPI_Intercomm_merge", "intercomm", "comm"),
    ("MPI_Startall", "array_of_requests", "request"),
    (r"MPI_Graph_\w+", "indx", "index"),
    ("MPI_Precv_init(_c)?", "dest", "source"),
    (r"MPI_Type_get_true_extent\w*", "true_lb", "lb"),
    (r"MPI_Type_get_true_extent\w*", "true_extent", "extent"),
    (r"\w+", "comm[1_](old)?", "comm"),
    (r"MPI_(Comm|Win|Keyval)\w*", r"(\w+_)?keyval", "keyval"),
    (r"MPI_\w+_create_errhandler", r"\w+_fn", "the function"),
]
# Where another error handler is called than that of the first communicator or session among the arguments.
TARGETS = [
    ("MPI_Comm_create_from_group|MPI_Session_init", r"\w+", r"\w+", "Case::unchecked"), # that of the argument errhandler
    (r"MPI_T_\w+|MPI_Register_datarep(_c)?", r"\w+", r"\w+", "Case::none"),
]


def called(function, name):
    return next((text for pattern, parameter, text in CALLED
                 if re.fullmatch(pattern, function) and re.fullmatch(parameter, name)), name)


def target(function, name, bad):
    return next((text for pattern, parameter, what, text in TARGETS if re.fullmatch(pattern, function) and
                 re.fullmatch(parameter, name) and re.fullmatch(what, bad.what)), None)
