# SPDX-License-Identifier: BSD-3-Clause
"""Exit status 0 when the kernel lets one process read the memory of a sibling; otherwise prints why not."""
import ctypes
import os
import sys


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def read_from(process, address, length):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(length)
    local = Iovec(ctypes.addressof(buffer), length)
    remote = Iovec(address, length)
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    done = libc.process_vm_readv(process, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return os.strerror(ctypes.get_errno()) if done != length else None


def main():
    # Two children of one parent, as two ranks are: neither is an ancestor of the other.
    text = ctypes.create_string_buffer(b"single copy", 16)
    gate_read, gate_write = os.pipe()
    sender = os.fork()
    if sender == 0:
        os.close(gate_write)
        os.read(gate_read, 1)
        os._exit(0)
    receiver = os.fork()
    if receiver == 0:
        problem = read_from(sender, ctypes.addressof(text), 16)
        if problem:
            print(problem, flush=True)
        os._exit(1 if problem else 0)
    _, status = os.waitpid(receiver, 0)
    os.close(gate_write)
    os.waitpid(sender, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
