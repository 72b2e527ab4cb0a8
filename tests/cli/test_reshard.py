"""tilesim reshard: what it prints, its JSON keys, algorithms, proofs and bad input."""
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, expect_json, main, run, test

MESH = ["--mesh", "4x4", "-m", "tpu-v4"]


@test
def text():
    lines = expect(["reshard", "f32[4096,4096] P(('x','y'))", "f32[4096,4096]", *MESH]).splitlines()
    assert all(len(line) <= 100 for line in lines), lines
    assert lines[0] == "array         f32[4096,4096]{1,0}, 64.0 MiB", lines
    assert lines[1] == "machine       tpu-v4 (TPU v4)", lines
    assert lines[3] == "links         chips 4 (ring) x 4 (ring); 45.0 GB/s one way, 1.00 us a hop, 3.80 us to launch", lines
    assert lines[-1].startswith("proof         f32[") and lines[-1].endswith(" bytes moved, all in place"), lines
    assert any(line.startswith("  1 all-gather     rings of a torus") for line in lines), lines


@test
def keys():
    found = expect_json(["reshard", "bf16[64,64] P('x', unreduced={'y'})", "bf16[64,64] P(None, 'x')", *MESH],
                        schema="tilesim.reshard", proved=True, topology=[4, 4], rings=[True, True])
    assert found["mesh"] == {"x": 4, "y": 4}
    assert sorted(c["kind"] for c in found["plan"]) == ["point-to-point", "reduce-scatter"], found
    assert abs(sum(c["microseconds"] for c in found["plan"]) - found["microseconds"]) < 2e-6
    assert found["source"]["spec"] == "P('x', None, unreduced={'y'})" and found["source"]["device_elements"] == 1024
    assert found["destination"]["copies"] == 4
    assert max(found["links"].values()) >= max(c["busiest_link_bytes"] for c in found["plan"])


@test
def times_are_in_picoseconds():
    found = expect_json(["reshard", "f32[2] P('x')", "f32[2]", "--mesh", "2"])
    assert found["bound_microseconds"] == found["plan"][0]["bound_microseconds"] == round(4 / 45e3, 6), found
    assert abs(found["microseconds"] - (3.8 + 1 + 128 / 45e3)) < 1e-6, found  # launch, a hop, a flit


@test
def algorithms():
    pair = ["f32[1024,1024] P('x')", "f32[1024,1024]", "--mesh", "8", "-m", "tpu-v5p", "--no-proof"]
    times = {name: expect_json(["reshard", *pair, "--algorithm", name])["microseconds"]
             for name in ("direct", "ring", "bidirectional", "torus")}
    best = expect_json(["reshard", *pair])
    assert best["microseconds"] == min(times.values()) and not best["proved"]
    assert times["bidirectional"] < times["ring"] and times["bidirectional"] < times["direct"]
    best = expect_json(["reshard", "f32[1024] PartitionSpec('x')", "f32[1024]", "--mesh", "8", "-m", "tpu-v5p"], proved=True)
    assert [(step["kind"], step["algorithm"], step["hops"]) for step in best["plan"]] == [("all-gather", "direct", 4)], best


@test
def proofs_of_dims_that_do_not_divide():
    found = expect_json(["reshard", "u8[65537] P(('x','y'))", "u8[65537] P(('y','x'))", *MESH], proved=True)
    assert found["proof_array"] == "u8[65537]", found
    found = expect_json(["reshard", "u8[1000003] P(('x','y'))", "u8[1000003] P('y')", *MESH], proved=False)
    assert "too much to move" in found["unproved"], found


@test
def nothing():
    out = expect(["reshard", "f32[8,8] P('x')", "f32[8,8] {devices=[4,1,4]<=[16] last_tile_dim_replicate}", *MESH])
    assert "nothing to do" in out and "proof" not in out
    out = expect(["reshard", "f32[8,8]", "f32[8,8] P('x')", *MESH])
    assert "slice" in out and "time          0.00 us" in out, out
    out = expect(["reshard", "f32[0,8] P('x')", "f32[0,8] P(None,'x')", *MESH])
    assert "proof         f32[0,8]: 0 bytes moved" in out, out


@test
def changed_machine():
    pair = ["f32[1024,1024] P(('x','y'))", "f32[1024,1024]", *MESH, "--algorithm", "torus"]
    slow = expect_json(["reshard", *pair, "--set", "ici.hop=101us"])
    fast = expect_json(["reshard", *pair])
    assert abs(slow["microseconds"] - fast["microseconds"] - 100 * slow["plan"][0]["hops"]) < 0.01


@test
def large():
    found = expect_json(["reshard", "f32[65536,4096] P(('x','y','z'))", "f32[65536,4096]", "--mesh", "16x16x16", "-m",
                         "tpu-v4"], proved=False)
    assert found["plan"][0]["steps"] == 45 and len(found["links"]) == 4096 * 6


@test
def mesh_files():
    pair = ["f32[256,256] P(('x','y'))", "f32[256,256]"]
    assert expect(["reshard", *pair, "--mesh", "v5e-16"]) == expect(["reshard", *pair, "--mesh", "4x4", "-m", "tpu-v5e"])
    shown = expect(["show", "mesh", "v4-64"])
    assert "    flit: 128 B                      # published (XSRC" in shown, shown
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/mine.yaml"
        Path(path).write_text(shown.replace('order: "row_major"', "order: row_major"))
        again = [name for name in expect(["show", "mesh", path]).splitlines() if not name.startswith("order")]
        assert again == [name for name in shown.splitlines() if not name.startswith("order")]
        Path(path).write_text("title: mine\nmachine: tpu-v5p\ndims:\n  a: {chips: 2, wrap: rule}\n  b: {chips: 3, wrap: ring}\n"
                              "axes:\n  data: {devices: 6}\norder: 5,4,3,2,1,0\nici: {hop: 9 us}\n")
        out = expect(["reshard", "f32[36] P('data')", "f32[36]", "--mesh", path])
        assert "chips 2 (line) x 3 (ring); 86.4 GB/s one way, 9.00 us a hop" in out and "6 devices of TPU v5p" in out, out
        assert "6 devices of TPU v4" in expect(["reshard", "f32[36] P('data')", "f32[36]", "--mesh", path, "-m", "tpu-v4"])
        Path(path).write_text("title: mine\nmachine: tpu-v5p\ndims:\n  a: {chips: 2, warp: rule}\n")
        code, _, err = run("reshard", "f32[36]", "f32[36]", "--mesh", path)
        assert code == 1 and f"{path}:4:17: error: " in err and "did you mean 'dims.a.wrap'" in err and " ^" in err, err
        Path(path).write_text("title: mine\nmachine: tpu-v2e\ndims:\n  a: {chips: 2, wrap: rule}\n")
        code, _, err = run("reshard", "f32[36]", "f32[36]", "--mesh", path)
        assert code == 1 and f"{path}:2:10: error: no machine is called 'tpu-v2e'" in err and err.endswith("\n         ^\n"), err
        code, _, err = run("reshard", "f32[36]", "f32[36]", "--mesh", "v4-64", "--set", "ici.hops=1 us")
        assert code == 1 and err.startswith("--set:1:5: error: ") and "did you mean 'ici.hop'" in err, err


@test
def the_machine_of_a_mesh_file_is_read_once():
    """From a pipe, which can be read no more often; what is wrong in it is told at its place."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mine.yaml")
        path.write_text("title: mine\nmachine: /dev/stdin\ndims:\n  a: {chips: 2, wrap: rule}\n")
        shown = expect(["show", "machine", "tpu-v4"])
        for text, code, out in ((shown, 0, "2 devices of TPU v4"), (shown.replace("stacks: 4", "stacks: -4"), 1, "/dev/stdin:")):
            found = run("reshard", "f32[36] P('a')", "f32[36]", "--mesh", path, stdin=text)
            assert found[0] == code and out in found[1] + found[2], found


@test
def failed_links():
    pair = ["f32[256,256] P(('x','y'))", "f32[256,256]", *MESH]
    whole, broken = (expect_json(["reshard", *pair, *more]) for more in ([], ["--fail-link", "(0,0)->(0,1)"]))
    assert broken["proved"] and broken["microseconds"] > whole["microseconds"]
    assert "(0,0) -> (0,1)" in whole["links"] and "(0,0) -> (0,1)" not in broken["links"]
    code, _, err = run("reshard", *pair, "--fail-link", "(0,0)->(2,2)")
    assert code == 1 and "--fail-link:1:1: error: there is no such link" in err, err


HELD = {  # what each device of a mesh x=2, y=4 holds of f32[8,16], in four notations
    "P('y', 'x')": [(f"{2 * y}-{2 * y + 1}", f"{8 * x}-{8 * x + 7}") for x in range(2) for y in range(4)],
    "{devices=[4,1,2]<=[8] last_tile_dim_replicate}": [(f"{2 * (d // 2)}-{2 * (d // 2) + 1}", "0-15") for d in range(8)],
    '#sdy.sharding<@mesh, [{"x", "y"}, {}]>': [(f"{d}-{d}", "0-15") for d in range(8)],
    "S[(4,2,16):(16,1@x,1)] + R[4:1@y]": [("0-0 and 3 more" if d < 4 else "1-1 and 3 more", "0-15") for d in range(8)],
}


@test
def slices_of_three_dims_fit_the_terminal():
    for words in (["reshard", "f32[8192,8192] P('x')", "f32[8192,8192] P('y')"], ["layout", "f32[8192,8192] P('x')"]):
        lines = expect([*words, "--mesh", "v7x-9216"]).splitlines()
        assert max(map(len, lines)) <= 100 and lines[3].startswith("links         chips 16 (ring) x 24 (ring) x 24 (ring); "), lines


@test
def who_holds_what():
    for notation, held in HELD.items():
        shape = [f"f32[8,16] {notation}", "--mesh", "2x4"]
        found = expect_json(["layout", *shape], schema="tilesim.sharding")
        assert [tuple(d["holds"]) for d in found["devices"]] == held, (notation, found["devices"])
        text = expect(["layout", *shape])
        assert all(len(line) <= 100 and line == line.rstrip() for line in text.splitlines()), text
        rows = [line.split(maxsplit=2)[2].split("  ") for line in text.split("device   chip")[1].splitlines()[1:]]
        assert [tuple(part.strip() for part in row if part.strip()) for row in rows] == held, rows
    for shape, what in (("f32[8] P('x')", "dim 0"), ("f32[3,8,2] P('x')", "dims 1 and 2, of the first index in the others")):
        text = expect(["layout", shape, "--mesh", "2"])
        assert f"\ndevices that hold each block of {what}\n" in text, text
    assert "each block of" not in expect(["layout", "f32[]", "--mesh", "2"])
    found = expect_json(["layout", "f32[2000000000] S[(1000000000,2):(1,1@x)]", "--mesh", "2"])  # counted, not walked
    assert [device["holds"] for device in found["devices"]] == [["0-0 and 999999999 more"], ["1-1 and 999999999 more"]]
    found = expect_json(["layout", "f32[25] P(('x','y'))", "--mesh", "2x3"])
    assert [device["holds"] for device in found["devices"]] == [["0-4"], ["5-9"], ["10-14"], ["15-19"], ["20-24"], ["none"]]
    found = expect_json(["layout", "f32[18] S[(3,2,3):(1,1@x,1)]", "--mesh", "2"])
    assert [device["holds"] for device in found["devices"]] == [["0-2 and 2 more"], ["3-5 and 2 more"]]
    text = expect(["layout", "f32[8,16] P('x', unreduced={'y'})", "--mesh", "2x4"])
    assert "0-3           0 + 1 + 2 + 3" in text and "4-7           4 + 5 + 6 + 7" in text, text
    code, _, err = run("layout", "f32[8] P('x')", "--mesh", "2x4", "--at", "3")
    assert code == 2 and "--at is not of a sharding" in err, err


@test
def pictures():
    with tempfile.TemporaryDirectory() as folder:
        for words in (["reshard", "f32[64,64] P('x')", "f32[64,64] P(None,'y')", *MESH], ["layout", "f32[64,64] P('x')", *MESH]):
            expect([*words, "--svg", f"{folder}/a.svg", "--html", f"{folder}/a.html"])
            drawn = ElementTree.parse(f"{folder}/a.svg").getroot()
            texts = ["".join(node.itertext()) for node in drawn.iter("{http://www.w3.org/2000/svg}text")]
            assert len(texts) > 4 and "<svg" in Path(f"{folder}/a.html").read_text(), texts
        expect(["reshard", "f32[64,64] P('x')", "f32[64,64] P(None,'y')", *MESH, "--svg", f"{folder}/a.svg"])
        expect(["reshard", "f32[64,64] P('x')", "f32[64,64] P(None,'y')", *MESH, "--html", f"{folder}/a.html"])
        page = Path(f"{folder}/a.html").read_text()
        ends = "S[(4,16,64):(1@x,64,1)] + R[(4):(1@y)] to S[(64,4,16):(16,1@y,1)] + R[(4):(1@x)]"
        assert f"<code>f32[64,64]{{1,0}} {ends}</code>" in page
        titles = [node.text for node in ElementTree.parse(f"{folder}/a.svg").getroot().iter("{http://www.w3.org/2000/svg}title")]
        links = expect_json(["reshard", "f32[64,64] P('x')", "f32[64,64] P(None,'y')", *MESH])["links"]
        assert len(titles) == 64 and sum(not title.endswith(": 0 B") for title in titles) == len(links), titles


@test
def devices_that_are_too_small():
    """What a device has no room for is said; of a chip that is two devices each has a half."""
    for machine, title, room in (("tpu-v5e", "TPU v5e", 16), ("tpu-v7x", "TPU7x", 96)):
        for more in (0, 1):
            shape = f"u8[{4 * (room * 2**30 + more)}] P('x')"
            out = expect(["reshard", shape, shape, "--mesh", "4", "-m", machine, "--topology", "4" if room == 16 else "2", "--no-proof"])
            assert out.count(f"does not fit: a device of {title} has {room}.0 GiB of HBM\n") == 2 * more, out
    assert "x=1: 1 device of TPU v5e\n" in expect(["reshard", "f32[8]", "f32[8]", "--mesh", "1"])


@test
def refusals():
    def refuses(words, code, *parts):
        status, out, err = run("reshard", *words)
        assert (status, out) == (code, "") and all(part in err for part in parts), (words, status, err)

    refuses(["f32[8]", "f32[8]"], 2, "--mesh is not given")
    refuses(["f32[8]", *MESH], 2, "too few operands, expected SRC DST, or 'SRC -> DST'\n", "`tilesim reshard --help`")
    refuses(["f32[8] -> f32[9]", *MESH], 1, "must be one array")
    refuses(["f32[8] P('q')", "f32[8]", *MESH], 1, "source:1:10: error: the mesh has no axis 'q'")
    refuses(["f32[8]", "f32[8] P('x','x')", *MESH], 1, "destination:1:14: error: the sharding has 2 dims, the array 1")
    refuses(["f32[8]", "f32[9]", *MESH], 1, "must be one array")
    copies = ["f32[8] S[(4,2):(1@x,1)] + R[(4,2):(1@y,1@Y)]", "f32[8]", *MESH]
    refuses(copies, 1, "source:1:1: error: neither the mesh nor a memory of tpu-v4 has an axis 'Y'; did you mean 'y'?\n")
    expect(["reshard", *copies, "--set", "memories.vmem.axes.Y.extent=2", "--set", "memories.vmem.axes.Y.step=4 B"])
    expect(["reshard", copies[0].replace("@Y", "@lane"), *copies[1:]])
    refuses([copies[0].replace("@Y", "@model"), *copies[1:]], 1, "error: neither the mesh nor a memory of tpu-v4 has an axis 'model'\n")
    refuses(["f32[8] {maximal device=1}", "f32[8]", *MESH], 4, "source:1:16: not modelled: an array on one device, or split by hand\n")
    refuses(["f32[8]", "f32[8]", "--mesh", "5x5x5", "-m", "tpu-v5e"], 1, "--mesh:1:1: error: the links of tpu-v5e form")
    refuses(["f32[8]", "f32[8]", *MESH, "--topology", "2x4"], 1, "--topology:1:1: error: the mesh has 16 devices")
    refuses(["f32[8]", "f32[8]", *MESH, "--algorithm", "best"], 2, "--algorithm is 'best', expected direct, ring")


main()
