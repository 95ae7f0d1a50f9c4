# SPDX-License-Identifier: BSD-3-Clause
"""Runs a test with a library that was built with the address and undefined-behaviour sanitizers, and reads what these
report: which of it is about the library, in one line each.

The programs of the suite are built without the sanitizers, and neither they nor libpmix free all that they allocate. A
leak is therefore one of the library if a file of the installation has allocated the memory itself; but not if the library
says that the program has left objects of MPI, and the memory is that of such an object.
"""
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

# How the sanitizers print a frame: its number, the file of the program or library, the function, the place in the source.
FRAME_FORMAT = "#%n|%m|%f|%S"
FRAME = re.compile(r"^#\d+\|(?P<module>[^|]*)\|(?P<function>.*)\|(?P<place>[^|]*)$")
ERROR = re.compile(r"^==\d+==ERROR: AddressSanitizer: (?P<what>[\w-]+)")
UNDEFINED = re.compile(r"^(?P<place>\S+:\d+:\d+): runtime error: (?P<what>.*)$")
LEAK = re.compile(r"^(?P<how>Direct|Indirect) leak of (?P<bytes>\d+) byte\(s\) in (?P<number>\d+) object\(s\)")
# Between an allocation and the code that wants it; code that has been unloaded has no name, and what called it counts.
ALLOCATOR = re.compile(r"/lib(?:asan|ubsan|stdc\+\+|c)\.so|<unknown module>|^$")
ALLOCATING = re.compile(r"^(?:operator new|__interceptor_|std::|__gnu_cxx::)")
MPI_FUNCTION = re.compile(r"^P?(MPIX?_\w+)$")
# The library's own words about what the program has not freed: of parameter mpi_check, part leaks.
UNFREED = re.compile(r"^\[\S+\] patchbay: warning: (?:mpi_check leaks: the program has not freed| +\d+ .* of \S+.*: ).*$\n?",
                     re.MULTILINE)
PARAMETERS = (("mpi_check", "leaks"),)
# What allocates the objects behind handles, and the functions of MPI that return them: whatever is allocated there may be
# freed with the object only.
OF_AN_OBJECT = re.compile(r"^patchbay::(?:\w+::)*(?:Group|Datatype|Info|Op|Errhandler|Keyval|Session|Window|\w*Communicator|"
                          r"\w*Request|Ref)\b|^construct\b")
MAKES_AN_OBJECT = re.compile(
    r"^MPIX?_(?:Type_(?:create|contiguous|vector|hvector|indexed|hindexed|struct|dup|get_contents)\w*|"
    r"(?:Comm|Intercomm|Group|Cart|Graph|Dist_graph|Win|Op|Info|Session|File|Keyval)_\w+|Open_port|"
    r"I(?!nit|nfo|s_|ntercomm)\w+|\w+_init(?:_c)?|Grequest_start|Mprobe|Alloc_mem)$"
)


@dataclass(frozen=True)
class Frame:
    module: str
    function: str
    place: str

    def belongs_to(self, prefix):
        return self.module.startswith(f"{prefix}/")

    def is_allocator(self):
        return bool(ALLOCATOR.search(self.module) or ALLOCATING.match(self.function))

    def __str__(self):
        place = re.sub(r"^/proc/self/cwd/", "", self.place)
        return self.function if place in ("", "<null>") else f"{self.function} ({place})"


def variables(reports):
    """The environment of a test whose sanitizers write to files that begin with `reports`. An error ends the process by
    a signal; a leak does not change its exit status."""
    command = ["gcc", "-print-file-name=libasan.so"]
    library = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    common = f"log_path='{reports}':stack_trace_format='{FRAME_FORMAT}':print_summary=0"
    return {
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": f"{common}:allocator_may_return_null=1:abort_on_error=1",
        "LSAN_OPTIONS": "exitcode=0:print_suppressions=0",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1:abort_on_error=1",
    }


def is_sanitized(prefix):
    return b"__asan_init" in (Path(prefix) / "lib/libmpi_abi.so.1").read_bytes()


def take_reports(reports):
    """The texts of the files whose names begin with `reports`, which are removed."""
    texts = []
    for path in sorted(reports.parent.glob(f"{reports.name}.*")):
        texts.append(path.read_text(errors="replace"))
        path.unlink()
    return texts


def paragraphs(text):
    """(what is said, stack) of each error and leak of a report. An error has several stacks: the first one is where it
    happened."""
    said, stack = "", []
    for line in [*text.splitlines(), ""]:
        frame = FRAME.match(line.strip())
        if frame:
            stack.append(Frame(**frame.groupdict()))
        elif ERROR.match(line) or UNDEFINED.match(line) or LEAK.match(line):
            if said:
                yield said, stack
            said, stack = line, []
        elif stack and said:
            yield said, stack
            said, stack = "", []
    if said:
        yield said, stack


def api_function(stack):
    """The function of MPI that the program has called; None: it has called none."""
    names = [MPI_FUNCTION.match(frame.function) for frame in stack]
    return next((name.group(1) for name in reversed(names) if name), None)


def within(stack):
    called = api_function(stack)
    return f", in {called}" if called else ""


def error_of(what, stack, prefix):
    own = next((frame for frame in stack if frame.belongs_to(prefix)), None)
    first = next((frame for frame in stack if not frame.is_allocator()), None)
    if own is None:
        return f"{what} in the program, not in the library: {first if first else 'no stack'}"
    return f"{what} in {own}{within(stack)}"


def leak_of(found, stack, prefix, has_unfreed):
    wanted = next((frame for frame in stack if not frame.is_allocator()), None)
    if found["how"] == "Indirect" or wanted is None or not wanted.belongs_to(prefix):
        return ""
    called = api_function(stack)
    if has_unfreed and (OF_AN_OBJECT.match(wanted.function) or (called and MAKES_AN_OBJECT.match(called))):
        return ""
    return f"leak of {found['bytes']} bytes from {wanted}{within(stack)}"


def without_unfreed(output):
    """The output of a program without the library's words about what it has not freed, and whether there were any."""
    rest, lines = UNFREED.subn("", output)
    return rest, lines > 0


def findings(texts, prefix, has_unfreed=False):
    """What the reports say about the library at `prefix`, a line for each, without repetition. `has_unfreed`: the
    program has objects of MPI that it has not freed, whose memory is no leak of the library."""
    lines = []
    for text in texts:
        for said, stack in paragraphs(text):
            if found := ERROR.match(said):
                lines.append(error_of(found["what"], stack, prefix))
            elif found := UNDEFINED.match(said):
                lines.append(f"undefined behaviour at {found['place']}: {found['what']}{within(stack)}")
            elif found := LEAK.match(said):
                lines.append(leak_of(found, stack, prefix, has_unfreed))
    return [line for line in dict.fromkeys(lines) if line]
