"""tilesim list: the programs, machines and checks that the binary carries."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test


@test
def programs():
    lines = expect(["list", "programs"]).splitlines()
    folder = Path("programs")
    names = [str(path.relative_to(folder)) for path in sorted((*folder.glob("*.tsim"), *folder.glob("mesh/*.tsim")))]
    assert sorted(line.split()[0] for line in lines) == [f"tilesim:/{name}" for name in names]
    assert all(len(line) <= 100 and len(line.split()) > 3 for line in lines), lines
    column = len("tilesim:/") + max(map(len, names)) + 1
    assert "tilesim:/softmax.tsim".ljust(column) + "Softmax of each row: y = exp(x - max) / sum(exp(x - max))" in lines
    assert all(line[column - 1] == " " != line[column] for line in lines), lines
    listed = expect_json(["list", "programs"], schema="tilesim.programs")["programs"]
    assert sorted(p["name"] for p in listed) == names
    purposes = {p["name"]: p["purpose"] for p in listed}
    assert purposes["cumsum.tsim"] == "Running sums along each row: y[i, j] = x[i, 0] + ... + x[i, j], in f32", purposes["cumsum.tsim"]
    assert purposes["rope.tsim"] == ("Rotary position embedding: in each head of D columns, column i < D/2 and its partner "
                                     "i + D/2 are turned by the angle position * freq[i]"), purposes["rope.tsim"]
    for line, p in zip(lines, listed):
        assert p["purpose"].startswith(line.split(maxsplit=1)[1].removesuffix("..")), (line, p)


@test
def machines_and_checks():
    assert expect(["list", "machines"]) == expect(["show", "machine", "--list"])
    assert expect_json(["list", "machines"]) == expect_json(["show", "machine", "--list"])
    assert expect(["list", "checks"]) == expect(["show", "functions"])


@test
def meshes():
    lines = expect(["list", "meshes"]).splitlines()
    assert "v5e-16       tpu-v5e          16       16  4 (line) x 4 (line)" in lines, lines
    listed = {m["name"]: m for m in expect_json(["list", "meshes"], schema="tilesim.meshes")["meshes"]}
    assert sorted(listed) == sorted(path.stem for path in Path("configs/meshes").glob("*.yaml"))
    assert listed["v7x-64"] == {"name": "v7x-64", "machine": "tpu-v7x", "chips": 64, "devices": 128, "dims": [4, 4, 4],
                                "rings": [True, True, True]}


@test
def refused():
    for words, message in ((["machine"], "found 'machine', expected programs|machines|meshes|checks; did you mean 'machines'?"),
                           (["checks", "--json"], "--json is not of checks"), ([], "programs|machines|meshes|checks")):
        code, out, err = run("list", *words)
        assert code == 2 and message in err, (words, err)


main()
