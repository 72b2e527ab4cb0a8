"""tilesim show: machines print back, rates follow, the schema lists every field, and bad input is refused in its place."""
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test

NAMES = sorted(path.stem for path in Path("configs").glob("*.yaml"))


@test
def help_has_an_example():
    out = expect(["show", "--help"])
    assert out.startswith("usage: tilesim show [OPTION...] machine [NAME]|schema|isa|functions|algebra|ops|mesh|program FILE\n"), out
    assert "\nexample:\n    tilesim show machine tpu-v5e --set hbm.stacks=4\n" in out, out


@test
def meshes_are_printed():
    shown = expect(["show", "mesh", "v5e-16"])
    assert shown.startswith('title: "TPU v5e, 16 chips"\nmachine: "tpu-v5e"\ndims:\n    x:\n        chips: 4 '), shown
    code, out, err = run("show", "mesh", "v5e-61")
    assert code == 1 and out == "" and "v5e-61" in err, err


@test
def printed_machine_reads_back():
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            text = expect(["show", "machine", name])
            assert max(map(len, text.splitlines())) <= 100, name
            path = Path(folder, name + ".yaml")
            path.write_text(text)
            assert expect(["show", "machine", path]).splitlines()[1:] == text.splitlines()[1:]


@test
def default_machine_is_named():
    default = expect(["show", "machine"]).splitlines()
    assert default[0] == "# tpu-v5e (TPU v5e), the default"
    assert default == expect(["show", "machine", "tpu-v5e"]).splitlines()
    assert expect(["show", "machine", "tpu-v4"]).startswith("# tpu-v4 (TPU v4)\n")


@test
def an_edit_of_the_printed_file_is_what_set_gives():
    """Times in ns stay in ns, so that another clock changes their cycles in both."""
    move = ["hbm", "k_bankconf", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        mine = Path(folder, "mine.yaml")
        for name in ("tpu-v5e", "hbm2-reference", "tpu-v7x"):
            text = expect(["show", "machine", name])
            clock = re.search(r"^hbm:(?:\n .*)*?\n    clock: ([\d.]+ [GM]Hz)", text, re.MULTILINE)[1]
            mine.write_text(re.sub(rf"(\n    clock: ){re.escape(clock)}", r"\g<1>777 MHz", text))
            keys = ("machine_hash", "cycles", "row_hits")
            edited, changed = (expect_json([*move[:2], "-m", *words]) for words in ([mine], [name, "--set", "hbm.clock=777MHz"]))
            assert [edited[key] for key in keys] == [changed[key] for key in keys], name
            assert changed["machine_overrides"] == ["hbm.clock=777 MHz"] and edited["machine_overrides"] == []


@test
def address_maps():
    """A wrong one is an error of the file, whatever is asked of the machine."""
    with tempfile.TemporaryDirectory() as folder:
        mine = Path(folder, "mine.yaml")
        for value, column in (("off co pc zz", 28), ('"off co pc zz"', 29)):
            mine.write_text(f"base: tpu-v5e\nhbm:\n    address_map: {value} # assumed\n")
            for words in (["show", "machine", mine], ["layout", "f32[3]", "-m", mine], ["hbm", "a_seq_rd", "-m", mine]):
                expect(words, 1, "", f"{mine}:3:{column}: error: hbm.address_map: unknown field 'zz', expected off, co, pc, ch, "
                                     f"st, sid, bg, ba or ro\n    address_map: {value} # assumed\n{(column - 1) * ' '}^\n")
        for first, rest in ((">-", "off co zz"), ("off", "co zz"), ('"off\\x20', 'zz"')):  # it reads otherwise: where it begins
            mine.write_text(f"base: tpu-v5e\nhbm:\n    address_map: {first}\n        {rest}\n")
            expect(["show", "machine", mine], 1, "", f"{mine}:3:18: error: hbm.address_map: unknown field 'zz', expected off, "
                             f"co, pc, ch, st, sid, bg, ba or ro\n    address_map: {first}\n{17 * ' '}^\n")


@test
def what_follows():
    lines = expect(["show", "machine", "tpu-v4"]).splitlines()
    start = lines.index("# What follows, for the chip:")
    rows = {words[1]: words[2:] for words in (line.split() for line in lines[start + 2 :])}
    assert rows["bf16"] == ["275.3", "275.3", "224.0", "32.0"], rows
    assert rows["fp8"] == ["not", "native"], rows
    assert rows["HBM"] == ["1228.8", "GB/s"], rows
    assert rows["VMEM"] == ["8601.6", "GB/s", "of", "loads,", "7.0", "times", "HBM"], rows


@test
def what_follows_from_no_loads():
    """Without a byte a second there is no ridge."""
    out = expect(["show", "machine", "tpu-v4", "--set", "core.slots.vld=0"])
    row, = (line.split()[2:] for line in out.splitlines() if line.startswith("#   bf16"))
    assert row == ["275.3", "275.3", "224.0", "-"], out


@test
def instructions_fit_the_terminal_and_the_document_is_theirs():
    lines = expect(["show", "isa"]).splitlines()
    assert max(map(len, lines)) <= 100
    at = next(i for i, line in enumerate(lines) if line.split()[:1] == ["vadd.f32"])
    assert lines[at].split() == ["vadd.f32", "d,", "a,", "b", "valu", "vector_alu"] and lines[at + 1].strip() == "d = a + b"
    assert expect(["show", "isa", "--markdown"]) == Path("docs/isa.md").read_text()


@test
def functions_of_checks_are_in_the_document():
    table = expect(["show", "functions", "--markdown"])
    assert table in Path("docs/program.md").read_text(), "stale: put the table of tilesim show functions --markdown there"
    assert "| `softmax(x, axis=-1)` | exp(x) / sum(exp(x)) along an axis | as exp, and three roundings |\n" in table
    lines = expect(["show", "functions"]).splitlines()
    assert lines[:2] == ["abs(x)", "    magnitude; error: none"] and max(map(len, lines)) <= 100
    assert sum(not line.startswith(" ") for line in lines) == len(table.splitlines()) - 2


@test
def operations_of_kernels_fit_the_terminal():
    lines = expect(["show", "ops"]).splitlines()
    assert max(map(len, lines)) <= 100
    assert sum(not line.startswith(" ") for line in lines) == len(expect(["show", "ops", "--markdown"]).splitlines()) - 2


@test
def functions_over_layouts_are_in_the_document():
    table = expect(["show", "algebra", "--markdown"])
    assert table in Path("docs/layouts.md").read_text(), "stale: put the tables of tilesim show algebra --markdown there"
    lines = expect(["show", "algebra"]).splitlines()
    assert max(map(len, lines)) <= 100
    assert "  complement(A, [target])" in lines and "          = ((2,2),3):((24,2),8)" in lines
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == sum(line.startswith("          = ") for line in lines) and len(rows) > 80


@test
def macros_to_include_are_in_the_document():
    """Those that programs use, with the arguments they have."""
    shown = set(re.findall(r"^\| `(\w+) ?([^`]*)` \| `(\w+\.tsim)` \|", Path("docs/program.md").read_text(), re.MULTILINE))
    used = set()
    for path in Path("programs").glob("*.tsim"):
        text = path.read_text()
        for name in re.findall(r'^\.include "(include/.*)"', text, re.MULTILINE):
            file = path.parent / name
            for macro, arguments in re.findall(r"^\.macro (\w+)[ ]*([^;\n]*?) *(?:;.*)?$", file.read_text(), re.MULTILINE):
                if re.search(rf"^(?:\w+:)? +{macro}\b", text, re.MULTILINE) and f".macro {macro} " not in text:
                    used.add((macro, arguments, file.name))
    assert shown == used, (shown - used, used - shown)



@test
def json_of_a_machine():
    value = expect_json(["show", "machine", "tpu-v6e"], schema="tilesim.machine", machine="tpu-v6e", title="TPU v6e",
                        hbm_bytes_per_second=1638400000000)
    assert value["operations_per_second"]["int8"]["peak"] == 1835008000000000
    assert value["operations_per_second"]["bf16"]["hbm_ridge"] == 560.0
    assert len(value["machine_hash"]) == 16
    figures = value["figures"]
    assert figures["hbm.timing.t_rcd_rd"] == {"value": 31, "unit": "ck", "given": "19.375 ns", "status": "assumed",
                                              "source": "assumed (R3: 31 ck)"}
    assert figures["memories.vmem.capacity"]["value"] == 128 << 20
    assert figures["memories.vmem.capacity"]["unit"] == "B"
    assert figures["hbm.controller.scheduler"]["value"] == "row_hit"
    assert figures["memories.vmem.per_core"]["value"] is True


@test
def figures_as_given():
    """Each figure, set to the text that the JSON has of it, gives the same figure; a time in ns follows the clock."""
    for name in NAMES:
        figures = expect_json(["show", "machine", name])["figures"]
        given = {path: figure["given"] for path, figure in figures.items() if "given" in figure}
        assert all(figure["value"] is None or isinstance(figure["value"], str) for path, figure in figures.items() if path not in given)
        again = expect_json(["show", "machine", name, *(word for path, text in given.items() for word in ("--set", f"{path}={text}"))])["figures"]
        assert {path: (figure["value"], figure.get("given")) for path, figure in again.items()} == {
            path: (figure["value"], figure.get("given")) for path, figure in figures.items()}, name
    changed = expect_json(["show", "machine", "tpu-v6e", "--set", "hbm.clock=800MHz"])["figures"]
    assert (changed["hbm.timing.t_rcd_rd"]["value"], changed["hbm.timing.t_rcd_rd"]["given"]) == (16, "19.375 ns")
    assert changed["hbm.clock"]["given"] == "800 MHz" and changed["memories.vmem.per_core"]["given"] == "true"


@test
def status_marks():
    figures = expect_json(["show", "machine"])["figures"]
    assert figures["chip.tensor_cores"]["status"] == "published"
    assert figures["hbm.rows"]["status"] == "derived"
    changed = expect_json(["show", "machine", "--set", "hbm.stacks=4"])["figures"]["hbm.stacks"]
    assert changed == {"value": 4, "unit": "stacks", "given": "4", "status": "unstated", "source": "override"}


@test
def the_list():
    lines = expect(["show", "machine", "--list"]).splitlines()
    assert [line.split()[0] for line in lines[1:]] == NAMES
    assert "tpu-v5e               819.2         16 GiB        196.6  TPU v5e, the default" in lines
    assert all(line[39:42] in ("GiB", "HBM") for line in lines), lines  # in columns, however long the titles
    value = expect_json(["show", "machine", "--list"], default="tpu-v5e")
    assert [machine["machine"] for machine in value["machines"]] == NAMES
    for words, found in ((["tpu-v4"], "tpu-v4"), (["--set", "hbm.stacks=2"], "--set")):
        code, out, err = run("show", "machine", "--list", *words)
        assert code == 2 and out == "" and f"--list is of all machines, as they are: found {found}" in err, err


@test
def schema_has_every_figure():
    fields = expect_json(["show", "schema"], schema="tilesim.schema")["fields"]
    assert fields["hbm.channels"] == {"type": "integer", "range": "1 to 64, a power of two", "unit": "channels",
                                      "meaning": "channels of a stack"}
    assert fields["dma.issue"] == {"type": "time", "range": "0 ns to 1 ms", "unit": "ps",
                                   "meaning": "from issue to the first request"}
    for path in expect_json(["show", "machine", "tpu-v4"])["figures"]:
        words = path.split(".")
        if words[0] in ("memories", "energy"):
            words[1] = "*"
        assert ".".join(words) in fields, path
    text = expect(["show", "schema"])
    assert max(map(len, text.splitlines())) <= 100
    assert [line.split()[0] for line in text.splitlines() if not line.startswith(" ")] == list(fields)
    document = expect(["show", "schema", "--markdown"])
    assert document == Path("docs/machine.md").read_text()
    assert [line.split("`")[1] for line in document.splitlines() if line.startswith("| `")] == list(fields)


@test
def example_of_the_document():
    text = Path("docs/machine.md").read_text().split("```yaml\n")[1].split("```")[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "my.yaml")
        path.write_text(text)
        value = expect_json(["show", "machine", path], title="v5e with twice the HBM",
                            hbm_bytes_per_second=1638400000000)
    assert value["figures"]["hbm.stacks"] == {"value": 4, "unit": "stacks", "given": "4", "status": "assumed",
                                              "source": "assumed (what if)"}


@test
def bad_command_lines():
    end = "`tilesim show --help` shows how it is used\n"
    expect(["show", "machin"], code=2, out="",
           err="tilesim show: error: found 'machin', expected machine, mesh, schema, isa, functions, algebra, ops or program; did you mean 'machine'?\n" + end)
    expect(["show", "schema", "x"], code=2, out="",
           err="tilesim show: error: found 'x' behind schema, expected nothing\n" + end)
    for args, option in ((["isa", "--json"], "json"), (["machine", "-m", "tpu-v4"], "machine"),
                         (["program", "programs/add.tsim", "--list"], "list"), (["schema", "-D", "A=1"], "define")):
        expect(["show", *args], code=2, out="", err=f"tilesim show: error: --{option} is not of {args[0]}\n{end}")
    expect(["show", "machine", "--set", "hbm.stacks"], code=2, out="",
           err="--set:1:11: error: expected a field and a value: path.to.field=value\nhbm.stacks\n          ^\n" + end)


@test
def bad_machines():
    code, out, err = run("show", "machine", "tpu-v5")
    assert (code, out) == (1, "") and err.endswith("; did you mean 'tpu-v5e'?\n"), err
    assert err.startswith("tilesim: error: no machine is called 'tpu-v5', and it is no path of a file: "), err
    expect(["show", "machine", "configs/"], code=1, out="",
           err="tilesim: error: cannot read 'configs/': it is a directory\n")
    expect(["show", "machine", "no.yaml"], code=1, out="",
           err="tilesim: error: cannot open 'no.yaml': No such file or directory\n")


@test
def bad_files():
    cases = {
        "base: tpu-v5e\nhbm:\n    stakcs: 2\n":
            "3:5: error: unknown key 'hbm.stakcs'; did you mean 'hbm.stacks'?\n    stakcs: 2\n    ^\n",
        "base: tpu-v5e\nhbm: {clock: .nan}\n":
            "2:14: error: hbm.clock: found '.nan', expected a frequency such as 1.5 GHz from 1 MHz to 20 GHz\n"
            "hbm: {clock: .nan}\n             ^\n",
        "base: tpu-v5e\nhbm: &a {timing: *a}\n":
            "2:18: error: the alias '*a' stands inside what it refers to\nhbm: &a {timing: *a}\n                 ^\n",
        "title: x\n":
            "1:1: error: 'chip.generation' is missing: number of the TPU generation, of which XLA's tiles depend, "
            "an integer from 1 to 99\ntitle: x\n^\n",
        "base: tpu-v5e\nmxu: {edge: 128, edge: 256}\n":
            "2:18: error: duplicate key 'edge': it is also on line 2\nmxu: {edge: 128, edge: 256}\n"
            "                 ^\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.yaml")
        for text, err in cases.items():
            path.write_text(text)
            expect(["show", "machine", path], code=1, out="", err=f"{path}:{err}")


@test
def a_program_as_a_chart_and_a_map():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.tsim")
        path.write_text(".tensor x hbm f32[9,100]{1,0:T(8,128)} in iota\n.tensor n smem s32[3]\n.tensor b vmem f32[8,128]{1,0:T(8,128)}\n"
                        " vld v1, b[0, 0]\n vadd.f32 v2, v1, 1.0\n vst b[0, 0], v2\n")
        assert expect(["show", "program", path, "--live"]) == (
            "3 bundles, a column is 1; a register is live where its value is still read\n"
            "sregs   at most 0 of 32 live\n"
            "vregs   at most 1 of 64 live, before bundle 1, line 5\n"
            "  v1    .#.\n"
            "  v2    ..#\n"
            "vmasks  at most 0 of 16 live\n")
        lines = expect(["show", "program", path, "--map"]).splitlines()
        assert lines[0].startswith("hbm: 8,192 of ") and lines[2].split() == \
            ["0", "..", "8,191", "8,192", "x", "f32[9,100]{1,0:T(8,128)}"], lines
        assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == ["hbm", "vmem", "smem"], lines
    for program in sorted(Path("programs").glob("*.tsim")):
        assert max(map(len, expect(["show", "program", program, "--live"]).splitlines())) <= 100, program


main()
