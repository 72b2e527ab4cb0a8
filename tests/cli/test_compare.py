"""tilesim compare: what changed between two reports."""
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, release_test, run, test

HERE = Path(tempfile.mkdtemp())


def save(name, value):
    (HERE / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return str(HERE / name)


def report(name, *words):
    return save(name, expect([*words, "--json"]))


def small(name, command="run", **keys):
    return save(name, {"schema": f"tilesim.{command}", **keys})


@test
def text():
    before = small("a.json", machine="tpu-v5e", params={"ROWS": 8}, cycles=1000, microseconds=2.0, limiter="HBM",
                   stalls={"wait_eup": 5, "wait_dma": 1000000, "busy_eup": 7},
                   tensors=[{"name": "x", "bytes": 100}, {"name": "y", "bytes": 30}], same=[1, 2, {"z": None}])
    after = small("b.json", machine="tpu-v6e", params={"ROWS": 16}, cycles=1250, microseconds=1.5, limiter="engine rate",
                  stalls={"wait_eup": 6, "wait_dma": 500000, "wait_vpu": 100},
                  tensors=[{"name": "y", "bytes": 30}, {"name": "x", "bytes": 1200}], same=[1, 2, {"z": None}])
    expect(["compare", before, after], out=f"""before     {before}
after      {after}
           reports of tilesim run

                                                      before             after   change
machine                                              tpu-v5e           tpu-v6e
params.ROWS                                                8                16 +100.0 %

cycles                                                 1,000             1,250  +25.0 %
microseconds                                               2               1.5  -25.0 %
limiter                                                  HBM       engine rate

stalls.wait_dma                                    1,000,000           500,000  -50.0 %
stalls.wait_vpu                                            -               100
stalls.busy_eup                                            7                 -
stalls.wait_eup                                            5                 6  +20.0 %

tensors[x].bytes                                         100             1,200 x     12

7 values are the same in both
""")
    out = expect(["compare", before, after, "--rows", "1"])
    assert "and 3 more; --all shows them\n" in out and "wait_vpu" not in out, out
    expect(["compare", before, after, "--rows", "1", "--all"], out=expect(["compare", before, after]))
    expect(["compare", before, after, "--rows", str(2**31)], out=expect(["compare", before, after, "--all"]))


@test
def as_json():
    before = small("a.json", cycles=4, microseconds=2.0, gone=True, program="a")
    after = small("b.json", cycles=5, microseconds=3.0, new=[1], program="b")
    value = expect_json(["compare", before, after], command="run", before=before, after=after, equal_values=1)
    assert value["figures"] == [{"path": "microseconds", "before": 2, "after": 3, "ratio": 1.5}], value
    assert value["settings"] == [{"path": "program", "before": "a", "after": "b"}], value
    assert value["results"] == [
        {"path": "cycles", "before": 4, "after": 5, "ratio": 1.25},
        {"path": "microseconds", "before": 2, "after": 3, "ratio": 1.5},
        {"path": "gone", "before": "true", "after": None},
        {"path": "new", "before": None, "after": "[..]"}], value


@test
def items_are_matched_by_name():
    before = small("a.json", "choose", candidates=[{"shape": "p", "microseconds": 1}, {"shape": "q", "microseconds": 2},
                                                   {"shape": "q", "microseconds": 3}], plain=[1, 2, 3])
    after = small("b.json", "choose", candidates=[{"shape": "q", "microseconds": 2}, {"shape": "q", "microseconds": 4},
                                                  {"shape": "p", "microseconds": 1}], plain=[1, 5, 3, 4])
    value = expect_json(["compare", before, after])
    assert [(c["path"], c["before"], c["after"]) for c in value["results"]] == [
        ("candidates[q #2].microseconds", 3, 4), ("plain[1]", 2, 5), ("plain[3]", None, 4)], value
    assert value["figures"] == [{"path": "candidates.0.microseconds", "before": 1, "after": 2, "ratio": 2}], value


@release_test
def lines_of_another_file():
    """None is in both: .1 s, not 30."""
    rows = [small(f"{name}.json", microseconds=1, lines=[{"place": f"{name}.tsim:{i}", "cycles": i} for i in range(100_000)])
            for name in ("a", "b")]
    start = sum(os.times()[2:4])
    assert "[b.tsim:99999]" in expect(["compare", *rows, "--all"]) and sum(os.times()[2:4]) - start < 5


@test
def items_of_one_name_are_matched_by_their_strings():
    """Of an audit's copies, the most time first: another takes longest, and one is gone."""
    def moves(name, *found):
        return small(name, "audit", moves=[{"opcode": "copy", "source": source, "changes": changes, "cycles": cycles}
                                           for source, changes, cycles in found])

    before = moves("a.json", ("f32[64]", "tile", 30), ("f32[32]", "tile", 20), ("f32[16]", "tile", 10))
    after = moves("b.json", ("f32[32]", "tile", 20), ("f32[16]", "tile", 12))
    assert [(c["path"], c["before"], c["after"]) for c in expect_json(["compare", before, after])["results"]] == [
        ("moves[copy]", "{..}", None), ("moves[copy #3].cycles", 10, 12)]
    retiled = moves("c.json", ("f32[16]", "tile", 10), ("f32[64]", "type+tile", 30), ("f32[32]", "tile", 20))
    assert [(c["path"], c["before"], c["after"]) for c in expect_json(["compare", before, retiled])["results"]] == [
        ("moves[copy].changes", "tile", "type+tile")]


@test
def limits():
    before, after = small("a.json", microseconds=100), small("b.json", microseconds=106)
    expect(["compare", before, after, "--fail-over", "1.06"], out=None)
    expect(["compare", after, before, "--fail-over", "1"], out=None)
    expect(["compare", before, after, "--fail-over", "1.05x"], code=3, out=None,
           err="tilesim: fault: microseconds went from 100 to 106, more than --fail-over 1.05x\n")
    padded = [small(name, "audit", microseconds=1, all={"padded_bytes": n}) for name, n in (("a.json", 10), ("b.json", 12))]
    expect(["compare", *padded, "--fail-over", "1.1"], code=3, out=None,
           err="tilesim: fault: all.padded_bytes went from 10 to 12, more than --fail-over 1.1x\n")
    machines = [small(name, "machine") for name in ("a.json", "b.json")]
    expect(["compare", *machines, "--fail-over", "1.1"], code=2, out=None,
           err="tilesim: error: --fail-over: reports of tilesim machine have no figure to judge\n")
    for wrong in ("0.9", "x", "1.2y", "nan", "inf"):
        code, _, err = run("compare", before, after, "--fail-over", wrong)
        assert code == 2 and "expected a ratio of at least 1, such as 1.5x" in err, err


@test
def blocks_are_matched_by_their_sizes():
    """Another machine ranks them otherwise; and what runs at one of two sizes only is no other block."""
    blocks = [small(name, "blocks", candidates=[{"blocks": {"BM": bm, "BN": bn}, "microseconds": us} for bm, bn, us in found])
              for name, found in (("a.json", ((8, 16, 1), (16, 8, 2), (8, 8, 3))), ("b.json", ((16, 8, 1.5), (8, 8, 3))))]
    value = expect_json(["compare", *blocks])
    assert [(c["path"], c["before"], c["after"]) for c in value["results"]] == [
        ("candidates[BM=8, BN=16]", "{..}", None), ("candidates[BM=16, BN=8].microseconds", 2, 1.5)], value
    assert value["figures"] == [{"path": "candidates.0.microseconds", "before": 1, "after": 1.5, "ratio": 1.5}], value
    runs = [small(name, "grid", runs=[{"defines": {"ROWS": rows}, "cycles": int(rows)} for rows in found])
            for name, found in (("a.json", "89"), ("b.json", "98"))]
    assert expect_json(["compare", *runs])["results"] == []


@test
def a_report_of_an_error():
    good = small("a.json", microseconds=1)
    failed = small("b.json", error={"kind": "fault", "message": "deadlock: the core waits"})
    for reports in ([good, failed], [failed, good]):
        code, _, err = run("compare", *reports, "--fail-over", "1.1")
        why = f"{failed} has no microseconds: deadlock: the core waits"
        assert (code, err) == (3, f"tilesim: fault: --fail-over: {why}\n"), (code, err)
    expect(["compare", good, failed], out=None)


@test
def long_texts():
    """Are whole: that they begin alike says nothing."""
    long = "a tile that is as high as it can be, and as wide as it is high, in each unit: "
    texts = [long + end for end in ("one", "the other")]
    reports = [small(f"{i}.json", "choose", unfit=[{"shape": "s", "why": text}]) for i, text in enumerate(texts)]
    out = expect(["compare", *reports], out=None)
    assert "\nunfit[s].why\n    " + texts[0] + "\n    " + texts[1] + "\n" in out, out
    assert "\n\n\n" not in out, out


@test
def real_reports():
    """Every command whose reports have a figure has it where it is looked for, and equals itself."""
    shape = "f32[64,64]{1,0:T(8,128)}"
    for words, figure in ((["run", "programs/add.tsim"], "microseconds"), (["dma", "f32[64,64]{1,0}", shape], "microseconds"),
                          (["audit", "tests/data/hlo/attention.mlir"], "microseconds"), (["hbm", "a_seq_rd"], "cycles"),
                          (["layout", shape], "storage_bytes"), (["bench", "f32[64,64]{1,0}", shape, "--milliseconds=1"], "host_seconds"),
                          (["choose", "f32[64,64]{1,0}"], "candidates.0.microseconds"),
                          (["choose", "programs/add.tsim", "--block", "ROWS=8,16"], "candidates.0.microseconds"),
                          (["reshard", "f32[64,64] P('x')", "f32[64,64]", "--mesh", "4"], "microseconds"),
                          (["relayout", 'f32[8,128] vpad<"32,{0,0},(8,128)">', 'f32[8,128] vpad<"32,{3,0},(8,128)">'], "cycles")):
        path = report("one.json", *words)
        value = expect_json(["compare", path, path])
        assert value["figures"][0]["path"] == figure and value["figures"][0]["ratio"] == 1, (words, value["figures"])
        assert not value["settings"] and not value["results"] and value["equal_values"] > 5, value
    machines = [report(f"{name}.json", "show", "machine", name) for name in ("tpu-v5e", "tpu-v6e")]
    value = expect_json(["compare", *machines])
    assert any(c["path"] == "figures.hbm.channels.value" or c["path"] == "hbm_bytes_per_second" for c in value["results"]), value


@test
def bad_input():
    good = small("a.json", microseconds=1)
    for text, err in (('{"schema": "tilesim.run", }', "this is not valid JSON"), ("", "this is not valid JSON, expected a report of --json"),
                      ("[1]", 'expected a report of tilesim: a JSON object with "schema": "tilesim.run" or another'),
                      ('{"schema": 7}', "expected a report of tilesim"), ("[" * 100000, "this is not valid JSON"),
                      ('{"schema": "other.run"}', "expected a report of tilesim"),
                      ('{"schema": "tilesim.dma"}', "this is a report of tilesim dma, expected one of tilesim run, as")):
        bad = save("bad.json", text)
        code, out, found = run("compare", good, bad)
        assert code == 1 and not out and err in found and f"{bad}:1:" in found, (text[:40], found)
    code, _, found = run("compare", good, str(HERE / "none.json"))
    assert code == 1 and "none.json" in found, found


main()
