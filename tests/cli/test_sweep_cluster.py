"""tilesim sweep on many processes that others start: mpirun, GNU parallel, Slurm's array. What is not here is left out."""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import BUILD, TOOL, expect, expect_json, main, release_test, test
from slurm import cluster

HERE = Path(tempfile.mkdtemp())
ENVIRONMENT = dict(os.environ, PATH=f"{HERE}:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_btl="self,vader,tcp",
                   TMPDIR="/tmp")  # whose name is short enough for the sockets of MPI
(HERE / "tilesim").symlink_to(Path(TOOL).resolve())
STUDY = HERE / "slow.yaml"
STUDY.write_text("""title: slow
vary: {ROWS: {from: 64, to: 223, step: 4}}
ask: {program: 'tilesim:/layernorm.tsim', define: {ROWS: $ROWS, COLS: 2048}}
""")
MPI = shutil.which("mpirun") and (BUILD / "tilesim-mpi.so").exists()


def dump(path):
    with sqlite3.connect(path) as db:
        return [*db.execute("select * from point")]


def whole():
    path = HERE / "whole.db"
    if not path.exists():
        expect(["sweep", STUDY, "--db", path])
    return dump(path)


def start(*words):
    return subprocess.Popen(words, cwd=HERE, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def ranks_of(process):
    """Processes of tilesim that mpirun started, without their workers."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    found = children.read_text().split() if children.exists() else []
    return [int(pid) for pid in found if " (tilesim) " in status_of(pid)]


def status_of(pid):
    """What the system says of a process; nothing where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""


@test
def four_ranks():
    if not MPI:
        return
    process = start("mpirun", "-n", "4", "tilesim", "sweep", str(STUDY), "--db", "ranks.db", "--json")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0 and out.count('"schema"') == 1, (out, err)
    assert dump(HERE / "ranks.db") == whole()


@test
def one_of_four_ranks_is_killed():
    """The job ends; what was written is there, and the next run asks for the rest alone."""
    if not MPI:
        return
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    db, before = HERE / "killed.db", 0
    for _ in range(3):
        process = start("mpirun", "-n", "4", "tilesim", "sweep", str(STUDY), "--db", str(db))
        while process.poll() is None and not Path(f"{db}-wal").exists():
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.5))
        ranks = ranks_of(process)
        if ranks:
            os.kill(draw.choice(ranks), signal.SIGKILL)
        process.communicate(timeout=300)
        while any(status_of(pid).rpartition(")")[2][:2] not in ("", " Z") for pid in ranks):
            time.sleep(0.01)
        value = expect_json(["sweep", STUDY, "--db", db, "--shard", "40/1000000"])
        there = len(dump(db)) - value["answered"]
        assert there >= before, (seed, there, before)
        before = len(dump(db))
    process = start("mpirun", "-n", "4", "tilesim", "sweep", str(STUDY), "--db", str(db), "--json")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, (seed, out, err)
    assert f'"there": {before},' in out and f'"answered": {40 - before},' in out, (seed, before, out[:400])
    assert dump(db) == whole(), seed


@test
def errors_of_rank_0():
    if not MPI:
        return
    process = start("mpirun", "-n", "3", "tilesim", "sweep", str(STUDY), "--db", "/no/such/folder/x.db")
    out, err = process.communicate(timeout=300)
    assert process.returncode != 0 and "cannot open '/no/such/folder/x.db'" in err, (out, err)


@test
def without_mpi():
    """Sixty-four alike would each do all of the study."""
    alone = HERE / "alone"
    alone.mkdir()
    shutil.copy(TOOL, alone / "tilesim")
    done = subprocess.run([alone / "tilesim", "sweep", STUDY, "--db", HERE / "alone.db"], capture_output=True, text=True,
                          env=dict(os.environ, OMPI_COMM_WORLD_SIZE="4"))
    assert done.returncode == 4 and "MPI started 4 of these, but tilesim was built without MPI" in done.stderr, done
    assert not (HERE / "alone.db").exists()


def merge_parts(folder):
    expect(["sweep", "--merge", folder / "slow.db", *sorted(folder.glob("slow.*-of-3.db"))])
    assert dump(folder / "slow.db") == whole()


def submit(environment, folder, *words):
    """The number of a job of Slurm."""
    done = subprocess.run(["sbatch", "--parsable", *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done
    return done.stdout.strip()


def wait_for_jobs(environment, folder):
    """What they wrote, when none is left."""
    end = time.monotonic() + 200
    while subprocess.run(["squeue", "-h"], env=environment, capture_output=True, check=True).stdout:
        assert time.monotonic() < end, "jobs of Slurm do not end"
        time.sleep(0.1)
    return "".join(path.read_text() for path in sorted(folder.glob("*.log")))


@release_test
def jobs_of_slurm():
    """Where slurmctld, slurmd and munged are: an array, one of its parts ended and submitted again alone, and mpirun."""
    scripts = Path("examples/cluster").resolve()
    with cluster(HERE / "slurm") as slurm:
        if slurm is None:
            return
        environment, folder = dict(ENVIRONMENT, PATH=f"{HERE}:{slurm['PATH']}", SLURM_CONF=slurm["SLURM_CONF"]), HERE / "jobs"
        folder.mkdir()
        array = [scripts / "slurm_array.sh", STUDY]
        submit(environment, folder, "--array=1,3", *array, "3")
        ended = submit(environment, folder, "--array=2", *array, "3")
        end, part = time.monotonic() + 60, folder / "slow.2-of-3.db"
        while not part.exists() and time.monotonic() < end:
            time.sleep(0.01)
        subprocess.run(["scancel", ended], env=environment, check=True)
        wait_for_jobs(environment, folder)
        submit(environment, folder, "--array=2", *array, "3")
        wait_for_jobs(environment, folder)
        merge_parts(folder)
        jobs = [["--array=1-3", *array]] + [["-n", "3", scripts / "mpirun.sh", STUDY]] * bool(MPI)
        for number, job in enumerate(jobs):
            folder = HERE / f"jobs.{number}"
            folder.mkdir()
            submit(environment, folder, *job)
            logs = wait_for_jobs(environment, folder)
            if number == 0:
                merge_parts(folder)
            assert dump(folder / "slow.db") == whole(), logs


@release_test
def parts_by_scripts():
    """The scripts of examples/cluster: an array as Slurm would start it, and GNU parallel."""
    scripts = Path("examples/cluster").resolve()
    folder = HERE / "array"
    folder.mkdir()
    for part, count, words in ((1, 3, ()), (3, 3, ()), (2, 1, ("3",))):  # the last as of a part submitted again alone
        environment = dict(ENVIRONMENT, SLURM_ARRAY_TASK_ID=str(part), SLURM_ARRAY_TASK_COUNT=str(count))
        subprocess.run([scripts / "slurm_array.sh", STUDY, *words], cwd=folder, env=environment, check=True, capture_output=True)
    merge_parts(folder)
    if shutil.which("parallel"):
        folder = HERE / "parallel"
        folder.mkdir()
        subprocess.run([scripts / "gnu_parallel.sh", STUDY, "3"], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
        assert dump(folder / "slow.db") == whole()
    if MPI:
        folder = HERE / "mpirun"
        folder.mkdir()
        subprocess.run([scripts / "mpirun.sh", STUDY], cwd=folder, env=dict(ENVIRONMENT, RANKS="3"), check=True, capture_output=True)
        assert dump(folder / "slow.db") == whole()


main()
