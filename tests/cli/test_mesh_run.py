"""tilesim run --mesh: a program on many devices, its links, and what it says of wrong ones."""
import array
import functools
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, LONG, cases, expect, expect_json, main, release_test, run, test

FOLDER = tempfile.TemporaryDirectory()
HERE = Path(FOLDER.name)
MACHINE = ["-m", "tpu-v5p"]
PROGRAMS = sorted(Path("programs/mesh").glob("*.tsim"))
SMALL = ["-D", "ROWS=16"]


def fails(words, code, *found):
    """The exit code, and texts of the error."""
    is_, _, err = run(*words)
    assert is_ == code and all(text in err for text in found), (words, is_, err)


def program(text, name="a.tsim"):
    path = HERE / name
    path.write_text(text)
    return path


@functools.cache
def small_run(path, mesh):
    return expect_json(["run", path, *MACHINE, "--mesh", mesh, *SMALL], passed=True)


@test
def programs_are_right_on_any_mesh():
    for path in PROGRAMS:
        for mesh in cases(("3", "4x4", "1", "2", "2x3", "5"), 1, 5):
            out = small_run(path, mesh)
            assert out["checks"] and all(check["passed"] for check in out["checks"]), (path, mesh)
            extents = [int(extent) for extent in mesh.split("x")]
            assert list(out["mesh"]["axes"].values()) == extents
            devices = out["mesh"]["devices"]
            assert [row["device"] for row in devices] == list(range(len(devices)))
            assert max(row["cycles"] for row in devices) == out["cycles"] == devices[out["mesh"]["slowest_device"]]["cycles"]


@test
def a_mesh_file_says_what_machine():
    words = ["run", "programs/mesh/halo.tsim", *SMALL, "--time-only", "--mesh"]
    assert expect([*words, "v5e-16"]) == expect([*words, "4x4", "-m", "tpu-v5e"])
    assert expect_json([*words, "v5p-64"])["cycles"] == expect_json([*words, "4x4x4", *MACHINE])["cycles"]


@test
def shardings_of_parts_of_axes_are_shown_as_they_are_read():
    lines = [".tensor x hbm f32[16,256]{1,0:T(8,128)} %s in iota" % sharding for sharding in (
        "{devices=[2,2]<=[2,2]T(1,0)}", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "P(None, 'x')")]
    for line in lines:
        shown = expect(["show", "program", program(line + "\n nop\n"), "--mesh", "4"])
        assert shown == line + "\n    nop\n", shown


@release_test
def a_program_is_shown_as_it_is_assembled():
    for path in PROGRAMS:
        name = f"mesh/{path.stem}"
        words = [*MACHINE, "--mesh", "2x2"]
        shown = expect(["show", "program", name, *words])
        again = program(shown, "shown.tsim")
        assert expect(["show", "program", again, *words]) == shown, path
        assert expect_json(["run", again, *words], passed=True)["cycles"] == expect_json(["run", name, *words])["cycles"]
    fails(["show", "program", "mesh/halo", "--mesh", "2x"], 1, "error: ")
    fails(["show", "machine", "--mesh", "2"], 2, "--mesh is not of machine")
    fails(["run", "mesh/nothing", "--mesh", "2"], 1, "cannot open 'mesh/nothing'")


@release_test
def a_run_is_bound_by_its_busiest_link():
    words = ["run", "mesh/all_gather", *MACHINE, "--mesh", "16", "--time-only", "-D"]
    for rows, bound in ((1024, "ici"), (8, "latency")):
        out = expect_json([*words, f"ROWS={rows}"])
        top = max(out["mesh"]["links"], key=lambda link: link["busy_percent"])
        roof = out["roofline"]
        assert (roof["bound"], roof["bound_unit"], roof["bound_link"]) == (bound, "ici", top["link"]), roof
        assert roof["bound_link_busy_percent"] == top["busy_percent"] > max(roof["busy_percent"].values())
        assert abs(roof["least_cycles"] - out["cycles"] * top["busy_percent"] / 100) < 1 + out["cycles"] * 5e-6
        text = expect([*words, f"ROWS={rows}"])
        assert ("latency: " if bound == "latency" else "bound by   ") + f"ici link {top['link']}, busy {top['busy_percent']:.1f} % of the time" in text, text
    assert "bound_link" not in expect_json(["run", "mesh/all_gather", *MACHINE, "--mesh", "1"])["roofline"]


@test
def threads_do_not_show():
    for number, path in enumerate(cases(PROGRAMS, 3)):
        words = ["run", path, *MACHINE, "--mesh", "4x2", *SMALL, "--json"]
        alone = expect(words)
        for threads in ("3", "2", "8") if LONG else ("328"[number % 3],):
            expect([*words, "-j", threads], out=alone)


@release_test
def time_only_takes_the_same_time():
    for path in PROGRAMS:
        words = ["run", path, *MACHINE, "--mesh", "4x4", *SMALL]
        assert expect_json([*words, "--time-only"])["cycles"] == small_run(path, "4x4")["cycles"], path


@test
def the_sanitizer_is_content():
    for path in cases(PROGRAMS, 4):
        words = ["run", path, *MACHINE, "--mesh", "2x3" if ALL else "2x2", *SMALL]
        out = expect_json([*words, "--check"], passed=True)
        assert out["findings"] == [] and out["warnings"] == [], (path, out)
        assert not ALL or out["cycles"] == small_run(path, "2x3")["cycles"], path


ADDENDS, PARTS = "f32[8,{rings},512,1024] P(unreduced={{'x'}})", "f32[8,{rings},512,1024] P('x')"
COLLECTIVES = {"all_gather": (PARTS, "f32[8,{rings},512,1024]"), "reduce_scatter": (ADDENDS, PARTS), "all_reduce": (ADDENDS, "f32[8,{rings},512,1024]"),
               "all_to_all": ("f32[8,8,512,1024] P('x')", "f32[8,8,512,1024] P(None, 'x')")}


def time_and_price(name, algorithm):
    """Of a program on 8 devices, in us: all of it, what it waits for data, and the price of the same movement."""
    rings = 2 if algorithm == "bidirectional" else 1
    words = [*MACHINE, "--mesh", "8"]
    options = [] if name == "all_to_all" else ["-D", f"RINGS={rings}"]
    out = expect_json(["run", f"mesh/{name}", *words, *options, "-D", "ROWS=512", "-D", "COLS=1024", "--time-only"])
    source, destination = (text.format(rings=rings) for text in COLLECTIVES[name])
    price = expect_json(["reshard", source, destination, *words, "--algorithm", algorithm, "--no-proof"])
    vregs = 7 * rings * 512 * 1024 // 1024 if name in ("reduce_scatter", "all_reduce") else 0
    return out["microseconds"], out["stalls"]["semaphore_low"] / 1750, price["microseconds"], vregs


@release_test
def programs_take_what_a_reshard_is_priced_at():
    """The table of docs/mesh.md. A device waits for ici.launch and for the links as long as the price says, and up to 4 % for the start
    of each DMA, the first bytes of HBM, and addends; an all-to-all is priced as if all went as far as the farthest. The rest are additions,
    which the price leaves out: two loads, a sum and a store after each other, up to 20 cycles for a vreg."""
    table = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", Path("docs/mesh.md").read_text(), re.M)
    assert len(table) == 7 and {row[0] for row in table} == set(COLLECTIVES), table
    for name, algorithm, *shown in table:
        taken, waited, priced, vregs = time_and_price(name, algorithm)
        assert 0.97 * priced <= waited <= 1.04 * priced, (name, algorithm, priced, waited)
        assert 4 * vregs / 1750 <= taken - waited <= 20 * vregs / 1750 + 3, (name, algorithm, taken, waited, vregs)
        row = [f"{taken:.1f}", f"{waited:.1f}", f"{priced:.1f}", f"{waited / priced:.3f}"]
        assert shown == row, (name, algorithm, row)


@release_test
def what_is_passed_over_takes_what_it_takes_walked():
    words = ["run", "mesh/all_gather", *MACHINE, "--mesh", "8", "-D", "ROWS=512", "-D", "COLS=2048", "--time-only"]
    short, exact = expect_json(words), expect_json([*words, "--exact"])
    assert short["estimated"] and not exact["estimated"] and short["recalled_transfers"] > 0
    for key in "cycles", "hbm_read_bytes", "hbm_written_bytes":
        assert abs(short[key] - exact[key]) <= 0.001 * exact[key], (key, short[key], exact[key])
    energies = [out["hbm_energy_joules"]["total"] for out in (short, exact)]
    assert abs(energies[0] - energies[1]) <= 0.03 * energies[1], energies


@release_test
def collectives_are_launched_once():
    """By the first transfer of each device, not by signals, nor by a transfer to the device itself."""
    text = HEAD + "  sadd s2, s1, 1\n  smod s2, s2, 4\n"
    push = "  dma y <- x, a, b device=s2\n  wait a\n  wait b\n"
    for body, launched in ((push, 1), (push * 3, 1), ("  dma y <- x, a, b device=s1\n  wait a\n  wait b\n", 0), ("  sem.signal c, 1, s2\n  wait c\n", 0)):
        words = ["run", program(text + body), *MACHINE, "--mesh", "4", "--time-only"]
        cycles = [expect_json([*words, "--set", f"ici.launch={us} us"])["cycles"] for us in (0, 10)]
        assert abs(cycles[1] - cycles[0] - launched * 17500) <= 300 * launched, (body, cycles)


@test
def what_arrives_takes_the_memory_of_the_receiver():
    """An HBM of one channel is slower than a link: what all devices send and get cannot take less than its bytes. VMEM takes none of it."""
    slow = ["--set", "hbm.stacks=1", "--set", "hbm.channels=1", "--set", "memories.hbm.capacity=1 GiB"]
    text = """.tensor x hbm f32[{rows},1024]{{1,0:T(8,128)}} in
.tensor y {space} f32[{rows},1024]{{1,0:T(8,128)}} {role}
.tensor z hbm f32[{rows},1024]{{1,0:T(8,128)}} {z}
.tensor v vmem f32[{rows},1024]{{1,0:T(8,128)}}
.sem sent, came, local
  device.id s1
  sadd s1, s1, 1
  smod s1, s1, mesh.devices
  dma y <- x, sent, came device=s1
{local}
  wait sent
  wait came
"""
    rows, peak = 256, 2764.8 / 64
    useful = rows * 1024 * 4
    written = {}
    for space, local in ("hbm", 0), ("vmem", 0), ("hbm", 1):
        path = program(text.format(rows=rows, space=space, role="out" if space == "hbm" else "", z="in" if local else "",
                                   local="  dma v <- z, local\n  wait local" if local else ""), "slow.tsim")
        out = expect_json(["run", path, *MACHINE, "--mesh", "4", *slow, "--time-only", "--exact"])
        bytes_ = useful * (2 if space == "hbm" else 1) + local * useful
        assert out["microseconds"] >= bytes_ / peak / 1000 or space == "vmem", (space, local, out["microseconds"])
        written[space, local] = out["microseconds"], out["hbm_written_bytes"]
    assert [written[key][1] for key in written] == [useful, 0, useful], written
    assert written["vmem", 0][0] < written["hbm", 0][0] < written["hbm", 1][0], written


@release_test
def what_is_multiplied_meanwhile_hides_the_gather():
    rows, k, devices = 256, 1024, 8
    words = ["run", "programs/mesh/collective_matmul.tsim", *MACHINE, "--mesh", str(devices), "-D", f"ROWS={rows}", "-D", f"K={k}", "-D",
             "COLS=2048", "--time-only"]
    behind, beside = (expect_json([*words, "-D", f"OVERLAP={overlap}"])["microseconds"] for overlap in (0, 1))
    array = f"bf16[{devices * rows},{k}]"
    price = expect_json(["reshard", f"{array} P('x')", array, *MACHINE, "--mesh", str(devices), "--algorithm", "ring"])
    assert behind - beside >= 0.95 * (price["microseconds"] - 3.8), (behind, beside, price["microseconds"])


@test
def buffers_of_parts_are_reused_in_order():
    for name, buffers in cases([(name, buffers) for name in ("collective_matmul", "ring_attention") for buffers in (2, 3, 4, 7)], 2, 5):
        words = ["run", f"programs/mesh/{name}.tsim", *MACHINE, "--mesh", "7" if ALL else "3", *SMALL, "-D"]
        out = expect_json([*words, f"BUFFERS={buffers}", "--check"], passed=True)
        assert out["findings"] == out["warnings"] == [] and out["checks"][0]["passed"], (name, buffers)
        fails([*words, "BUFFERS=1"], 1, "BUFFERS must be 2 or more")


@test
def what_would_compute_wrong_values_or_wait_for_ever_is_refused():
    for name, value, why in (("ring_attention", "CAUSAL=2", "CAUSAL must be 0 or 1"),
                             ("ring_attention", "PART_SENDS=3", "PART_SENDS: that of this program"),
                             ("collective_matmul", "PART_SENDS=2", "PART_SENDS: that of this program")):
        fails(["run", f"programs/mesh/{name}.tsim", *MACHINE, "--mesh", "3", *SMALL, "-D", value], 1, why)


@test
def attention_over_devices():
    """Several blocks and heads, keys that do not fill a step, units that two products share; and what its bound must see."""
    words = [*MACHINE, "--mesh", "3", "--check"]
    for causal in 0, 1:
        for values in cases((["ROWS=40", "-D", "HEADS=1", "-D", "D=33"], ["ROWS=270"]), 1):
            for units in cases(([], ["--set", "mxu.units=1"]), 1):
                out = expect_json(["run", "programs/mesh/ring_attention.tsim", *words, "-D", f"CAUSAL={causal}", "-D", *values, *units], passed=True)
                assert out["findings"] == out["warnings"] == [] and out["checks"][0]["passed"], (causal, values)
    text = Path("programs/mesh/ring_attention.tsim").read_text()
    text = re.sub(r'\.include "(.*)"', lambda found: (Path("programs/mesh") / found[1]).read_text(), text)
    for old, new in cases((("meet    RESUME", "meet    BEGIN"), ("smov    KEY_LIMIT, 0", "smov    KEY_LIMIT, 1"),
                           ("br.le   part, device", "br.lt   part, device")), 1):
        assert old in text
        code, out, err = run("run", program(text.replace(old, new), "attention.tsim"), *MACHINE, "--mesh", "3", "-D", "ROWS=40")
        assert code == 3 and "FAILED" in out, (old, err)


@test
def files_are_dealt_out_and_gathered():
    x = array.array("f", range(6 * 16 * 128)).tobytes()
    (HERE / "x.bin").write_bytes(x)
    path = program("""
.tensor x hbm f32[6,16,128]{2,1,0:T(8,128)} P('y', None, None) in
.tensor y hbm f32[6,16,128]{2,1,0:T(8,128)} P('y', None, None) out
.sem s
.check y ~= x
  dma y <- x, s
  wait s
""")
    out = expect_json(["run", path, *MACHINE, "--mesh", "2x3", "-i", f"x={HERE}/x.bin", "-o", f"y={HERE}/y.npy"], passed=True)
    assert out["tensors"][0]["shape"] == "f32[2,16,128]{2,1,0:T(8,128)}"
    assert (HERE / "y.npy").read_bytes().endswith(x)


@test
def coordinates_and_numbers():
    path = program("""
.param N = mesh.devices
.tensor y hbm s32[N, 8]{1,0} {devices=[N,1]<=[N]} out
.tensor m smem s32[8]{0}
.sem s
.check y[:, 0] ~= iota(N, 1)
.check y[:, 1] ~= 0 * iota(N, 1) + 6
.check y[:, 2] ~= iota(N) // 3
.check y[:, 3] ~= iota(N) % 3
.check y[:, 4] ~= 0 * iota(N) + 2
.check y[:, 5] ~= 0 * iota(N) + mesh_y
.check y[:, 6] ~= 0 * iota(N)
.check y[:, 7] ~= 0 * iota(N) + 1
.param mesh_y = mesh.size.b
  device.id s1
  sst m[0], s1
  device.count s1
  sst m[1], s1
  axis.index s1, 0
  sst m[2], s1
  axis.index s1, 1
  sst m[3], s1
  axis.size s1, 0
  sst m[4], s1
  axis.size s1, 1
  sst m[5], s1
  axis.index s1, 2
  sst m[6], s1
  axis.size s1, 2
  sst m[7], s1
  dma y[0, :] <- m, s
  wait s
""")
    text = path.read_text().replace(".check y[:, 0] ~= iota(N, 1)", ".check y[:, 0] ~= iota(N)").replace("iota(N, 1) + 6", "iota(N) + 6")
    path.write_text(text)
    expect_json(["run", path, *MACHINE, "--mesh", "a=2,b=3"], passed=True)


HEAD = """
.tensor x hbm f32[8,128]{1,0:T(8,128)} in iota
.tensor y hbm f32[8,128]{1,0:T(8,128)} out
.sem a, b, c
  device.id s1
"""


@test
def devices_that_do_not_exist():
    for line, found in (("dma y <- x, a, b device=4", "there is no device 4, expected 0 to 3"),
                        ("dma y <- x, a, b device=s1 - 1", "there is no device -1, expected 0 to 3"),
                        ("sem.signal a, 1, 7", "there is no device 7, expected 0 to 3"),
                        ("sem.signal a, 0, 1", "a signal of 0, expected 1 or more")):
        fails(["run", program(HEAD + line + "\n"), *MACHINE, "--mesh", "4"], 3, found, "device 0: ")


@test
def texts_that_are_wrong():
    for line, found in (("dma y <- x, a, b", "expected device=, whose semaphore this is"),
                        ("dma y <- x, a, d device=1", "unknown semaphore 'd'"),
                        ("dma y <- x, a, b device=", "found the end of the line"),
                        (".tensor z hbm f32[8,8]{1,0} P('z') out", "the mesh has no axis 'z'"),
                        (".tensor z hbm f32[8,8]{1,0} P(unreduced={'x'}) in", "give the addends a dim of their own"),
                        (".tensor z hbm f32[8,8] vpad<\"32,{0,0},(8,128)\"> P('x') out", "in XLA's notation")):
        fails(["run", program(HEAD + line + "\n"), *MACHINE, "--mesh", "4"], 1, found)
    fails(["run", program(HEAD + ".tensor z hbm f32[8,8]{1,0} P('x') out\n"), *MACHINE], 1,
          "a sharding needs a mesh of devices to run on")


@test
def dims_that_do_not_divide():
    """Parts of 2, 2, 1 and no rows: padding is 0, need not be written, and is in no output."""
    text = """
.tensor x hbm f32[5,128]{1,0:T(8,128)} P('x') in iota
.tensor y hbm f32[5,128]{1,0:T(8,128)} P('x') out
.sem a
.param LAST = 2
.check y ~= x
  device.id s1
  br.ge s1, 3, end
  dma y[0:1, :] <- x[0:1, :], a
  wait a
  br.ge s1, LAST, end
  dma y[1:2, :] <- x[1:2, :], a
  wait a
end: nop
"""
    saved = HERE / "y.npy"
    words = ["run", program(text), *MACHINE, "--mesh", "4", "--check"]
    out = expect_json([*words, "-D", "LAST=2", "-o", f"y={saved}"], passed=True)
    assert out["findings"] == [] and out["checks"][0]["elements"] == 640, out
    assert array.array("f", saved.read_bytes()[-4 * 640:]).tolist() == list(range(640))
    fails([*words, "-D", "LAST=1"], 3, "device 1: y[1,0] was never written")
    for mesh in ("6", "2x3", "1"):
        whole = program(text.split("device.id")[0] + "dma y <- x, a\n  wait a\n", "whole.tsim")
        expect_json(["run", whole, *MACHINE, "--mesh", mesh, "--check"], passed=True)


@test
def options_that_do_not_go_together():
    path = program(HEAD + "nop\n")
    for words, code, found in ((["--topology", "4"], 2, "--topology is of a mesh, expected --mesh as well"),
                               (["--mesh", "4", "-j", "0"], 2, "--jobs is 0, expected 1 to 256"),
                               (["--mesh", "0"], 1, "found extent 0"),
                               (["--mesh", "4", "--set", "ici.hop=0 ns"], 1, "ici.hop is 0")):
        fails(["run", path, *MACHINE, *words], code, found)
    for command in (["run", path], ["debug", path], ["layout", "f32[8]"], ["layout", "f32[8]", "f32[8]{0:T(128)}"],
                    ["layout", "--eval", "size(8)"], ["audit", "tests/data/hlo/step.txt"]):
        for option, value in (("topology", "4"), ("fail-link", "(0)->(1)")):
            fails([*command, f"--{option}", value], 2, f"--{option} is of a mesh, expected --mesh as well")


@test
def failed_links_and_other_orders():
    """In the order that goes round, each step of a ring is one hop; without a link, all the way back."""
    words = ["run", "programs/mesh/all_gather.tsim", *SMALL, "--check", "--mesh"]
    order = HERE / "order.yaml"
    text = "title: four\nmachine: tpu-v5e\ndims:\n  i: {chips: 2, wrap: line}\n  j: {chips: 2, wrap: line}\norder: %s\n"
    order.write_text(text % "0,1,3,2")
    round_ = expect_json([*words, order], passed=True)
    order.write_text(text % "row_major")
    plain = expect_json([*words, order], passed=True)
    assert [link["link"] for link in round_["mesh"]["links"] if link["bytes"]] == ["(0,0) -> (0,1)", "(0,1) -> (1,1)", "(1,0) -> (0,0)", "(1,1) -> (1,0)"]
    assert round_["cycles"] < plain["cycles"]
    broken = expect_json([*words, "4", "-m", "tpu-v5p", "--fail-link", "(3)->(0)"], passed=True)
    whole = expect_json([*words, "4", "-m", "tpu-v5p"], passed=True)
    assert broken["cycles"] > whole["cycles"] and "(3) -> (0)" not in [link["link"] for link in broken["mesh"]["links"]]
    fails([*words, "4", "-m", "tpu-v5e", "--fail-link", "(0)->(1)"], 1, "no way is left from (0) to (1)")
    trace = HERE / "trace.json"
    expect([*words, "4", "-m", "tpu-v5p", "--fail-link", "(3)->(0)", "--trace", trace])
    assert '"link 0- (3) -> (2)"' in trace.read_text() and '"link 0+ (3) -> (0)"' not in trace.read_text()


@test
def two_devices_a_chip():
    words = ["-m", "tpu-v7x", "--mesh", "8", "--topology", "2x2", *SMALL]
    for path in cases(PROGRAMS, 1):
        out = expect_json(["run", path, *words, "--check"], passed=True)
        assert out["findings"] == out["warnings"] == [] and len(out["mesh"]["devices"]) == 8, path
        assert len(out["mesh"]["links"]) == 8
    trace = HERE / "v7x.json"
    expect(["run", PROGRAMS[0], *words, "--trace", trace])
    assert trace.read_text().count('"link 1+ (0,0) -> (0,1)"') == 1
    fails(["run", PROGRAMS[0], *words, "--set", "hbm.stacks=7", "--set", "hbm.channels=1", "--set", "memories.hbm.capacity=1 GiB"], 1, "2 parts do not share 7 stacks of HBM evenly")


@test
def a_page_draws_devices_and_links():
    page = HERE / "page.html"
    expect(["run", "mesh/halo", *MACHINE, "--mesh", "3", *SMALL, "--html", page], out=None)
    text = page.read_text()
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)[1])
    rows = {(track["row"]["process"], track["row"]["name"]): track["row"]["events"] for track in data["tracks"]}
    names = {process for process, _ in rows}
    assert names == {"device 0 (x=0)", "device 1 (x=1)", "device 2 (x=2)"}, names
    events = rows["device 0 (x=0)", "link 0+ (0) -> (1)"]
    sent = [(data["what"][what][0], many) for what, many in zip(events[2::4], events[3::4])]
    assert sent == [("b <- x", 512), ("b <- x", 512)], sent  # its last row, and its first to device 2, which has no ring to go round
    assert "<h2>Mesh</h2>" in text and "busiest link (0) -&gt; (1)" in text
    expect(["run", "mesh/all_gather", *MACHINE, "--mesh", "3", "--time-only", "--html", page], out=None)
    assert "ici (a link " in page.read_text()


@release_test
def cycles_are_golden():
    for path in PROGRAMS:
        golden = [line.split() for line in path.with_suffix(".cycles").read_text().splitlines()]
        assert [words[:2] for words in golden] == [["tpu-v5e", "2x3"], ["tpu-v5p", "4"]], path
        for machine, mesh, cycles in golden:
            expect_json(["run", path, "-m", machine, "--mesh", mesh, "--time-only"], cycles=int(cycles))


@test
def update_rewrites_the_line_of_a_mesh():
    path = program("delay 10\n", "u.tsim")
    cycles = path.with_suffix(".cycles")
    cycles.write_text("tpu-v5p 1\ntpu-v5p 4 2\ntpu-v5p 4x4 3\n")
    expect(["run", path, "--update", *MACHINE, "--mesh", "4"], out=None)
    assert cycles.read_text() == "tpu-v5p 1\ntpu-v5p 4 10\ntpu-v5p 4x4 3\n", cycles.read_text()
    expect(["run", path, "--update", *MACHINE, "--mesh", "2"], out=None)
    expect(["run", path, "--update", *MACHINE], out=None)
    assert cycles.read_text() == "tpu-v5p 10\ntpu-v5p 4 10\ntpu-v5p 4x4 3\ntpu-v5p 2 10\n", cycles.read_text()
    fails(["run", path, "--update", *MACHINE, "--mesh", "4", "--topology", "4"], 2, "--update takes no -D, -i, --set, --topology or --fail-link")


@test
def a_deadlock_of_chips_with_several_cores_names_the_core_that_waits():
    """Also where core 0 has halted; one at a barrier waits for a core that is not."""
    words, head = ["-m", "tpu-v4", "--mesh", "2"], ".cores 2\n.sem a, b\n  device.id s1\n  core.id s2\n"
    path = program(head + "  brz s2, over\n  wait a, 2\nover: nop\n")
    fails(["run", path, *words], 3, f"{path}:6:3: fault at cycle 7: deadlock: core 1 of device 0 waits at line 6 "
                                    "for semaphore 'a[0]' to reach 2, it is 0, which no device would signal\n")
    path = program(head + "  sxor s3, s1, 1\n  brz s2, come\n  wait b\n  sem.signal b, 1, s3\ncome: barrier\n")
    waits = "waits at line 7 for semaphore 'b[0]' to reach 1, it is 0"
    fails(["run", path, *words], 3, f"deadlock: core 1 of device 0 {waits}, for core 1 of device 1 {waits}, "
                                    "for core 1 of device 0: a cycle\n")
    path = program(head + "  brnz s2, over\n  barrier\nover: nop\n")
    fails(["run", path, *words], 3, "deadlock: core 0 of device 0 waits at the barrier of line 6, "
                                    "for core 1 of device 0 has halted\n")


@test
def behind_a_barrier_each_core_has_heard_what_all_had():
    """One core is told that y is free, the other writes it: in order only if a barrier lies between."""
    text = """.cores 2
.tensor x vmem f32[8,128]{1,0:T(8,128)}
.tensor y vmem f32[8,128]{1,0:T(8,128)}
.sem sent, received, free
  device.id s1
  core.id s2
  sxor s3, s1, 1
  vmov v0, 1
  vst x[0, 0], v0
  brz s2, used
  vst y[0, 0], v0
used: barrier
  brnz s2, told
  sem.signal free, 1, s3
  wait free
told: BETWEEN
  brz s2, out
  delay 10000
  dma y <- x, sent, received device=s3
  wait sent
  wait received
out: nop
"""
    words = ["--check", "-m", "tpu-v4", "--mesh", "2"]
    expect(["run", program(text.replace("BETWEEN", "barrier")), *words], out=None)
    fails(["run", program(text.replace("BETWEEN", "nop")), *words], 3, "whose use here it did not wait for")


@test
def a_deadlock_of_long_names_is_cut():
    long = "n" * 2000
    path = program(f".sem {long}\n  device.id s1\n  sxor s2, s1, 1\n  wait {long}\n  sem.signal {long}, 1, s2\n")
    fails(["run", path, *MACHINE, "--mesh", "2"], 3, "deadlock: device 0 waits at line 4 for semaphore 'nnn")


@test
def a_deadlock_is_told_as_the_cycle_of_waits():
    path = program(HEAD + """
  sadd s2, s1, 1
  smod s2, s2, 4
  wait b
  dma y <- x, a, b device=s2
  wait a
""")
    expected = "deadlock: " + ", for ".join(
        f"device {d} waits at line 9 for semaphore 'b[0]' to reach 1, it is 0" for d in (0, 3, 2, 1)) + ", for device 0: a cycle"
    fails(["run", path, *MACHINE, "--mesh", "4"], 3, expected)
    path = program(HEAD + "  wait b\n")
    fails(["run", path, *MACHINE, "--mesh", "4"], 3,
          "deadlock: device 0 waits at line 6 for semaphore 'b[0]' to reach 1, it is 0, which no device would signal")
    path = program(HEAD + "  br.eq s1, 1, out\n  wait b\n  sem.signal b, 1, 0\nout: nop\n  br.eq s1, 1, over\n  sem.signal b, 1, 0\nover: nop\n")
    fails(["run", path, *MACHINE, "--mesh", "2"], 3,
          "device 0 waits at line 7 for semaphore 'b[0]' to reach 1, it is 0, for device 1 has halted")


@test
def copies_that_differ():
    path = program(HEAD + """
.tensor v vmem f32[8,128]{1,0:T(8,128)}
.check y ~= y
  vmov v1, s1
  vst v[0, 0], v1
  dma y <- v, a
  wait a
""")
    fails(["run", path, *MACHINE, "--mesh", "3"], 3,
          "the copies of 'y' on devices 0 and 1 differ, first in element 0 of the part")


@test
def what_was_forgotten():
    path = program(HEAD + "  dma y <- x, a, b device=s1\n  wait a\n")
    fails(["run", path, *MACHINE, "--mesh", "3"], 0, "device 0: semaphore b[0] is 1 at the end, expected 0", "3 times in all")


@test
def memory_is_counted_for_all_devices():
    path = program(".tensor y hbm f32[1048576]{0} out\n.tensor v vmem f32[1024]{0}\n.sem s\n dma y[0:1024] <- v, s\n wait s\n")
    expect_json(["run", path, *MACHINE, "--mesh", "2", "--max-memory", "16MiB"])
    fails(["run", path, *MACHINE, "--mesh", "8", "--max-memory", "16MiB"], 1, "y")


RACY = """
.tensor x hbm f32[8,128]{1,0:T(8,128)} in iota
.tensor y hbm f32[16,128]{1,0:T(8,128)} out
.tensor b vmem f32[2,8,128]{2,1,0:T(8,128)}
.sem l, s[2], r, free, o
  device.id s1
  sxor s2, s1, 1
  dma b[0] <- x, l
  wait l
  dma b[1] <- b[0], s[0], r device=s2
"""


@test
def what_came_is_waited_for():
    """Line 12 reads what the other device wrote; with the wait behind it, that is found."""
    late = "  delay 20000\n  vld v1, b[1, 0, 0]\n  wait r\n  wait s[0]\n  dma y[0:8] <- b[0], o\n  wait o\n  dma y[8:16] <- b[1], o\n  wait o\n"
    words = ["run", program(RACY + late), *MACHINE, "--mesh", "2", "--check"]
    fails(words, 3, "a.tsim:12:3", "device 0: this reads bytes of 'b' that a DMA of device 1 wrote, without waiting for it; it was won by",
          "the DMA that was not waited for", "[read_race]")
    fails(["run", program(RACY + late.replace("vld v1, b[1, 0, 0]", "vst b[1, 0, 0], v1")), *words[2:]], 3,
          "device 0: this writes bytes of 'b' that a DMA of device 1 wrote, without waiting for it", "[write_race]")
    in_order = late.replace("  delay 20000\n", "  wait r\n  delay 20000\n").replace("0, 0]\n  wait r\n", "0, 0]\n")
    expect_json(["run", program(RACY + in_order), *words[2:]], passed=True, findings=[])
    dma = late.replace("vld v1, b[1, 0, 0]", "dma y[8:16] <- b[1], o\n  wait o")
    fails(["run", program(RACY + dma), *words[2:]], 3, "a.tsim:12:7", "[read_race]")


@test
def what_is_in_use_is_not_written():
    """A second write to the same buffer: in order where its user said that it is free."""
    second = ("  wait r\n  wait s[0]\n  vld v1, b[1, 0, 0]\n{}  dma b[1] <- b[0], s[1], r device=s2\n  wait r\n  wait s[1]\n"
              "  dma y[0:8] <- b[0], o\n  wait o\n  dma y[8:16] <- b[1], o\n  wait o\n")
    words = [*MACHINE, "--mesh", "2", "--check"]
    fails(["run", program(RACY + second.format("")), *words], 3, "a.tsim:14:7",
          "device 0: this DMA of device 1 writes bytes of 'b' whose use here it did not wait for; it was won by",
          "the use: nothing that the sender waited for comes behind it", "[write_race]")
    credit = "  sem.signal free, 1, s2\n  wait free\n"
    expect_json(["run", program(RACY + second.format(credit)), *words], passed=True, findings=[])
    half = second.format(credit.replace("free, 1", "free, 2")).replace("  dma y[0:8]", "  wait free\n  dma y[0:8]")
    expect_json(["run", program(RACY + half), *words], passed=True, findings=[])  # who has a part knows that all has come
    poll = credit.replace("  wait free\n", "again:\n  sem.read s4, free\n  br.lt s4, 1, again\n")
    seen = second.format(poll).replace("  dma y[0:8]", "  sem.set free, 0\n  dma y[0:8]")
    expect_json(["run", program(RACY + seen), *words], passed=True, findings=[])
    early = second.format("").replace("  vld v1", credit + "  vld v1")
    fails(["run", program(RACY + early), *words], 3, "[write_race]")
    late = credit.replace("  wait free\n", "  delay 30000\n")  # which is there by then, but nobody waited for it
    fails(["run", program(RACY + second.format(late).replace("  dma y[0:8]", "  wait free\n  dma y[0:8]")), *words], 3,
          "a.tsim:16:7", "[write_race]")


@test
def semaphores_that_count_bytes():
    """Two transfers of 4,096 and 2,048 bytes, waited for by one wait, by two with other sizes, and in part."""
    text = RACY.replace(".sem l, s[2], r,", ".sem l, s[2] bytes, r bytes,") + "  dma b[1, 0:4] <- b[0, 4:8], s[1], r device=s2\n"
    first = "  wait r, %d\n  vld v1, b[1, 0, 0] mask=0x0f\n  wait r, %d\n  wait s[0], 4096\n  wait s[1], 2048\n"
    text += first + "  dma y[0:8] <- b[0], o\n  wait o\n  dma y[8:16] <- b[1], o\n  wait o\n"
    words = [*MACHINE, "--mesh", "2", "--check"]
    for counts in (6144, 0), (6143, 1):
        found = expect_json(["run", program(text % counts), *words[:-1]], passed=True)
        assert found["warnings"] == [], found
    expect_json(["run", program(text.replace("b[0, 4:8], s[1], r d", "b[0, 0:4], s[1], r d") % (6144, 0)), *words[:-1]], passed=True)
    fails(["run", program(text % (4096, 2048)), *words], 3, "[write_race]")  # the second overwrites what the first brought
    late = text.replace("b[1, 0:4] <-", "b[1, 4:8] <-").replace("dma b[1] <- b[0], s[0]", "dma b[1, 0:4] <- b[0, 0:4], s[0]").replace("s[0], 4096", "s[0], 2048")
    expect_json(["run", program(late % (2048, 2048)), *words], passed=True, findings=[], warnings=[])
    expect_json(["run", program(late % (4096, 0)), *words], passed=True, findings=[], warnings=[])
    fails(["run", program(late % (2047, 2049)), *words], 3, "[read_race]", "without waiting for it")
    fails(["run", program(late % (2048, 2047)), *words[:-1]], 0, "semaphore r[0] is 1 at the end, expected 0")
    fails(["run", program(late % (2048, 2049)), *words[:-1]], 3, "for semaphore 'r[0]' to reach 2049, it is 2048")
    shown = expect(["show", "program", program(late % (2048, 2048)), *words[:-1]])
    assert ".sem s[2] bytes\n.sem r[1] bytes\n.sem free[1]\n" in shown, shown
    expect_json(["run", program(shown, "shown.tsim"), *words], passed=True, findings=[])


@test
def a_barrier_puts_uses_in_order():
    path = Path("programs/mesh/all_to_all_in_place.tsim")
    without = path.read_text().replace("        mesh_barrier\n", "").replace("include/", "tilesim:/mesh/include/")
    fails(["run", program(without), *MACHINE, "--mesh", "4", *SMALL, "--check"], 3,
          "this DMA of device 3 writes bytes of 'x' whose use here it did not wait for", "[write_race]")


@test
def undefined_values_go_along():
    path = program(RACY.replace("  dma b[0] <- x, l\n  wait l\n", "") +
                   "  wait r\n  wait s[0]\n  dma y[0:8] <- b[1], o\n  wait o\n  dma y[8:16] <- x, o\n  wait o\n")
    fails(["run", path, *MACHINE, "--mesh", "2", "--check"], 3, "device 0: y[0,0] gets an undefined value from 'b'", "[undefined_output]")


main()
