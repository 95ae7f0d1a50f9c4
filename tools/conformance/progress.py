# SPDX-License-Identifier: BSD-3-Clause
"""Shows how far a run is: one line that is written again and again on a terminal, a line per event elsewhere."""
import shutil
import sys


class Progress:
    def __init__(self, stream=None):
        self.stream = stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.total = self.done = self.failed = 0

    def begin(self, total, done):
        self.total, self.done = total, done

    def step(self, what):
        """`what` is being done now."""
        if self.terminal:
            text = f"[{self.done}/{self.total}] {self.failed} failed  {what}"
            width = shutil.get_terminal_size().columns - 1
            self._write("\r" + text[:width].ljust(width))

    def result(self, result):
        self.done += 1
        if result.status in ("fail", "nobuild"):
            self.failed += 1
            self.say(f"{result.status}: {result.name}: {result.reason}")

    def say(self, text):
        """A line that stays."""
        self.clear()
        self._write(text + "\n")

    def clear(self):
        if self.terminal:
            self._write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")

    def _write(self, text):
        self.stream.write(text)
        self.stream.flush()
