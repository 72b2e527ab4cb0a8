"""tilesim sweep: studies that are killed, cut, divided and damaged; their rows are those of the commands alone."""
import csv
import fcntl
import io
import json
import math
import os
import random
import re
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import SANITIZED, TOOL, cases, expect, expect_json, main, release_test, run, test

HERE = Path(tempfile.mkdtemp())
GRID = """title: a grid
vary:
    A: {from: 1, to: 12, step: 1}
    B: 1,2,3
    machine: [tpu-v5e, tpu-v4]
where: A % 4 != 0 || B == 2
ask:
    dma: 'f32[$A,$(B * 64)] -> f32[$A,$(B * 64)]{1,0:T(8,128)}'
columns: {rate: useful_bytes / time, twice: 2 * rate, halves: "A / 2"}
"""
COUNTED = [(a, b, m) for a in range(1, 13) for b in (1, 2, 3) for m in ("tpu-v5e", "tpu-v4") if a % 4 or b == 2]


def study(text, name="study.yaml"):
    path = HERE / name
    path.write_text(text)
    return path


def rows(path, *words):
    """The rows that a study has, each as {column: text}."""
    return list(csv.DictReader(io.StringIO(expect(["sweep", path, *words, "--csv", "-"]))))


def dump(path):
    """All that a database holds."""
    with sqlite3.connect(path) as db:
        return [*db.execute("select * from point"), *db.execute("select * from study")]


def database(path):
    with sqlite3.connect(path) as db:
        return db.execute("select count(*) from point").fetchone()[0]


@test
def rows_are_those_of_the_commands():
    path, db = study(GRID), HERE / "rows.db"
    found = rows(path, "--db", db)
    assert [(int(r["A"]), int(r["B"]), r["machine"]) for r in found] == COUNTED
    for row in cases(found, 3, 8):
        shape = f"f32[{row['A']},{64 * int(row['B'])}]"
        alone = expect_json(["dma", shape, shape + "{1,0:T(8,128)}", "--alone", "-m", row["machine"]])
        for key in ("cycles", "useful_bytes", "moved_bytes", "padding_bytes", "waste_bytes", "row_hits", "activations", "fixed_cycles",
                    "engine_cycles", "memory_cycles", "rmw_accesses"):
            assert int(row[key]) == alone[key], (key, row, alone)
        assert abs(float(row["microseconds"]) - alone["microseconds"]) < 1e-6 and row["limiter"] == alone["limiter"]
        assert int(row["hbm_bytes"]) == int(row["hbm_read_bytes"]) + int(row["hbm_written_bytes"]) == 32 * alone["bursts"]
        assert abs(float(row["rate"]) - alone["useful_bytes"] / float(row["microseconds"])) < 1e-3
        assert float(row["twice"]) == 2 * float(row["rate"]) and int(row["halves"]) == int(row["A"]) // 2
    value = expect_json(["sweep", path, "--db", db])
    assert (value["points"], value["there"], value["answered"], value["left_out"]) == (len(COUNTED), len(COUNTED), 0, 72 - len(COUNTED))
    assert value["parameters"] == ["A", "B", "machine"] and value["title"] == "a grid" and value["statuses"]["ok"] == len(COUNTED)
    assert [row["cycles"] for row in value["rows"]] == [int(row["cycles"]) for row in found]


@test
def every_question():
    path = study("""title: questions
points: [{ROWS: 64, TYPE: f32}, {ROWS: 8, TYPE: bf16}]
set: {hbm.bandwidth_scale: $(ROWS / 8)}
ask:
    - {program: tilesim:/softmax.tsim, define: {ROWS: $ROWS}, exact: true}
    - {name: quick, program: tilesim:/softmax.tsim, define: {ROWS: $ROWS}, time_only: true}
    - layout: '$TYPE[$ROWS,100]{1,0:T(8,128)}'
    - {choose: '$TYPE[$ROWS,256]', uses: 'dma:hbm>vmem'}
    - audit: copies.txt
""")
    (HERE / "copies.txt").write_text("%a = f32[640,200]{1,0:T(8,128)} parameter(0)\n%c = f32[640,200]{0,1:T(8,128)} copy(%a)\n")
    found = {(row["ask"], row["TYPE"]): row for row in rows(path, "--db", HERE / "questions.db")}
    assert len(found) == 10 and all(row["status"] == "ok" for row in found.values()), found
    for kind, size, scale in (("f32", 64, 8), ("bf16", 8, 1)):
        machine = ["--set", f"hbm.bandwidth_scale={scale}"]
        alone = expect_json(["run", "programs/softmax.tsim", "-D", f"ROWS={size}", *machine])
        for name in ("program", "quick"):
            assert int(found[name, kind]["cycles"]) == alone["cycles"] and int(found[name, kind]["bundles"]) == alone["bundles"]
        alone = expect_json(["layout", f"{kind}[{size},100]{{1,0:T(8,128)}}"])
        assert (int(found["layout", kind]["logical_bytes"]), int(found["layout", kind]["padded_bytes"])) == (
            size * (400 if kind == "f32" else 200), alone["bytes"]), (found["layout", kind], alone)
        alone = expect_json(["choose", f"{kind}[{size},256]", "--use", "dma:hbm>vmem", "--no-moves", *machine])
        best = alone["candidates"][0]
        assert found["choose", kind]["layout"] == best.get("layout", best.get("shape")), (found["choose", kind], best)
        assert int(found["choose", kind]["cycles"]) == best["cycles"]
        alone = expect_json(["audit", HERE / "copies.txt", *machine])
        assert alone["microseconds"] > 0.1 and abs(float(found["audit", kind]["microseconds"]) - alone["microseconds"]) < 1e-3, alone
        assert found["audit", kind]["estimated"] == "1"
        assert re.search(rf"^audit .*{kind} +~\d", expect(["sweep", path, "--db", HERE / "questions.db", "--all"]), re.M)


@test
def kernels_meshes_and_requests():
    """A Pallas kernel's text, plans between shardings, streams of requests: as the commands alone say."""
    folder = Path("tests/mosaic/kernels").resolve()
    source, target = "f32[256,256] P('x', None)", "f32[256,256] P(None, 'x')"
    path = study(f"""vary: {{machine: [tpu-v5e, tpu-v5p]}}
set: {{dma.queues: 3}}
ask:
    - {{program: '{folder}/softmax.mlir', time_only: true}}
    - {{name: damaged, program: '{folder}/none.mlir'}}
    - {{reshard: "{source} -> {target}", mesh: '4', algorithm: direct}}
    - {{name: fastest, reshard: "{source} -> {target}", mesh: '4', topology: '4x1'}}
    - {{name: nowhere, reshard: "{source} -> {target}"}}
    - {{name: oneway, reshard: "{source}", mesh: '4'}}
    - {{hbm: c_copy4k}}
    - {{name: trace, hbm: trace.txt, exact: true}}
    - {{name: unknown, hbm: c_copy5k}}
""")
    (HERE / "trace.txt").write_text("R 0\nW 64\nR 8192\n")
    found = {(row["ask"], row["machine"]): row for row in rows(path, "--db", HERE / "kernels.db")}
    assert len(found) == 18
    for machine in ("tpu-v5e", "tpu-v5p"):
        words = ["-m", machine, "--set", "dma.queues=3"]
        row, alone = found["program", machine], expect_json(["run", folder / "softmax.mlir", "--time-only", *words])
        for key in ("cycles", "bundles", "transfers", "hbm_read_bytes", "refreshes"):
            assert int(row[key]) == alone[key], (key, row)
        for name, words_of in (("reshard", ["--algorithm", "direct"]), ("fastest", ["--topology", "4x1"])):
            row, alone = found[name, machine], expect_json(["reshard", source, target, "--mesh", "4", *words_of, *words])
            assert abs(float(row["microseconds"]) - alone["microseconds"]) < 1e-3, (row, alone)
            assert abs(float(row["bound_microseconds"]) - alone["bound_microseconds"]) < 1e-3
            assert int(row["collectives"]) == len(alone["plan"]) == 1 and row["limiter"] == alone["plan"][0]["kind"]
            assert int(row["sent_bytes"]) == alone["plan"][0]["sent_bytes"], (row, alone)
        assert float(found["fastest", machine]["microseconds"]) <= float(found["reshard", machine]["microseconds"])
        clock = expect_json(["show", "machine", machine])["figures"]["chip.clock.sustained"]["value"]
        for name, what in (("hbm", ["c_copy4k"]), ("trace", [HERE / "trace.txt", "--exact"])):
            row, alone = found[name, machine], expect_json(["hbm", *what, *words])
            assert int(row["cycles"]) == -(-alone["cycles"] * clock // alone["clock_khz"]), (row, alone)
            assert int(row["row_hits"]) == alone["row_hits"] and int(row["hbm_bytes"]) == 32 * (alone["reads"] + alone["writes"])
            assert int(row["useful_bytes"]) == alone["bytes"]
            assert abs(float(row["hbm_joules"]) / alone["energy_joules"]["total"] - 1) < 0.03, (row, alone)
        for name, reason in (("nowhere", "mesh is not given"), ("oneway", "expected 'SRC -> DST'"), ("damaged", "none.mlir"),
                             ("unknown", "c_copy5k")):
            assert found[name, machine]["status"] == "error" and reason in found[name, machine]["error"], found[name, machine]


@test
def a_kernel_that_changes_is_asked_again():
    text = Path("tests/mosaic/kernels/add.mlir").read_text()
    (HERE / "kernel.mlir").write_text(text)
    path = study("ask: {program: kernel.mlir, time_only: true}")
    counts = []
    for more in ("", "", "\n"):
        (HERE / "kernel.mlir").write_text(text + more)
        counts.append(expect_json(["sweep", path, "--db", HERE / "kernel.db"])["answered"])
    assert counts == [1, 0, 1], counts


@test
def energy_in_columns():
    path = study("""vary: {ROWS: [64, 512]}
set: {energy.dma.femtojoules: 1000}
ask: [{dma: 'f32[$ROWS,512] -> f32[$ROWS,512]{1,0:T(8,128)}'}, {program: tilesim:/softmax.tsim, define: {ROWS: $ROWS}},
      {choose: 'f32[$ROWS,256]'}]
columns: {watts: hbm_joules / microseconds * 1000000}
""")
    causes = ("activate", "read", "write", "refresh", "active_standby", "precharge_standby")
    stated = ["--set", "energy.dma.femtojoules=1000"]
    for row in rows(path, "--db", HERE / "energy.db"):
        shape = f"f32[{row['ROWS']},512]"
        alone = {"dma": ["dma", shape, shape + "{1,0:T(8,128)}", "--alone"],
                 "program": ["run", "programs/softmax.tsim", "-D", f"ROWS={row['ROWS']}"]}
        assert float(row["watts"]) > 1
        if row["ask"] == "choose":
            best = expect_json(["choose", f"f32[{row['ROWS']},256]", "--no-moves", *stated])["candidates"][0]
            assert abs(float(row["hbm_joules"]) - best["hbm_joules"]) < 1e-11 and not row["op_joules"]
            continue
        found = expect_json([*alone[row["ask"]], *stated])
        joules = [float(row[f"hbm_{cause}_joules"]) for cause in causes]
        assert all(abs(value - found["hbm_energy_joules"][cause]) < 1e-11 for value, cause in zip(joules, causes))
        assert abs(sum(joules) - float(row["hbm_joules"])) < 1e-11
        assert abs(float(row["op_joules"]) - found["moved_bytes"] * 1e-12) < 1e-11


@test
def workers_shards_and_orders_do_not_matter():
    path = study(GRID)
    expect(["sweep", path, "--db", HERE / "one.db"])
    expect(["sweep", path, "--db", HERE / "three.db", "-j", "3"])
    for part in (3, 1, 2):
        expect(["sweep", path, "--db", HERE / f"part{part}.db", "--shard", f"{part}/3"])
        value = expect_json(["sweep", path, "--db", HERE / "one.db", "--shard", f"{part}/3"])
        assert len(value["rows"]) == value["points"] == value["there"] == database(HERE / f"part{part}.db"), value
    sizes = [database(HERE / f"part{part}.db") for part in (1, 2, 3)]
    assert sum(sizes) == len(COUNTED) and min(sizes) > 0, sizes
    out = expect(["sweep", "--merge", HERE / "all.db", *(HERE / f"part{part}.db" for part in (2, 3, 1))])
    assert [int(line.split(": ")[1].split()[0]) for line in out.splitlines()] == [sizes[1], sizes[2], sizes[0]], out
    assert expect(["sweep", "--merge", HERE / "all.db", HERE / "one.db"]).split(": ")[1].startswith("0 points")
    (HERE / "link.db").symlink_to("all.db")
    for name in ("all.db", "link.db"):
        expect(["sweep", "--merge", HERE / "all.db", HERE / name], 2, "",
               f"tilesim: error: cannot merge '{HERE}/{name}' into itself: '{HERE}/all.db' is the same file\n")
    assert database(HERE / "all.db") == len(COUNTED)
    (HERE / "link.db").unlink()
    part = study("vary: {A: [0, 1]}\nask: {layout: 'f32[8]'}\ncolumns: {c: 1 / A}\n", "quotient.yaml")
    assert [row["c"] for row in rows(part, "--db", HERE / "quotient.db", "--shard", "1/2")] == [""]
    whole = dump(HERE / "one.db")
    assert len(whole) == len(COUNTED) + 1 and dump(HERE / "three.db") == whole and dump(HERE / "all.db") == whole


@test
def zero_has_no_sign():
    path = study("vary: {A: [-1, 0, -0.0, 1]}\nask: {layout: 'f32[8]'}\ncolumns: {z: A * -0.5, y: A / 1000}\n", "zero.yaml")
    assert [(row["A"], row["z"], row["y"]) for row in rows(path, "--db", HERE / "zero.db")] == [
        ("-1", "0.5", "-1"), ("0", "0", "0"), ("0", "0", "0"), ("1", "-0.5", "0")]
    out = expect(["sweep", path, "--db", HERE / "zero.db"])
    assert not re.search(r"-0(\.0*)?\s", out), out
    found = expect_json(["sweep", path, "--db", HERE / "zero.db"])["rows"]
    assert [str(row["z"]) for row in found] == ["0.5", "0", "0", "-0.5"], found


POINTS = 24 if SANITIZED else 64
SLOW = f"""title: slow
vary: {{ROWS: {{from: 64, to: {63 + POINTS}, step: 1}}}}
ask: {{program: tilesim:/layernorm.tsim, define: {{ROWS: $ROWS}}}}
"""


def start(*words):
    return subprocess.Popen([TOOL, "sweep", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


@test
def killed_at_any_moment():
    path, db, whole = study(SLOW), HERE / "killed.db", HERE / "whole.db"
    begin = time.monotonic()
    expect(["sweep", path, "--db", whole])
    length = time.monotonic() - begin
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    before = 0
    for _ in range(6):
        process = start(path, "--db", db, "-j", draw.choice("12"))
        time.sleep(draw.uniform(0, length / 3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        value = expect_json(["sweep", path, "--db", db, "--shard", "1/1000000"]) if db.exists() and db.stat().st_size else None
        there = database(db) if value else 0
        assert there >= before, (seed, there, before)
        before = there
    value = expect_json(["sweep", path, "--db", db, "-j", "2"])
    assert value["there"] == before and value["there"] + value["answered"] == POINTS, (seed, value)
    assert dump(db) == dump(whole), seed
    assert not Path(f"{db}-wal").exists() and not Path(f"{db}-journal").exists()


def cpu_seconds(pid):
    """What a process that is there has used."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def busy_worker(process):
    """Its number, when it has worked for a while."""
    while True:
        time.sleep(0.01)
        for worker in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            if cpu_seconds(worker) > 0.5:
                return int(worker)


def long_study(name):
    """A study of which the second point takes minutes."""
    (HERE / "long.tsim").write_text(".param N = 1\n.loop s0 = 0, N\n    vadd.f32 v0, v0, v1\n.end\n")
    return study(f"title: {name}\nvary: {{N: [8, 2000000000, 16]}}\nask: {{program: long.tsim, define: {{N: $N}}}}\n", f"{name}.yaml")


@test
def a_worker_that_dies_costs_its_point():
    path, db = long_study("dies"), HERE / "dies.db"
    process = start(path, "--db", db)
    os.kill(busy_worker(process), signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == b"", (out, err)
    found = rows(path, "--db", db)
    assert [row["status"] for row in found] == ["ok", "crash", "ok"], found
    assert found[1]["error"] == "its process was ended by signal 9 (Killed)", found[1]
    assert "1 of them: crash" in expect(["sweep", path, "--db", db])


@test
def a_point_that_takes_too_long():
    path, db = long_study("late"), HERE / "late.db"
    for seconds in ("1.5", "6", "24"):  # on a busy host the others are late, too
        found = rows(path, "--db", db, "--retry", "--timeout", seconds)
        if [row["status"] for row in found] == ["ok", "timeout", "ok"]:
            break
    assert [row["status"] for row in found] == ["ok", "timeout", "ok"] and found[1]["error"] == f"it took longer than {seconds} s", found
    assert [row["status"] for row in rows(path, "--db", db)] == ["ok", "timeout", "ok"]
    value = expect_json(["sweep", path, "--db", db, "--retry", "--timeout", "0.2"])
    assert (value["there"], value["answered"]) == (2, 1) and value["rows"][1]["error"] == "it took longer than 0.2 s", value


@test
def a_full_disk():
    path, db = study(GRID.replace("to: 12", "to: 50")), HERE / "full.db"
    limit = 80 << 10
    done = subprocess.run([TOOL, "sweep", path, "--db", db], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == 1 and done.stderr.startswith(f"tilesim: error: cannot write '{db}': "), done
    value = expect_json(["sweep", path, "--db", db])
    assert value["there"] > 10 and value["answered"] > 50 and value["statuses"]["ok"] == value["points"], value["statuses"]
    expect(["sweep", path, "--db", HERE / "not_full.db"])
    assert dump(db) == dump(HERE / "not_full.db")


@test
def files_that_are_no_database():
    path, db = study(GRID), HERE / "broken.db"
    for content, message in ((b"hello, world\n" * 100, f"'{db}' is no database of tilesim sweep"),
                             (b"x", f"'{db}' is no database of tilesim sweep")):
        db.write_bytes(content)
        expect(["sweep", path, "--db", db], 1, "", f"tilesim: error: {message}\n")
        assert db.read_bytes() == content
    db.unlink()
    with sqlite3.connect(db) as other:
        other.execute("create table mine (a)")
    expect(["sweep", path, "--db", db], 1, "", f"tilesim: error: '{db}' is a database, but not one of tilesim sweep\n")
    expect(["sweep", path, "--db", HERE], 1, "", None)
    expect(["sweep", "--merge", HERE / "new.db", HERE / "nothing.db"], 1, "", f"tilesim: error: cannot open '{HERE}/nothing.db': unable to open database file\n")
    expect(["sweep", study(GRID), "--db", db := HERE / "good.db"])
    for words in ([path, "--db", ""], ["--merge", "", db], ["--diff", db, ""]):  # SQLite takes it as one that is not kept
        expect(["sweep", *words], 1, "", "tilesim: error: a database has no name\n")
    (HERE / "junk.db").write_text("junk" * 999)
    expect(["sweep", "--merge", HERE / "new.db", db, HERE / "junk.db"], 1, "",
           f"tilesim: error: '{HERE}/junk.db' is no database of tilesim sweep\n")
    assert not (HERE / "new.db").exists()


@test
def a_text_of_several_lines():
    path = study("vary: {N: [\"a\\nb\", c]}\nask: {layout: 'f32[8]'}\n", "lines.yaml")
    rows = expect(["sweep", path, "--db", ":memory:"]).split("\n\n")[1].splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [["a", "b"], ["c", "32"]], rows


@test
def a_damaged_database():
    path, db = study(GRID), HERE / "damaged.db"
    expect(["sweep", path, "--db", db])
    good = db.read_bytes()
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    for round in range(12):
        bad = bytearray(good)
        for _ in range(draw.choice((1, 4, 200))):
            bad[draw.randrange(100, len(bad))] = draw.randrange(256)
        db.write_bytes(bad if round % 3 else bad[:draw.randrange(len(bad))])
        code, _, err = run("sweep", path, "--db", db, "--csv", "-", text=False)  # a row's texts and numbers may be anything
        assert code in (0, 1) and (code == 0 or any(word in err for word in (b"damaged", b"database", b"cannot", b"divisor"))), (seed, round, code, err)


@test
def nothing_is_written_over_study_and_database():
    path, db = study("ask: {layout: 'f32[8]'}\n", "over.yaml"), HERE / "over.db"
    expect(["sweep", path, "--db", db])
    before, held = path.read_bytes(), db.read_bytes()
    plot = ["--plot", "x=padded_bytes,y=padded_bytes"]
    for option in ("--csv", "--svg", "--html"):
        code, out, err = run("sweep", path, "--db", db, *plot, option, path)
        assert code == 2 and out == "" and f"{option} would be written over the input '{path}', expected another name" in err, err
        code, out, err = run("sweep", path, "--db", db, *plot, option, db)
        assert code == 2 and out == "" and f"{option} would be written over the database '{db}', expected another name" in err, err
    table = HERE / "named.tsim"
    table.write_text('.include "rows.inc"\nhalt\n')
    (HERE / "rows.inc").write_text("")
    (HERE / "named.yaml").write_text("base: upper.yaml\n")
    (HERE / "upper.yaml").write_text("base: tpu-v4\n")
    (HERE / "x.npy").write_text("")
    for name, text in (("named.tsim", "ask: {program: named.tsim}\n"),
                       ("named.yaml", "machine: named.yaml\nask: {layout: 'f32[8]'}\n"),
                       ("named.tsim", f"ask: {{program: {table}}}\n"), ("rows.inc", "ask: {program: named.tsim}\n"),
                       ("upper.yaml", "vary: {machine: 'tpu-v4,named.yaml'}\nask: {layout: 'f32[8]'}\n"),
                       ("named.tsim", "points: [{N: able}, {N: named}]\nask: {program: $N.tsim}\n"),
                       ("x.npy", "vary: {N: [w, x]}\nask: {program: named.tsim, input: {a: $N.npy}}\n")):
        names, kept = study(text, "names.yaml"), (HERE / name).read_bytes()
        code, out, err = run("sweep", names, "--db", ":memory:", "--csv", HERE / name)
        said = f"--csv would be written over the input '{HERE / name}', expected another name"
        assert code == 2 and out == "" and said in err, err
        assert (HERE / name).read_bytes() == kept
    apart = study("vary: {N: [able, named]}\nask: {layout: 'f32[$(N == \"able\")]'}\n", "apart.yaml")
    expect(["sweep", apart, "--db", ":memory:", "--csv", HERE / "named"])
    code, out, err = run("sweep", path, "--csv", "./over.db")  # the one that is not given
    assert code == 2 and out == "" and "--csv would be written over the database 'over.db', expected another name" in err, err
    assert (path.read_bytes(), db.read_bytes()) == (before, held)


@test
def another_process_has_it():
    path, db = long_study("busy"), HERE / "busy.db"
    process = start(path, "--db", db)
    worker = busy_worker(process)
    assert Path(f"{db}-wal").exists() and is_locked(db)
    process.send_signal(signal.SIGSTOP)
    assert is_locked(db)
    expect(["sweep", path, "--db", db], 1, "", f"tilesim: error: cannot read '{db}': another process uses it\n")
    process.send_signal(signal.SIGCONT)
    os.kill(worker, signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == b"", (out, err)


def is_locked(db):
    """Whether a process keeps others from reading; asking for that takes no lock. SQLite's bytes for it lie behind 1 GiB."""
    with open(db, "rb") as file:
        asked = struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, (1 << 30) + 2, 510, 0)
        return struct.unpack("hhqqi", fcntl.fcntl(file, fcntl.F_GETLK, asked))[0] == fcntl.F_WRLCK


@test
def changes_are_seen():
    """A point is asked again when what it depends on has changed: the machine, the program, a file that it includes, an input."""
    (HERE / "part.tsim").write_text(".param EXTRA = 0\n")
    program = HERE / "p.tsim"
    program.write_text('.include "part.tsim"\n.param N = 8\n        smov s1, N\n')
    machine = HERE / "m.yaml"
    machine.write_text("base: tpu-v5e\n")
    path, db = study("machine: m.yaml\nvary: {N: [1, 2]}\nask: {program: p.tsim, define: {N: $N}}\n", "changes.yaml"), HERE / "changes.db"

    def answered():
        return expect_json(["sweep", path, "--db", db])["answered"]

    def unanswered():
        """No point has a result, and the exit code says so."""
        return json.loads(expect(["sweep", path, "--db", db, "--json"], 1))
    first = answered()
    assert first == 2 and answered() == 0
    (HERE / "part.tsim").write_text(".param EXTRA = 1\n")
    assert answered() == 2 and answered() == 0
    machine.write_text("base: tpu-v5e\nhbm: {stacks: 4} # assumed\n")
    assert answered() == 2
    machine.write_text("# another text of the same machine\nbase: tpu-v5e\n")
    assert answered() == 0
    (HERE / "part.tsim").unlink()
    value = unanswered()
    assert value["answered"] == 2 and value["statuses"]["error"] == 2 and "part.tsim" in value["rows"][0]["error"], value
    machine.write_text("base: tpu-v5e\nhbm: {stacks: -2}\n")
    value = unanswered()
    error = f"hbm.stacks: found '-2', expected an integer from 1 to 64, at {machine}:2:15"
    assert value["answered"] == 2 and value["rows"][0]["error"] == error, value


@release_test
def the_tutorial():
    """Commands of docs/sweep.md, in a folder of their own."""
    text = Path("docs/sweep.md").read_text()
    folder = Path(tempfile.mkdtemp(dir=HERE))
    (folder / "tiling.yaml").write_text(re.search("^```yaml\n(.*?)^```", text, re.S | re.M)[1])
    (folder / "programs").symlink_to(Path("programs").resolve())
    (folder / "tilesim").symlink_to(Path(TOOL).resolve())
    places = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
    blocks = re.findall("^```sh\n(.*?)^```", text, re.S | re.M)
    commands = re.findall("^    (tilesim .*)$", text, re.M)
    assert len(blocks) == 4 and len(commands) == 7, (blocks, commands)
    for block in [*blocks, *cases(commands, 0)]:
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block], cwd=folder, env=places, capture_output=True, text=True)
        assert done.returncode == 0, (block, done.stdout, done.stderr)
    assert len((folder / "tiling.csv").read_text().splitlines()) == 7
    for picture in [*folder.glob("*.svg")]:
        ElementTree.parse(picture)
    page = (folder / "tiling.html").read_text()
    assert "Tiling on two machines" in page and "<svg" in page and page.count("<tr") == 7, page.count("<tr")


@test
def estimates_are_marked():
    """The cycles of a row of which not every access was simulated, and of no other, wherever people read them."""
    path = study("""vary: {N: [8, 4096], E: [false, true]}
ask: {dma: 'f32[$N,1024] -> f32[$N,1024]{1,0:T(8,128)}', exact: $E}
""", "about.yaml")
    found = rows(path, "--db", HERE / "about.db")
    assert [row["estimated"] for row in found] == ["0", "0", "1", "0"], found
    cycles = ["~" * (row["estimated"] == "1") + f"{int(row['cycles']):,}" for row in found[:1] + found[2:]]
    for words in ([], ["--html", "-"]):
        text = expect(["sweep", path, "--db", HERE / "about.db", *words])
        assert all(re.search(rf"[ >]{each}[ <]", text) for each in cycles) and text.count("~") == 1, (cycles, text)


@test
def texts_of_a_page_stay_on_their_lines():
    """What is short does; the room of a sentence is for sentences alone."""
    short, long = "x" * 31 + "\u00e9", "a word " * 5
    path = study(f"vary: {{K: ['{short}', '{long}']}}\nask: {{layout: 'f32[8]'}}\n", "lines.yaml")
    page = expect(["sweep", path, "--db", ":memory:", "--html", "-"])
    assert f'<td class="line">{short}</td>' in page and f'<td class="words">{long}</td>' in page, page
    assert page.count('<td class="words">') == 1, page


def svg(path, axes, *words):
    out = expect(["sweep", path, "--db", ":memory:", "--plot", axes, "--svg", "-", *words])
    root = ElementTree.fromstring(out)
    kind = "{http://www.w3.org/2000/svg}"
    return root, [line for line in root.iter(kind + "path") if "curve" in line.get("class")], [*root.iter(kind + "circle")]


def inside(root):
    """Is every text within the picture, if a character is as wide as half of its font, or a little more?"""
    width, height = int(root.get("width")), int(root.get("height"))
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        if (text.get("transform") or "").startswith("rotate(-90"):
            continue
        x, y, long = float(text.get("x")), float(text.get("y")), len(text.text) * (8 if text.get("class") == "title" else 6.5)
        turned = text.get("transform") is not None
        x -= {"middle": long / 2, "end": long}.get(text.get("text-anchor"), 0)
        if turned:
            y, long = y + long * math.sin(math.radians(40)), long * math.cos(math.radians(40))
        assert x >= 0 and x + long <= width and y <= height, (text.text, x, long, y, width, height)


@test
def pictures_have_room():
    """For long titles, names of lines and words along x; numbers that are near each other, negative or alone have ticks."""
    words = [f"word {i} of some length" for i in range(7)]
    path = study(f"""title: {"A title that has more words than a line can take " * 3}
vary: {{W: {json.dumps(words)}, K: {json.dumps(["line " + "long " * 8 + str(i) for i in range(10)])}}}
ask: {{layout: 'f32[8]'}}
columns: {{z: 100000 + padded_bytes}}
""", "room.yaml")
    root, lines, _ = svg(path, "x=W,y=z,by=K")
    inside(root)
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert set(words) <= set(texts) and "and 26 more" not in texts, texts
    looks = [(line.get("class"), line.get("stroke-dasharray")) for line in lines]
    assert looks[::2] == looks[1::2] and len(set(looks)) == 10, looks  # a line, and that of the legend
    path = study("vary: {W: [a, bb], K: {from: 1, to: 90, step: 1}}\nask: {layout: 'f32[8]'}\ncolumns: {z: 1 - K}\n", "many.yaml")
    root, lines, _ = svg(path, "x=W,y=z,by=K")
    inside(root)
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "and 26 more" in texts and len(lines) == 90 + 64, texts
    for column, axis, ticks in (("100000 + 10 * X", "y", None), ("100000 + 10 * X", "x", ["100k", "100.005k", "100.01k", "100.015k", "100.02k"]), ("-8.25", "x", ["-8.25"]),
                                ("-8.25", "y", ["-8", "-6", "-4", "-2", "0"])):
        path = study(f"vary: {{X: [0, 1, 2]}}\nask: {{layout: 'f32[8]'}}\ncolumns: {{z: {column}}}\n", "near.yaml")
        root, _, _ = svg(path, "x=X,y=z" if axis == "y" else "x=z,y=X")
        anchor = "end" if axis == "y" else "middle"
        found = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text") if text.get("text-anchor") == anchor][:-2 if axis == "x" else None]
        assert len(set(found)) == len(found) >= 1 and (ticks is None or found == ticks), (column, axis, found)


@test
def pictures():
    """A line for each value, through the mean; logarithmic where numbers differ much; names of others by their order."""
    path = study("""title: a < b & "c"
points: [{X: 1, Y: 10, K: <p>}, {X: 100, Y: 20, K: <p>}, {X: 10, Y: 30, K: <p>}, {X: 10, Y: 10, K: <p>}, {X: 10, Y: 40, K: q}]
ask: {layout: 'f32[8]'}
columns: {z: Y * 1.0, none: K + 1}
""", "plot.yaml")
    root, lines, circles = svg(path, "x=X,y=z,by=K")
    places = [[tuple(map(float, word.split())) for word in re.split("[ML]", line.get("d"))[1:]] for line in lines if not line.get("d").endswith("h16")]
    assert len(places) == 2 and [len(line) for line in places] == [3, 1] and len(circles) == 5, places
    (x1, y1), (x10, y10), (x100, y100) = places[0]
    assert abs((x10 - x1) - (x100 - x10)) < 0.2 and abs(y10 - y100) < 0.2 and y1 > y10, places  # the mean of 30 and 10 is 20
    assert places[1][0][0] == x10 and abs((y1 - y10) * 3 - (y1 - places[1][0][1])) < 0.3, places
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {'a < b & "c"', "X", "z, lines through the means", "K", "<p>", "q", "0"} <= set(texts), texts
    assert [c[0].text for c in circles][:2] == ["<p> 1: 10", "<p> 10: 10"], [c[0].text for c in circles]
    _, lines, circles = svg(path, "x=K,y=Y")
    assert len(lines) == 1 and len({c.get("cx") for c in circles}) == 2 and circles[0][0].text == " <p>: 10", circles[0][0].text
    far = study("vary: {X: [0, 1, 2]}\nask: {layout: 'f32[8]'}\ncolumns: {z: X * 1e300}\n", "far.yaml")
    texts = [text.text for text in svg(far, "x=X,y=z")[0].iter("{http://www.w3.org/2000/svg}text")]
    assert {"0", "1e+300", "2e+300"} <= set(texts), texts
    for sizes, ticks, bare in (("[64, 128, 256]", {"64", "128", "256"}, "250"), ("[64, 128, 250]", {"100", "250"}, "64")):
        few = study(f"vary: {{X: {sizes}}}\nask: {{layout: 'f32[8]'}}\n", "few.yaml")
        texts = [text.text for text in svg(few, "x=X,y=padded_bytes")[0].iter("{http://www.w3.org/2000/svg}text")]
        assert ticks <= set(texts) and bare not in texts, texts
    for column in ("inf * X", "(X - 1.5) * 1e308"):  # infinite, and of an infinite range
        beyond = study(f"vary: {{X: [1, 2, 3]}}\nask: {{layout: 'f32[8]'}}\ncolumns: {{z: {column}}}\n", "beyond.yaml")
        for axes, shown in (("x=X,y=z", 0), ("x=z,y=X", 0), ("x=X,y=X", 3)):
            assert len(svg(beyond, axes)[2]) == shown, (column, axes)
    for axes, message in (("x=X", "--plot: found 'x=X', expected x=COLUMN,y=COLUMN,by=COLUMN"),
                          ("x=X,y=K", "--plot: 'K' has no numbers"), ("x=X,y=quux", "--plot: there is no column 'quux'"),
                          ("x=X,,y=Y", "--plot: found '', expected x=COLUMN,y=COLUMN,by=COLUMN"),
                          ("x=X,z=Y", "--plot: found 'z=Y', expected x=COLUMN,y=COLUMN,by=COLUMN")):
        expect(["sweep", path, "--db", ":memory:", "--plot", axes, "--svg", "-"], 2, "",
               f"tilesim sweep: error: {message}\n`tilesim sweep --help` shows how it is used\n")
    for words in ([], ["--html", HERE / "plain.html"]):
        expect(["sweep", path, "--db", ":memory:", "--svg", "-", *words], 2, "",
               "tilesim sweep: error: --svg needs --plot, such as x=ROWS,y=time\n`tilesim sweep --help` shows how it is used\n")


@test
def the_front():
    points = enumerate(((5, 1), (1, 9), (3, 3), (3, 4), (4, 3), (3, 3), (2, 9), (9, "x")))
    points = ", ".join(f"{{A: {a}, B: {b}, N: {n}}}" for n, (a, b) in points)
    path = study(f"points: [{points}]\nask: {{layout: 'f32[$A]'}}\n", "front.yaml")
    value = expect_json(["sweep", path, "--db", HERE / "front.db", "--pareto", "A,B"])
    assert [(row["A"], row["B"]) for row in value["rows"]] == [(1, 9), (3, 3), (3, 3), (5, 1)], value["rows"]
    assert [row["A"] for row in expect_json(["sweep", path, "--db", HERE / "front.db", "--pareto", "A"])["rows"]] == [1]
    expect(["sweep", path, "--db", ":memory:", "--pareto", "A,,B"], 2, "", None)
    use = "\n`tilesim sweep --help` shows how it is used\n"
    expect(["sweep", path, "--db", HERE / "front.db", "--pareto", "A,status"], 2, "",
           f"tilesim sweep: error: --pareto: 'status' has no numbers{use}")
    apart = study("points: [{A: 1, B: x}, {A: y, B: 2}]\nask: {layout: 'f32[8]'}\n", "apart.yaml")
    expect(["sweep", apart, "--db", ":memory:", "--pareto", "A,B"], 2, "",
           f"tilesim sweep: error: --pareto: no row has a number in each of 'A,B'{use}")
    texts = study("vary: {A: [1, 2], NAME: [x, y]}\nask: {layout: 'f32[$A]'}\n", "texts.yaml")
    expect(["sweep", texts, "--db", ":memory:", "--tune", "A", "--column", "NAME"], 2, "",
           f"tilesim sweep: error: --tune: 'NAME' has no numbers{use}")


@test
def columns_of_texts():
    """They have no elasticity and no ratio: an error that names the column."""
    path = study("ask: {dma: 'u8[64] -> u8[64]{0:S(1)}'}\n", "limiter.yaml")
    expect(["sweep", path, "--db", HERE / "limiter.db"])
    before = (HERE / "limiter.db").read_bytes()
    for words in ([path, "--db", HERE / "limiter.db", "--sensitivity"], [HERE / "limiter.db", "--diff", HERE / "limiter.db"]):
        expect(["sweep", *words, "--column", "limiter"], 2, "",
               "tilesim sweep: error: --column: 'limiter' has no numbers\n`tilesim sweep --help` shows how it is used\n")
    assert (HERE / "limiter.db").read_bytes() == before  # nothing was asked


@test
def columns_that_rank_are_shown():
    """Also where there are enough others to fill the line."""
    path = study("""vary: {ROWS: [8, 16, 32]}
ask: {dma: 'f32[$ROWS,128] -> f32[$ROWS,128]{1,0:T(8,128)}'}
columns: {a_column_of_a_long_name: ROWS * 1, another_column_of_a_long_name: ROWS * 2, a_third_column_of_a_long_name: ROWS * 3}
""", "shown.yaml")
    for words in (["--pareto", "hbm_joules,ROWS"], ["--tune", "ROWS", "--column", "hbm_joules"], ["--tune", "ROWS", "--column", "time"]):
        header = expect(["sweep", path, "--db", HERE / "shown.db", *words]).split("\n\n")[-1].split("\n")[0].split()
        wanted = words[-1].split(",")[0].replace("time", "microseconds")
        assert header[:3] == ["ROWS", wanted, "a_column_of_a_long_name"], (words, header)


@release_test
def sensitivity():
    """The elasticity of a copy's time, beside the commands."""
    path = study("ask: {dma: 'f32[256,1024] -> f32[256,1024]', exact: false}\nset: {hbm.stacks: 2}\n", "sens.yaml")
    value = expect_json(["sweep", path, "--db", HERE / "sens.db", "--sensitivity", "-j", "2"])
    figures = {row["field"]: row for row in value["figures"]}
    order = [abs(row["elasticity"]) for row in value["figures"]]
    assert order == sorted(order, reverse=True) and len(figures) > 100, order[:5]

    def cycles(*words):
        return expect_json(["dma", "f32[256,1024]", "f32[256,1024]", "--alone", "--set", "hbm.stacks=2", *words])["microseconds"]
    now = cycles()
    for field, half, twice in (("hbm.clock", "0.8 GHz", "3.2 GHz"), ("hbm.burst", "16 B", "64 B")):
        low, high = cycles("--set", f"{field}={half}"), cycles("--set", f"{field}={twice}")
        row = figures[field]
        assert abs(row["at_half"] - low / now) < 1e-5 and abs(row["at_twice"] - high / now) < 1e-5, (row, low, now, high)
        assert abs(row["elasticity"] - math.log(high / low) / math.log(4)) < 1e-5, row
    expect(["sweep", path, "--db", HERE / "sens.db", "--sensitivity", "--column", "tme"], 2, "", None)


@test
def mesh_files():
    """Beside the study, with the machine that they name; what is changed in one is asked again."""
    ask = "ask: {reshard: \"f32[64,64] P('x') -> f32[64,64]\", mesh: %s}\n"
    shards = ["reshard", "f32[64,64] P('x')", "f32[64,64]", "--mesh"]
    mesh = HERE / "own_mesh.yaml"
    mesh.write_text(expect(["show", "mesh", "v4-64"]))
    for name, path in (("v4-64", "v4-64"), ("v5e-16", "v5e-16"), ("./own_mesh.yaml", mesh)):
        row, = expect_json(["sweep", study(ask % name, "mesh.yaml"), "--db", ":memory:"])["rows"]
        assert abs(row["microseconds"] - expect_json([*shards, path])["microseconds"]) < 1e-3, (name, row)
    own = study(ask % "./own_mesh.yaml", "mesh.yaml")
    db = ["--db", HERE / "mesh.db"]
    before, = expect_json(["sweep", own, *db])["rows"]
    assert expect_json(["sweep", own, *db])["answered"] == 0
    mesh.write_text(re.sub("hop: .*", "hop: 9 us", mesh.read_text()))
    value = expect_json(["sweep", own, *db])
    assert value["answered"] == 1 and value["rows"][0]["microseconds"] > before["microseconds"] + 7, (before, value)
    other = study("machine: tpu-v4\n" + ask % "./own_mesh.yaml", "mesh.yaml")
    for hop in ("8 us", "7 us"):
        mesh.write_text(re.sub("hop: .*", f"hop: {hop}", re.sub("machine: .*", "machine: nowhere", mesh.read_text())))
        assert expect_json(["sweep", other, *db])["answered"] == 1, hop
    for words, why in (("machine: tpu-v5e\n" + ask % "v4-64", "form a grid of 2 dims"),
                       (ask % "./none.yaml", "none.yaml': No such file or directory")):
        code, out, _ = run("sweep", study(words, "mesh.yaml"), "--db", ":memory:")
        assert code == 1 and why in " ".join(out.split()), (code, out)


@release_test
def sensitivity_of_several_machines():
    """Every point's own figure is moved: the mean of what it is of each alone."""
    def figures(machines):
        path = study(f"vary: {{machine: [{machines}]}}\nask: {{dma: 'f32[256,1024] -> f32[256,1024]'}}\n", "several.yaml")
        value = expect_json(["sweep", path, "--db", HERE / "several.db", "--sensitivity", "-j", "2"])
        return {row["field"]: row for row in value["figures"]}
    one, other, both = figures("tpu-v4"), figures("tpu-v6e"), figures("tpu-v6e, tpu-v4")
    for field in ("hbm.clock", "dma.issue", "chip.clock.sustained"):
        mean = math.sqrt(one[field]["at_half"] * other[field]["at_half"])
        assert abs(both[field]["at_half"] - mean) < 1e-5, (field, one[field], other[field], both[field])
    assert both["hbm.clock"]["value"] == "1.6 GHz"
    turned = figures("tpu-v4, tpu-v6e")
    assert set(turned) == set(both) == set(one) | set(other) and "memories.cmem.capacity" not in other
    for field, row in both.items():
        here = [each[field] for each in (one, other) if field in each]
        assert abs(row["elasticity"] - sum(each["elasticity"] for each in here) / len(here)) < 2e-6, (row, here)
        for key in ("at_half", "at_twice", "elasticity"):
            assert turned[field][key] == row[key], (turned[field], row)
            assert (row[key] is None) == all(each[key] is None for each in here), (row, here)


@test
def tuning():
    """What is found is the best of those that went on, which the rows say."""
    path, db = study("""vary:
    A: {from: 1, to: 32, step: 1}
    N: [8, 64, 256]
ask: {dma: 'f32[$N,$(A * 32)] -> f32[$N,$(A * 32)]{1,0:T(8,128)}'}
columns: {each: time / A}
""", "tune.yaml"), HERE / "tune.db"
    value = expect_json(["sweep", path, "--db", db, "--tune", "N", "--column", "each", "--keep", "3"])
    assert value["rungs"] == [{"value": "8", "tried": 32, "kept": 11}, {"value": "64", "tried": 11, "kept": 4},
                              {"value": "256", "tried": 4, "kept": 4}] and value["candidates"] == 32, value["rungs"]
    assert value["points"] == value["answered"] == 47 == database(db)
    whole = expect_json(["sweep", path, "--db", HERE / "whole_tune.db"])["rows"]

    def at(size):
        return {row["A"]: row["each"] for row in whole if row["N"] == size}
    first = sorted(at(8), key=lambda a: (at(8)[a], a))[:11]
    second = sorted(first, key=lambda a: (at(64)[a], first.index(a)))[:4]
    assert {row["A"] for row in value["rows"]} == set(second) and {row["N"] for row in value["rows"]} == {256}
    assert [row["each"] for row in value["rows"]] == sorted(at(256)[a] for a in second)
    for words, message in ((["--tune", "M"], "--tune: 'M' does not vary in the study, expected such as a size"),
                           (["--tune", "N", "--keep", "0"], "--keep is 0, expected 2 to 1000"), (["--tune", "N", "--keep", "1"], "--keep is 1, expected 2 to 1000")):
        expect(["sweep", path, "--db", db, *words], 2, "", f"tilesim sweep: error: {message}\n`tilesim sweep --help` shows how it is used\n")


# y = x, checked to be x + W, after a delay of D cycles
WRONG = """.param W = 0
.param D = 1
.tensor x hbm f32[8,128] in iota
.tensor y hbm f32[8,128] out
.tensor b vmem f32[8,128]
.sem    done
.check  y == x + W
        dma     b <- x, done
        wait    done
        delay   D
        dma     y <- b, done
        wait    done
"""


@test
def what_computes_wrong_values_is_not_the_best():
    """A fast point whose check failed beats none that is right."""
    (HERE / "wrong.tsim").write_text(WRONG)
    path, db = study("""points: [{W: 0, D: 2000}, {W: 1, D: 1}, {W: 0, D: 1000}]
vary: {N: [0, 1]}
ask: {program: wrong.tsim, define: {W: $W, D: $(D + N)}}
""", "wrong.yaml"), HERE / "wrong.db"
    for words, right in ((["--tune", "N", "--keep", "2"], [(0, 1000, 1)]), (["--pareto", "time"], [(0, 1000, 0)]),
                         (["--pareto", "N,D"], [(0, 1000, 0)])):
        code, out, err = run("sweep", path, "--db", db, *words, "--json")
        assert code == 3 and [(r["W"], r["D"], r["N"]) for r in json.loads(out)["rows"]] == right, (words, out, err)


@test
def where_no_point_has_a_result_it_is_said_why():
    small = study("""vary: {M: [1, 2], N: [64, 100000]}
ask: {program: big.tsim, define: {M: $M, N: $N}, time_only: true}
""", "small.yaml")
    (HERE / "big.tsim").write_text(""".param M = 1
.param N = 1
.assert N * M < 100000, "too large"
        delay   N * M
""")
    code, out, err = run("sweep", small, "--db", ":memory:", "--tune", "N")
    assert (code, err) == (0, ""), (code, err)
    assert "at 64       2 tried, the best 1 go on\nat 100000   1 tried, 0 of them with a result\n" in out, out
    assert out.replace("\n    ", " ").endswith(f"\nerror of 1: too large, at {HERE}/big.tsim:3:1\n"), out
    rungs = json.loads(expect(["sweep", small, "--db", ":memory:", "--tune", "N", "--json"]))["rungs"]
    assert [(rung["tried"], rung["kept"]) for rung in rungs] == [(2, 1), (1, 0)], rungs
    none = study(small.read_text().replace("64", "100001"), "none.yaml")
    for words in (["--tune", "N"], ["--pareto", "time"]):
        code, out, err = run("sweep", none, "--db", ":memory:", *words)
        assert (code, err) == (1, "") and "too large" in out, (words, code, out, err)
    for words, option in ((["--sensitivity"], "--column"), (["--plot", "x=M,y=time", "--svg", "-"], "--plot")):
        expect(["sweep", none, "--db", ":memory:", *words], 1, "",
               f"tilesim: error: {option}: no point has a result, the first for: too large, at {HERE}/big.tsim:3:1\n")


@test
def differences():
    path, one, two = study(GRID), HERE / "d1.db", HERE / "d2.db"
    expect(["sweep", path, "--db", one])
    expect(["sweep", path, "--db", two])
    value = expect_json(["sweep", "--diff", one, two, "--fail-over", "1"])
    assert (value["both"], value["changes"], value["worst"], value["broken"]) == (len(COUNTED), [], 1, 0), value
    with sqlite3.connect(two) as db:
        keys = [key for key, in db.execute("select key from point order by key limit 4")]
        db.execute("update point set microseconds = microseconds * 1.25 where key = ?", keys[:1])
        db.execute("update point set microseconds = microseconds / 2, key = 'other' where key = ?", keys[1:2])
        db.execute("update point set parameters = 'others' where key = ?", keys[2:3])
    code, out, err = run("sweep", "--diff", one, two, "--json")
    value = json.loads(out)
    assert (value["both"], value["only_before"], value["only_after"], value["worst"]) == (len(COUNTED) - 1, 1, 1, 1.25), value
    assert [round(row["ratio"], 6) for row in value["changes"]] == [1.25, 0.5], value["changes"]
    assert code == 0 and run("sweep", "--diff", one, two, "--fail-over", "1.26")[0] == 0
    message = "tilesim: fault: microseconds 1.2500x what it was; 0 no longer ok: more than --fail-over 1.2x\n"
    expect(["sweep", "--diff", one, two, "--fail-over", "1.2"], 3, None, message)
    assert expect_json(["sweep", "--diff", one, two, "--column", "cycles"])["changes"] == []
    with sqlite3.connect(two) as db:
        db.execute("update point set status = 'crash' where key = ?", keys[3:4])
    code, out, err = run("sweep", "--diff", one, two, "--fail-over", "2")
    assert code == 3 and "    crash, was ok\n" in out and "1 no longer ok" in err, (code, out, err)
    with sqlite3.connect(two) as db:  # worse than by any ratio
        db.execute("update point set status = 'ok', rmw_accesses = 5 where key = ?", keys[3:4])
    with sqlite3.connect(one) as db:
        db.execute("update point set rmw_accesses = 0 where key = ?", keys[3:4])
    code, out, err = run("sweep", "--diff", one, two, "--fail-over", "1000", "--column", "rmw_accesses")
    assert code == 3 and "rmw_accesses 5, was 0\n" in out and "rmw_accesses was 0, and is no longer; 0 no longer ok" in err, (code, out, err)
    assert expect_json(["sweep", "--diff", one, two, "--column", "rmw_accesses"])["worst"] is None
    other = HERE / "d3.db"
    expect(["sweep", study("ask: {layout: 'f32[8]'}", "other.yaml"), "--db", other])
    assert run("sweep", "--diff", one, other)[0] == 0
    expect(["sweep", "--diff", one, other, "--fail-over", "2"], 3, None,
           "tilesim: fault: no point is in both, and --fail-over is given\n")
    code, out, err = run("sweep", "--diff", other, other, "--fail-over", "2")  # a layout takes no time
    assert code == 3 and "\nworst      no point has microseconds in both; 0 no longer ok\n" in out, (code, out)
    assert err == "tilesim: fault: no point has microseconds in both; 0 no longer ok, and --fail-over is given\n", err
    value = expect_json(["sweep", "--diff", other, other, "--fail-over", "2", "--column", "padded_bytes"])
    assert (value["both"], value["measured"], value["worst"]) == (1, 1, 1), value


@test
def differences_after_a_change():
    """A database that has the rows from before and after a change of the program is compared by the latter, also with itself."""
    program, path = HERE / "q.tsim", study("vary: {N: [1, 2]}\nask: {program: q.tsim, define: {N: $N}}\n", "q.yaml")
    before, after = HERE / "q1.db", HERE / "q2.db"
    for bundles in (1, 40):
        program.write_text(".param N = 8\n" + "        smov s1, N\n" * bundles)
        expect(["sweep", path, "--db", after])
        if bundles == 1:
            before.write_bytes(after.read_bytes())
    value = expect_json(["sweep", "--diff", before, after, "--column", "cycles"])
    assert (value["both"], value["only_before"], value["only_after"], value["older"]) == (2, 0, 0, 2), value
    assert value["worst"] > 1 and len(value["changes"]) == 2, value


@test
def a_database_of_an_older_version():
    """Columns that it lacks are none when it is read, and are added when it is written."""
    path, old, new = study(GRID), HERE / "old.db", HERE / "newer.db"
    expect(["sweep", path, "--db", old])
    expect(["sweep", path, "--db", new])
    with sqlite3.connect(old) as db:
        db.execute("alter table point drop column hbm_bytes")
        db.execute("delete from point where cycles % 2")
    left = database(old)
    assert expect_json(["sweep", "--diff", old, new])["both"] == left < len(COUNTED)
    assert all(row["hbm_bytes"] is None for row in expect_json(["sweep", "--diff", old, new, "--column", "hbm_bytes"])["changes"] if "hbm_bytes" in row)
    expect(["sweep", "--merge", HERE / "merged.db", old, new])
    assert database(HERE / "merged.db") == len(COUNTED)
    assert expect_json(["sweep", path, "--db", old])["answered"] == len(COUNTED) - left


@test
def errors_in_full():
    """Below the table, whose cells have no room for them, each once with the number of its points."""
    path = study("vary: {A: [1, 2], T: [8, '8{', '8,', '0', -1, 'x']}\nask: {layout: 'f32[$A]{0:T($T)}'}\n", "full.yaml")
    out = expect(["sweep", path, "--db", HERE / "full_errors.db", "--rows", "1"])
    reasons = [row["error"] for row in rows(path, "--db", HERE / "full_errors.db") if row["error"]]
    assert len(reasons) == 10 and max(map(len, reasons)) > 40, reasons
    shown = list(dict.fromkeys(reasons))[:4]
    for reason in shown:
        assert f"error of {reasons.count(reason)}: {reason}\n" in out.replace("\n    ", " "), (reason, out)
    left = sum(reason not in shown for reason in reasons)
    assert ("and other errors of" in out) == (left > 0) and (not left or f"and other errors of {left}: --csv FILE\n" in out), out


@test
def refused():
    path = study(GRID)
    for words, message in ((["--shard", "0/3"], "--shard is '0/3', expected I/N with I of 1 to N, such as 1/8"),
                           (["--shard", "4/3"], "--shard is '4/3', expected I/N with I of 1 to N, such as 1/8"),
                           (["--shard", "1/3x"], "--shard is '1/3x', expected I/N with I of 1 to N, such as 1/8"),
                           (["--jobs", "257"], "--jobs is 257, expected 1 to 256"),
                           (["--rows", "0"], "--rows is 0, expected 1 or more"),
                           (["--timeout", "0"], "--timeout is '0', expected seconds, such as 10"),
                           (["--keep", "1"], "--keep needs --tune"), (["--fail-over", "2"], "--fail-over needs --diff"),
                           (["--column", "cycles"], "--column needs --diff, --tune or --sensitivity"),
                           (["--tune", "A", "--sensitivity"], "--sensitivity does not go with --tune"),
                           (["--tune", "A", "--shard", "1/2"], "--shard does not go with --tune"),
                           (["--sensitivity", "--svg", "x.svg"], "--svg does not go with --sensitivity"),
                           (["--merge", "x.db", "--svg", "x.svg"], "--svg does not go with --merge"),
                           (["--merge", "x.db", "-j", "2"], "--jobs does not go with --merge"),
                           (["--diff", "x.db", "--pareto", "A"], "--pareto does not go with --diff"),
                           ([path], "found 2 operands, expected one")):
        expect(["sweep", path, *words], 2, "", f"tilesim sweep: error: {message}\n`tilesim sweep --help` shows how it is used\n")
    for words, expected in (([], "STUDY.yaml"), (["--diff", "x.db"], "a database"), (["--merge", "x.db"], "a database")):
        expect(["sweep", *words], 2, "", f"tilesim sweep: error: too few operands, expected {expected}\n"
                                         "`tilesim sweep --help` shows how it is used\n")
    name = study("vary: {ROWS: 1}\nask: {dma: 'f32[$ROSW] -> f32[$ROWS]'}\n", "name.yaml")
    expect(["sweep", name], 1, "", f"{name}:2:18: error: unknown parameter 'ROSW'; did you mean 'ROWS'?\n"
                                   f"ask: {{dma: 'f32[$ROSW] -> f32[$ROWS]'}}\n{' ' * 17}^\n")
    assert not Path("name.db").exists()
    figure = study("machine: tpu-v4\nset: {hbm.stakcs: 2}\nask: {layout: 'f32[8]'}\n", "figure.yaml")
    expect(["sweep", figure], 1, "", f"{figure}:2:7: error: unknown key 'hbm.stakcs'; did you mean 'hbm.stacks'?\n"
                                     f"set: {{hbm.stakcs: 2}}\n      ^\n")
    assert not Path("figure.db").exists()
    column = study("vary: {A: [1, 2]}\nask: {dma: 'f32[$A] -> f32[$A]'}\ncolumns: {rate: cycles ** 2}\n", "column.yaml")
    expect(["sweep", column], 1, "", f"{column}:3:25: error: found '*', expected a number\ncolumns: {{rate: cycles ** 2}}\n{' ' * 24}^\n")
    assert not Path("column.db").exists()  # before anything is asked
    whole = study("vary: {A: [1, x]}\nwhere: A / 0 == 1\nask: {layout: 'f32[$A]'}\n", "zero.yaml")
    code, out, err = run("sweep", whole, "--db", HERE / "zero.db")
    assert code == 1 and out == "" and err.startswith(f"{whole}:2:10: error: the divisor is 0\n"), err


main()
