"""Sharded runs on a Slurm cluster of one node, which this test starts and stops.

Each of check, race and prove runs as an array of four tasks and once whole; what the shards are joined to has to be the
very bytes of the whole run. Needs slurmctld, slurmd and munged (packages.txt, @full).
"""

import argparse
import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SHARDS = 4
LIMIT_S = 900  # for one run
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "conformance/cli/slurm"
BUILD = pathlib.Path()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """munged, slurmctld and slurmd of this user, all of it in one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []
        self.environment = dict(os.environ, SLURM_CONF=str(folder / "slurm.conf"), PLUMBLINE=str(BUILD / "bin/plumbline"))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        folder.chmod(0o755)  # munged wants its socket where all can reach it
        munge_socket = folder / "munge.socket"
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge_socket}",
                   f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/munged.seed",
                   f"--log-file={folder}/munged.log")
        self.until("munged", munge_socket.exists)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        cpus = max(os.cpu_count() or 1, 2)
        (folder / "slurm.conf").write_text(f"""
ClusterName=plumbline
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
AuthType=auth/munge
AuthInfo=socket={munge_socket}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=8192 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
""")
        self.start("slurmctld", "-D", "-c")
        self.start("slurmd", "-D", "-N", host)
        self.until("the node", lambda: "idle" in self.run("sinfo", "-h", "-o", "%T", check=False).stdout)

    def start(self, program, *arguments):
        path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        log = open(self.folder / f"{program}.out", "w")
        self.started.append(
            subprocess.Popen([path, *arguments], env=self.environment, stdout=log, stderr=subprocess.STDOUT))

    def until(self, what, holds, limit_s=60):
        end = time.monotonic() + limit_s
        while not holds():
            if time.monotonic() > end:
                logs = "".join(f"\n--- {log.name}\n{log.read_text()[-2000:]}" for log in self.folder.glob("*.[lo][ou]*"))
                raise RuntimeError(f"{what} did not come in {limit_s} s{logs}")
            time.sleep(0.2)

    def run(self, *words, check=True):
        return subprocess.run(words, env=self.environment, cwd=self.folder, check=check, capture_output=True, text=True)

    def sharded(self, out, command, *arguments):
        """Submits the array and what joins it; the state of the latter."""
        array = self.run("sbatch", "--parsable", f"--array=1-{SHARDS}", str(SCRIPTS / "shard.sbatch"), str(out), command,
                         *arguments).stdout.strip()
        join = self.run("sbatch", "--parsable", f"--dependency=afterany:{array}", str(SCRIPTS / "join.sbatch"), str(out),
                        command).stdout.strip()

        def state():
            shown = self.run("scontrol", "show", "job", join, check=False).stdout
            return next((word.split("=")[1] for word in shown.split() if word.startswith("JobState=")), "")

        self.until(f"the end of `{command}`", lambda: state() in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"), LIMIT_S)
        return state()

    def stop(self):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class SlurmTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="plumbline-slurm-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.cluster = Cluster.__new__(Cluster)
        cls.cluster.started = []
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.__init__(pathlib.Path(cls.folder.name))

    def compare(self, command, report, *arguments):
        out = pathlib.Path(self.folder.name) / command
        state = self.cluster.sharded(out, command, *arguments)
        logs = "".join(log.read_text()[-1500:] for log in sorted(pathlib.Path(self.folder.name).glob("slurm-*.out")))
        self.assertEqual(state, "COMPLETED", logs)
        whole = out / "whole"
        to = whole / report if command == "prove" else whole
        whole.mkdir()
        ran = subprocess.run([BUILD / "bin/plumbline", command, "--report", to, *arguments], cwd=self.folder.name,
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        shards = list(out.glob("shard-*"))
        self.assertEqual(len(shards), SHARDS)
        self.assertEqual((out / report).read_bytes(), (whole / report).read_bytes())

    def test_check(self):
        self.compare("check", "report.json", "--backend", "reference", "--tier", "standard")

    def test_race(self):
        self.compare("race", "report.json", "--backend", "reference", "--tier", "quick", "--calibrate", "none")

    def test_prove(self):
        self.compare("prove", "matrix.json")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    BUILD = options.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
