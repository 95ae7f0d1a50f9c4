# SPDX-License-Identifier: BSD-3-Clause
"""Runs of mpirun that end with the tool that has started them. Each has a session of its own, so that all of its processes
can be ended at once; so no signal of the terminal reaches it."""
import contextlib
import ctypes
import os
import signal
import subprocess
import sys

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
PR_SET_PDEATHSIG = 1
GRACE = 3  # seconds
LIBC = ctypes.CDLL(None)


@contextlib.contextmanager
def started(command, **options):
    """The process, with the options of subprocess.Popen. All processes of its session are ended if an exception leaves the
    body, also that of a signal."""
    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # where the tool is killed; mpirun ends its ranks alike
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    process = None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # none comes while it is not known which process it is
    try:
        process = subprocess.Popen(command, start_new_session=True, preexec_fn=prepare, **options)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        yield process
    except BaseException:
        if process is not None:
            end(process)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def end(process):
    """Ends all processes of its session. A launcher that is killed at once leaves its files and shared memory."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def exit_on_broken_pipe():
    """For a tool whose reader has gone: the status of SIGPIPE, and no second error when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE


def exit_on_signals():
    """The others of these signals end the tool as SIGINT does, by an exception. Not one that nohup has it ignore."""
    for number in ENDING - {signal.SIGINT}:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda received, _: sys.exit(128 + received))


def have_output():
    """Standard output may be closed, or know few characters: neither is an error after a long run."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # to the end of the tool
    sys.stdout.reconfigure(errors="replace")
