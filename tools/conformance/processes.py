# SPDX-License-Identifier: BSD-3-Clause
"""Runs one program with a time limit, and ends every process that it started, wherever that process has gone.

This process becomes a child subreaper: a process whose parent ends becomes a child of this one and not of init, so that
everything a program has started can be found as a descendant, also in sessions and process groups of its own.
"""
import ctypes
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass

PR_SET_CHILD_SUBREAPER = 36
OUTPUT_LIMIT = 64 << 20


@dataclass
class Ended:
    """How a program ended."""

    status: int  # as a shell reports it: 128 + N after signal N
    seconds: float
    timed_out: bool = False
    flooded: bool = False  # wrote more than OUTPUT_LIMIT and was ended for it
    left_behind: int = 0  # processes that were still there when the program had ended by itself


def become_subreaper():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def parent_and_state(process):
    """(parent, state letter) of a process, None when it is gone."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    # The command's name stands in parentheses and may hold any character.
    fields = text[text.rindex(")") + 2 :].split()
    return int(fields[1]), fields[0]


def descendants(root):
    """All living processes below `root`, without those that only wait to be reaped."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            entry = parent_and_state(int(name))
            if entry is not None:
                parents[int(name)] = entry
    children = {}
    for process, (parent, _) in parents.items():
        children.setdefault(parent, []).append(process)
    found, queue = [], [root]
    while queue:
        for process in children.get(queue.pop(), []):
            queue.append(process)
            if parents[process][1] not in "ZX":
                found.append(process)
    return found


def is_below(process, root):
    while process > 1:
        entry = parent_and_state(process)
        if entry is None:
            return False
        process = entry[0]
        if process == root:
            return True
    return False


def kill_descendant(process):
    """SIGKILL for a process that is certainly below this one: its number may belong to another process by now."""
    try:
        handle = os.pidfd_open(process)
    except OSError:
        return
    try:
        if is_below(process, os.getpid()):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


def reap():
    """Takes the status of children that have ended, most of them orphans. Returns whether a child is left.

    Every descendant is below a child, and an orphan is a child: where no child is left there is no descendant. A look
    into /proc cannot show that, as it may miss a process that starts another one and ends meanwhile.
    """
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return False
    return True


def end_descendants(patience=10):
    """Ends and reaps every process below this one. Returns False when some outlive SIGKILL for `patience` seconds."""
    deadline = time.monotonic() + patience
    while reap():
        if time.monotonic() > deadline:
            return False
        for process in descendants(os.getpid()):
            kill_descendant(process)
        time.sleep(0.01)
    return True


def wait(child, deadline, output):
    """Waits for `child`. Returns "", "time" or "output" for what came first: its end, the deadline, too much output."""
    handle = os.pidfd_open(child.pid)
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            if poller.poll(max(0, min(left, 1)) * 1000):
                return ""
            if left <= 0:
                return "time"
            if os.fstat(output.fileno()).st_size > OUTPUT_LIMIT:
                return "output"
    finally:
        os.close(handle)


def stop(child, grace):
    """SIGTERM for the process group of `child`; SIGKILL where that does not help within `grace` seconds."""
    try:
        os.killpg(child.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    try:
        child.wait(grace)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def run(command, folder, environment, limit, output_path, grace=3.0):
    """Runs `command` in a session of its own with standard output and error in the file `output_path`."""
    begin = time.monotonic()
    with open(output_path, "wb") as output:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        cause = "interrupt"
        try:
            cause = wait(child, begin + limit, output)
        finally:
            if cause:
                stop(child, grace)
            status = child.wait()
            seconds = time.monotonic() - begin
            left = 0 if cause else remaining(0.5)
            end_descendants()
    return Ended(
        status=status if status >= 0 else 128 - status,
        seconds=seconds,
        timed_out=cause == "time",
        flooded=cause == "output",
        left_behind=left,
    )


def remaining(patience):
    """How many processes are still there `patience` seconds after the program that started them has ended."""
    deadline = time.monotonic() + patience
    while reap():
        if time.monotonic() > deadline:
            return max(1, len(descendants(os.getpid())))
        time.sleep(0.01)
    return 0
