"""A cluster of Slurm on this host alone: munged, slurmctld and slurmd as children, on 127.0.0.1, until its `with` ends."""
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager

PATH = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
HERE = {name: shutil.which(name, path=PATH) for name in ("munged", "slurmctld", "slurmd", "sbatch", "sinfo", "scancel")}
SECONDS = 30  # for the node to be there

CONFIGURATION = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={control}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=100 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def configure(folder):
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    control, node = free_ports(2)
    (folder / "slurm.conf").write_text(CONFIGURATION.format(
        host=socket.gethostname().split(".")[0], user=getpass.getuser(), folder=folder, control=control, node=node))
    return dict(os.environ, PATH=PATH, SLURM_CONF=str(folder / "slurm.conf"))


def is_up(environment, daemons):
    """Once the node takes jobs; not where a daemon ended or the node does not come."""
    for _ in range(SECONDS * 5):
        if any(daemon.poll() is not None for daemon in daemons):
            return False
        seen = subprocess.run([HERE["sinfo"], "-h", "-o", "%T"], env=environment, capture_output=True, text=True)
        if seen.stdout.strip() == "idle":
            return True
        time.sleep(0.2)
    return False


@contextmanager
def cluster(folder):
    """The environment for sbatch, or None where there is no Slurm or it cannot be started."""
    if not all(HERE.values()):
        yield None
        return
    environment, daemons = configure(folder), []
    words = (["munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
              f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"],
             ["slurmctld", "-D"], ["slurmd", "-D"])
    try:
        for name, *options in words:
            with open(folder / f"{name}.out", "w", encoding="utf-8") as out:
                daemons.append(subprocess.Popen([HERE[name], *options], env=environment, stdout=out, stderr=out, start_new_session=True))
            time.sleep(0.3)
        yield environment if is_up(environment, daemons) else None
    finally:
        subprocess.run([HERE["scancel"], f"--user={getpass.getuser()}"], env=environment, capture_output=True, timeout=60)
        for daemon in reversed(daemons):
            os.killpg(daemon.pid, signal.SIGTERM)
            daemon.wait(timeout=60)
