# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of our own on this machine: one controller, one node, in one directory."""

import os
import secrets
import socket
import subprocess
import time

CONFIGURATION = """\
ClusterName=patchbay
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.sock
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
TmpFS={directory}/tmp
SchedulerType=sched/builtin
SelectType=select/linear
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={node_port} CPUs={cpus} RealMemory=100 State=UNKNOWN
PartitionName=all Nodes=n0 Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


class Slurm:
    """Daemons that run in the foreground as our children, so that exactly they are ended."""

    def __init__(self, directory, munged, slurmctld, slurmd, sinfo, squeue, scancel, cpus):
        self.directory = directory
        self.configuration = os.path.join(directory, "slurm.conf")
        self._programs = (munged, slurmctld, slurmd)
        self._sinfo, self._squeue, self._scancel = sinfo, squeue, scancel
        self._cpus = cpus
        self._children = []

    def start(self):
        """Waits until the node takes jobs. Errors contain the output of the daemons."""
        for name in ("state", "spool", "tmp", "munge"):
            os.mkdir(os.path.join(self.directory, name), 0o700)
        self._configure()
        munged, slurmctld, slurmd = self._programs
        key = os.path.join(self.directory, "munge", "key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(secrets.token_bytes(128))
        at = os.path.join(self.directory, "munge")
        # --force: the directory is somewhere below /tmp, which munged does not like.
        self._run("munged", munged, "--foreground", "--force", f"--key-file={key}", f"--pid-file={at}/pid",
                  f"--socket={self.directory}/munge.sock", f"--log-file={at}/log", f"--seed-file={at}/seed")
        self._wait(lambda: os.path.exists(f"{self.directory}/munge.sock"), "munged makes its socket")
        self._run("slurmctld", slurmctld, "-D", "-c", "-f", self.configuration)
        self._run("slurmd", slurmd, "-D", "-N", "n0", "-f", self.configuration)
        self._wait(self._node_is_idle, "the node takes jobs")

    def stop(self):
        """First what a failed test has left running, then the daemons: the last started goes first."""
        end = time.monotonic() + 20
        jobs = self._ask(self._squeue, "--noheader", "-o", "%A").split()
        while jobs and time.monotonic() < end:
            self._ask(self._scancel, "--signal=KILL", *jobs)
            time.sleep(0.2)
            jobs = self._ask(self._squeue, "--noheader", "-o", "%A").split()
        for _, child in reversed(self._children):
            if child.poll() is None:
                child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def environment(self):
        return {"SLURM_CONF": self.configuration}

    def _configure(self):
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            other.bind(("127.0.0.1", 0))
            ports = {"controller_port": one.getsockname()[1], "node_port": other.getsockname()[1]}
        user = subprocess.run(["id", "-un"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        with open(self.configuration, "w", encoding="ascii") as file:
            file.write(CONFIGURATION.format(host=socket.gethostname().split(".")[0], user=user, cpus=self._cpus,
                                            directory=self.directory, **ports))

    def _run(self, name, *command):
        with open(os.path.join(self.directory, f"{name}.out"), "wb") as out:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                     env={**os.environ, **self.environment()})
        self._children.append((name, child))

    def _node_is_idle(self):
        return self._ask(self._sinfo, "--noheader", "-o", "%T").strip() == "idle"

    def _ask(self, *command):
        """What a command of Slurm's prints; nothing when it cannot."""
        if any(child.poll() is not None for _, child in self._children) or len(self._children) < 3:
            return ""
        done = subprocess.run(command, env={**os.environ, **self.environment()}, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, timeout=30, check=False)
        return done.stdout

    def _wait(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            ended = [name for name, child in self._children if child.poll() is not None]
            if ended or time.monotonic() > end:
                raise RuntimeError(f"Slurm: in vain waited until {what}; ended: {ended}\n{self._logs()}")
            time.sleep(0.1)

    def _logs(self):
        text = ""
        for name in ("munged.out", "slurmctld.out", "slurmd.out", "slurmctld.log", "slurmd.log"):
            path = os.path.join(self.directory, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += f"--- {name}\n" + "".join(file.readlines()[-15:])
        return text
