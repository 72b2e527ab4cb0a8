"""tilesim.sweep beside the command line."""
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import package  # noqa: F401
from cli import expect_json, main, test

import numpy as np
import tilesim as ts

HERE = Path(tempfile.mkdtemp())
STUDY = {"title": "rows", "vary": {"ROWS": [8, 16, "x"], "machine": ["tpu-v5e", "tpu-v4"]},
         "ask": {"dma": "f32[$ROWS,128] -> f32[$ROWS,128]{1,0:T(8,128)}"}, "columns": {"rate": "useful_bytes / time"}}
TEXT = """title: rows
vary: {ROWS: [8, 16, x], machine: [tpu-v5e, tpu-v4]}
ask: {dma: 'f32[$ROWS,128] -> f32[$ROWS,128]{1,0:T(8,128)}'}
columns: {rate: useful_bytes / time}
"""


@test
def rows_are_the_command_lines():
    path, db = HERE / "rows.yaml", HERE / "rows.db"
    path.write_text(TEXT)
    found = expect_json(["sweep", path, "--db", db])
    for study in (STUDY, TEXT, path, str(path)):
        rows = ts.sweep(study, workers=2, frame=False)
        assert list(rows) == found["rows"] and rows.title == "rows" and rows.parameters == ["ROWS", "machine"], study
        assert rows.answered == 6 and rows.columns == list(found["rows"][0])
    assert ts.sweep(path, db=db, frame=False).answered == 0
    assert [row["status"] for row in ts.sweep(STUDY, db=HERE / "new.db", frame=False)] == ["ok"] * 4 + ["error"] * 2
    assert (HERE / "new.db").exists()


@test
def values_of_numpy():
    """And ranges, paths and other mappings; a title in any script."""
    plain = {"vary": {"A": [1, 2], "B": [0.5, 2.5], "C": [8, 16]}, "ask": {"layout": "f32[$A,$C]"}, "columns": {"d": "A * B"}}
    other = {"title": "\U0001f600 \u03bcs", "vary": types.MappingProxyType({"A": range(1, 3), "B": np.array([0.5, 2.5]), "C": [np.int32(8), np.int64(16)]}),
             "ask": plain["ask"], "columns": plain["columns"]}
    rows = ts.sweep(types.MappingProxyType(other), frame=False)
    assert rows == ts.sweep(plain, frame=False) and len(rows) == 8 and rows.title == other["title"], rows
    path = HERE / "m.yaml"
    path.write_text("base: tpu-v4\n")
    assert ts.sweep({"machine": path, "ask": {"layout": "f32[8]"}}, frame=False)[0]["status"] == "ok"
    package.raised(TypeError, ts.sweep, {"vary": {"A": [object()]}, "ask": {"layout": "f32[$A]"}})


@test
def no_workers():
    for workers in (0, -1):
        try:
            ts.sweep(STUDY, workers=workers)
            assert False, workers
        except ts.UsageError as error:
            assert str(error) == f"{workers} workers, expected 1 or more", error


SLOW = """
import sys
sys.path.insert(0, "python")
import tilesim as ts
try:
    ts.sweep({"vary": {"ROWS": {"from": 101, "to": 3000, "step": 1}},
              "ask": {"dma": "f32[$ROWS,8000] -> f32[$ROWS,8000]{0,1:T(8,128)}", "exact": "true"}}, db=sys.argv[1], workers=2, frame=False)
except KeyboardInterrupt:
    print("heard")
"""


@test
def interrupts_are_heard():
    """Ctrl-C ends a study between two answers, not behind the last; what is answered is kept."""
    db = HERE / "slow.db"
    child = subprocess.Popen([sys.executable, "-c", SLOW, str(db)], stdout=subprocess.PIPE, text=True, start_new_session=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    try:
        log = HERE / "slow.db-wal"
        while child.poll() is None and (not log.exists() or log.stat().st_size < 60000):
            time.sleep(0.02)
        os.killpg(child.pid, signal.SIGINT)
        said = child.communicate(timeout=60)[0]
        with contextlib.closing(sqlite3.connect(db)) as opened:
            rows = opened.execute("select count(*) from point").fetchone()[0]
        assert said == "heard\n" and 0 < rows < 2900, (said, rows)
    finally:
        if child.poll() is None:
            child.kill()


@test
def no_rows():
    """There are the parameters still, so that what is done with their columns goes on."""
    rows = ts.sweep({"vary": {"A": [1, 2]}, "where": "A > 5", "ask": {"layout": "f32[4]"}}, frame=False)
    assert rows == [] and rows.columns == ["A"], rows.columns


@test
def frames():
    """Of pandas, or of what stands for it here."""
    made = types.SimpleNamespace(DataFrame=lambda rows, columns: ("frame", rows, columns))
    before = sys.modules.get("pandas")
    try:
        sys.modules["pandas"] = made
        rows = ts.sweep(STUDY, frame=False)
        assert ts.sweep(STUDY) == ts.sweep(STUDY, frame=True) == rows.frame() == ("frame", list(rows), rows.columns)
        sys.modules["pandas"] = None  # as if there were none
        assert isinstance(ts.sweep(STUDY), ts.Sweep)
    finally:
        sys.modules.pop("pandas")
        if before:
            sys.modules["pandas"] = before


@test
def notebooks_and_errors():
    shown = ts.sweep(STUDY, frame=False)._repr_html_()
    assert "rows: 6 points" in shown and "tpu-v4" in shown and "None" not in shown
    for study, words in (("no/such.yaml", "No such file"), ({"ask": 1}, "study:1:"), ("ask:\n  dma: $A\n", "unknown parameter 'A'")):
        try:
            ts.sweep(study)
        except ts.Error as error:
            assert words in str(error), error
        else:
            raise AssertionError(study)


main()
