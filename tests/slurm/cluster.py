"""A Slurm of one node for the time of a test: munged, slurmctld and slurmd of this user, with ports and folders of their own, on the
address of this machine's name, which is mostly one of the loopback interface. Needs neither root nor systemd nor a network, and
leaves a Slurm that runs on this machine alone."""

import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import time

import processes

# The package of each program; daemons are where only root's PATH looks.
PACKAGES = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client", "srun": "slurm-client",
            "scancel": "slurm-client", "scontrol": "slurm-client", "sinfo": "slurm-client", "h5diff": "hdf5-tools"}
FINAL = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
LONGEST_SOCKET_FOLDER = 60  # bytes; the whole path of a socket may have 107

CONFIGURATION = """\
ClusterName=tessera
SlurmctldHost={host}({address})
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={sockets}/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny{families}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={sockets}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
PlugStackConfig={folder}/plugstack.conf
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
KillWait=5
NodeName={host} NodeAddr={address} CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Unusable(Exception):
    """Why there can be no such Slurm here."""


def programs():
    """The path of each program."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])
    found = {program: shutil.which(program, path=path) for program in PACKAGES}
    missing = [program for program, place in found.items() if place is None]
    if missing:
        raise Unusable(f"no {', '.join(missing)}: install {' '.join(sorted({PACKAGES[program] for program in missing}))}")
    return found


def own_address():
    """Where Slurm's daemons listen when they may not listen everywhere."""
    name = socket.gethostname()
    try:
        return socket.gethostbyname(name)
    except OSError:
        raise Unusable(f"this machine's name, '{name}', has no address (/etc/hosts)") from None


def families():
    """Where the loopback interface is the only one, nothing is found of IPv4 alone: Slurm asks for families that are configured."""
    try:
        socket.getaddrinfo("127.0.0.1", 1, socket.AF_INET, flags=socket.AI_ADDRCONFIG)
        return ""
    except OSError:
        return ",EnableIPv6"


def free_ports(address, count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind((address, 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """As `with Cluster(folder, cpus)`: it runs inside, and nothing of it is left afterwards but its logs in the folder."""

    def __init__(self, folder, cpus):
        self.programs = programs()
        self.folder = pathlib.Path(folder).resolve()
        self.cpus = cpus
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.daemons = []
        self.sockets = self.folder

    def __enter__(self):
        processes.adopt_orphans()
        try:
            self.prepare()
            self.start("munged", "--foreground", "--force", f"--socket={self.sockets}/munge", f"--key-file={self.folder}/munge.key",
                       f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munge.seed")
            self.until(lambda: (self.sockets / "munge").exists(), "munged opens its socket")
            self.start("slurmctld", "-D", "-i")
            self.start("slurmd", "-D")
            self.until(lambda: self.run("sinfo", "--noheader", "--format=%T", is_checked=False).strip() == "idle", "the node is idle")
        except BaseException as reason:
            self.stop()
            # Some systems let no user start daemons; root can, so that a fault of this file is none of the system's.
            if isinstance(reason, RuntimeError) and os.getuid() != 0:
                raise Unusable(f"not as user {os.getuid()}: {reason}") from None
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def prepare(self):
        try:
            user = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            raise Unusable(f"user {os.getuid()} has no name, which Slurm wants") from None
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if len(os.fsencode(self.folder)) > LONGEST_SOCKET_FOLDER:
            self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
        for each in (self.folder / "state", self.sockets / "spool"):
            each.mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        (self.folder / "plugstack.conf").touch()
        address = own_address()
        controller_port, node_port = free_ports(address, 2)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().partition(".")[0], user=user, address=address, families=families(), folder=self.folder,
            sockets=self.sockets, controller_port=controller_port, node_port=node_port, cpus=self.cpus))

    def start(self, program, *arguments):
        with open(self.folder / f"{program}.log", "w") as log:
            self.daemons.append((program, subprocess.Popen([self.programs[program], *arguments], env=self.environment, stdout=log, stderr=log,
                                                           stdin=subprocess.DEVNULL, preexec_fn=processes.die_with_parent)))

    def stop(self):
        for _, daemon in reversed(self.daemons):
            daemon.terminate()
        for _, daemon in reversed(self.daemons):
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
        self.daemons = []
        processes.kill_descendants()  # jobs that were still running
        if self.sockets != self.folder:
            shutil.rmtree(self.sockets, ignore_errors=True)

    def until(self, condition, what, seconds=30):
        deadline = time.monotonic() + seconds
        while not condition():
            for program, daemon in self.daemons:
                if daemon.poll() is not None:
                    raise RuntimeError(f"{program} ended with code {daemon.returncode}: {self.last_line(program)}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"waited {seconds} s in vain until {what}; {self.folder} has the logs")
            time.sleep(0.05)

    def last_line(self, program):
        lines = (self.folder / f"{program}.log").read_text().splitlines()
        return lines[-1] if lines else "it said nothing"

    def run(self, program, *arguments, is_checked=True, environment=None, cwd=None):
        """A client of Slurm's; returns what it printed."""
        done = subprocess.run([self.programs[program], *map(str, arguments)], env={**self.environment, **(environment or {})}, cwd=cwd,
                              capture_output=True, text=True, timeout=30)
        if is_checked and done.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout

    def states(self, job):
        """Of each task of an array, by its number; of a job that is none at None. Tasks that wait together stand under "1-8"."""
        states = {}
        for line in self.run("scontrol", "--oneliner", "show", "job", job).splitlines():
            facts = dict(re.findall(r"(\w+)=(\S*)", line))
            task = facts.get("ArrayTaskId")
            states[int(task) if task is not None and task.isdigit() else task] = facts["JobState"]
        return states

    def wait(self, job, seconds=90):
        """Until all of it has ended; returns its states."""
        self.until(lambda: set(self.states(job).values()) <= FINAL, f"job {job} ends", seconds)
        return self.states(job)
