"""tilesim audit: sizes that compilers reported, copies that were measured, every kind of text, and bad input."""
import csv
import io
import itertools
import json
import math
import os
import pty
import random
import re
import select
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import SANITIZED, TOOL, cases, expect, expect_json, main, read_json, release_test, run, test
from modules import small_step

STEP = "tests/data/hlo/step.txt"
FOLDER = tempfile.TemporaryDirectory()
SMALL = small_step(Path(FOLDER.name, "step.txt"))


def audit(text, *options):
    """The audit of a text on standard input, as JSON."""
    code, out, err = run("audit", "-", "--json", *options, stdin=text)
    assert code == 0, err
    return json.loads(out)


def printed(size):
    """As tsl's HumanReadableNumBytes: integer division until the last unit."""
    if size < 1024:
        return f"{size}B"
    unit = 0
    while size >= 1 << 20:
        size, unit = size // 1024, unit + 1
    return f"{size / 1024:.{1 if unit == 0 else 2}f}{'KMGTPE'[unit]}"


def reported_sizes():
    with open("tests/data/xla_reported_sizes.tsv") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if not row["shape_string"].startswith("(")]


COLLECTIVES = """HloModule sharded, num_partitions=16
ENTRY %main {
  %p = bf16[1024,8192]{1,0:T(8,128)(2,1)} parameter(0)
  %ag = bf16[4096,8192]{1,0:T(8,128)(2,1)} all-gather(%p), channel_id=1, replica_groups=[4,4]<=[16], dimensions={0}
  %ar = f32[1024,1024]{1,0:T(8,128)} all-reduce(%q), replica_groups={{0,1,2,3},{4,5,6,7},{8,9,10,11},{12,13,14,15}}
  %rs = f32[256,1024]{1,0:T(8,128)} reduce-scatter(%q), replica_groups=[4,4]<=[4,4]T(1,0), dimensions={0}
  %cp = bf16[1024,8192]{1,0:T(8,128)(2,1)} collective-permute(%p), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  %st = (bf16[1024,8192]{1,0:T(8,128)(2,1)}, bf16[4096,8192]{1,0:T(8,128)(2,1)}) all-gather-start(%p), replica_groups=[4,4]<=[16], dimensions={0}
  %dn = bf16[4096,8192]{1,0:T(8,128)(2,1)} all-gather-done(%st)
  %aa = bf16[1024,8192]{1,0:T(8,128)(2,1)} all-to-all(%p), replica_groups=[4,4]<=[16], dimensions={0}
  %cb = bf16[1024,8192]{1,0:T(8,128)(2,1)} collective-broadcast(%p), replica_groups={{0,1}}
  %bad = f32[256,1024]{1,0:T(8,128)} all-reduce(%q), replica_groups={{0,1,2,3}}
}
"""


@test
def a_copy_costs_what_it_costs_at_most_places():
    """Where both buffers lie is the allocator's: the price is near the median over random places."""
    draw = random.Random(7)
    for machine, kib in cases(itertools.product(("tpu-v5e", "tpu-v4i"), (128, 1024, 8192)), 1):
        array = f"f32[{kib * 256}]{{0:T(1024)}}"
        text = f"HloModule m\n\nENTRY main {{\n  p = {array} parameter(0)\n  ROOT c = {array} copy(p)\n}}\n"
        price = audit(text, "-m", machine)["microseconds"]
        found = sorted(expect_json(["dma", array, array, "-m", machine, "--dst-at", str(draw.randrange(1 << 13, 1 << 19) * 4096)])
                       ["microseconds"] for _ in range(21))
        assert abs(price / found[10] - 1) < 0.06, (machine, kib, price, found)


@test
def collectives():
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder, "sharded.txt")
        module.write_text(COLLECTIVES)
        plain = expect_json(["audit", str(module), "-m", "tpu-v4"], collectives=8, collectives_priced=0)
        assert {m["not_priced"] for m in plain["moves"] if m["opcode"].startswith("all")} == {"collectives need the devices: a mesh"}
        found = expect_json(["audit", str(module), "-m", "tpu-v4", "--mesh", "4x4"], collectives=8, collectives_priced=6)
        moves = {m["first"]: m for m in found["moves"]}
        # 4 devices of a ring either way, 45 GB/s, 1 us a hop, 3.8 us: half of 3/4 of the result passes each link. All to all:
        # a quarter to the next, and of the quarters that go two links, from every other device this way
        shard, three = 1024 * 8192 * 2, 3.8 + 3
        wanted = {"ag": three + 3 * shard / 2 / 45e3, "ar": 3.8 + 6 + 2 * 3 * (1 << 20) / 2 / 45e3,
                  "rs": three + 3 * (1 << 20) / 2 / 45e3, "cp": 3.8 + 1 + shard / 45e3, "st": three + 3 * shard / 2 / 45e3,
                  "aa": 3.8 + 2 + 2 * shard / 4 / 45e3}
        for name, us in wanted.items():
            assert abs(moves[name]["microseconds"] - us) < 0.01, (name, moves[name], us)
        assert moves["ag"]["by"] == "links, bidirectional ring"
        assert moves["cb"]["not_priced"] == "collectives of this kind are not modelled"
        assert moves["bad"]["not_priced"] == "the sharding is of 4 devices, the mesh has 16"
        assert abs(found["collective_microseconds"] - sum(wanted.values())) < 0.02
        expect(["audit", module, "--mesh", "3x", "-m", "tpu-v4"], 1, "", None)


@test
def sizes_that_compilers_reported():
    rows = reported_sizes()
    assert len(rows) >= 20
    text = ""
    for row in rows:
        padded, unpadded = int(row["expected_bytes"]), int(row["expected_unpadded_bytes"])
        text += f"  1. Size: {row['reported']}\n     Shape: {row['shape_string']}\n"
        text += f"     Unpadded size: {printed(unpadded)}\n"
        if padded > unpadded:
            text += f"     Extra memory due to padding: 1.0M ({padded / unpadded:.1f}x expansion)\n"
        text += "     XLA label: copy.1 = copy(Arg_0.1)\n     ==========================\n\n"
    result = audit(text)
    checked = [r for r in result["reported"] if r["reported"][0].isdigit()]
    assert len(checked) >= 20 and all(r["equal"] for r in checked), checked
    assert result["all"]["padded_bytes"] == sum(int(row["expected_bytes"]) for row in rows)
    assert result["all"]["logical_bytes"] == sum(int(row["expected_unpadded_bytes"]) for row in rows)


@test
def reports_as_logs_have_them():
    """With times and places before each line, two entries on one line, and an allocation without a shape."""
    place = "2020-05-04 09:05:40.721128: E    1578 xla_client/xla_util.cc:76] "
    text = (f"{place}  1. Size: 96.00M\n{place}     Operator: op_name=\"x shape=(1, 2) ]\"\n"
            f"{place}     Shape: bf16[16,12,512,512]{{3,2,1,0:T(8,128)(2,1)}}\n{place}     Unpadded size: 96.00M\n"
            f"{place}     XLA label: %copy.1 = bf16[16,12,512,512]{{3,2,1,0:T(8,128)(2,1)}} copy(bf16[16,12,512,512]"
            f"{{2,3,1,0:T(8,128)(2,1)}} %get-tuple-element.7), metadata={{op_type=\"x\\n   ...\n"
            f"{place}     Allocation type: HLO temp\n{place}     ========================== 2\\. Size: 2.62G\n"
            f"{place}     Shape: f32[128,256,896,18]{{0,3,2,1:T(8,128)}}\n{place}     Unpadded size: 1.97G\n"
            f"{place}     Extra memory due to padding: 672.00M (1.3x expansion)\n{place}     =======\n"
            f"{place}  3. Size: 29.66M\n{place}     XLA label: register allocator spill slots call depth 2\n"
            f"{place}     =======\n%copy.9 = f32[8,128]{{1,0:T(8,128)}} copy(f32[8,128]{{0,1:T(8,128)}} %x)\n")
    result = audit(text)
    assert [(r["reported"], r["computed"], r["equal"]) for r in result["reported"]] == [
        ("96.00M", "96.00M", True), ("2.62G", "2.62G", True)], result["reported"]
    assert [(m["first"], m["changes"], m["count"]) for m in result["moves"]] == [("copy.1", "order", 1),
                                                                                  ("copy.9", "order", 1)]
    assert result["all"]["buffers"] == 3
    assert [k["kind"] for k in result["not_understood"]] == ["reported allocations without a shape"]


@test
def a_wrong_report_is_said():
    text = "  1. Size: 9.00G\n     Shape: f32[16,16,1024,1024]{1,3,2,0:T(8,128)}\n  ====\n"
    out = run("audit", "-", stdin=text)[1]
    assert "0 of 1 equal the computed ones" in out and "9.00G        differs        8.00G 8.0x" in out, out


@test
def tiles_that_a_report_leaves_out():
    """No tile printed does not mean linear; where the reported size is linear's, it is."""
    for size, shape, tiled in (("64.0K", "f32[128,3]{1,0}", True), ("8.00G", "f32[256,512,128,2]{3,2,1,0}", True),
                               ("1.5K", "f32[128,3]{1,0}", False)):
        result = audit(f"  1. Size: {size}\n     Shape: {shape}\n")
        assert result["reported"][0]["equal"] and result["buffers"][0]["tiles_assumed"] == tiled, result["reported"]


@test
def a_tuple_reports_its_table():
    result = audit("  1. Size: 32B\n     Shape: (f32[8,128]{1,0:T(8,128)}, u32[]{:S(2)})\n  ====\n")
    assert result["reported"] == [{"line": 1, "shape": None, "reported": "32B", "computed": None, "expansion": None,
                                   "equal": False}]
    assert result["all"]["buffers"] == 0


@test
def exact_sizes_in_messages():
    text = ("E0102: expected parameter 0 of size 5242880 (bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}) but got buffer of size "
            "1638400 (bf16[16,1280,40]{1,2,0:T(8,128)(2,1)})\n"
            "Allocation (size=4096) would exceed memory (size=131072) :: [shape = 'f32[16]{0:T(1024)S(1)}', space=vmem]\n")
    result = audit(text)
    assert [(r["reported"], r["equal"]) for r in result["reported"]] == [("5242880", True), ("1638400", True), ("4096", True)]


# Copies that were measured: on v4 from HBM to CMEM, t = 0.62 us + bytes / 1017 GB/s (81 of them); relayouts
# of a training step on v5p, (read + written) bytes / 2.37 TB/s; a copy on v6e, 614 MB in 424 us.
@test
def measured_copies():
    for n in cases((512, 1024, 2048, 3072, 4096), 2):
        shape = f"f16[{n},{n}]" + "{1,0:T(8,128)(2,1)%s}"
        text = f"%a = {shape % ''} parameter(0)\n%c = ({shape % 'S(3)'}, {shape % ''}, u32[]{{:S(2)}}) copy-start(%a)\n"
        near(audit(text, "-m", "tpu-v4"), 0.62 + 2 * n * n / 1017e3)
    for layers in cases((1, 24, 28), 1):
        for a, b in (("2,1,0", "1,2,0"), ("1,2,0", "2,1,0")):
            shape = f"f32[{layers},128,32000]"
            text = f"%a = {shape}{{{a}:T(8,128)}} parameter(0)\n%c = {shape}{{{b}:T(8,128)}} copy(%a)\n"
            result = audit(text, "-m", "tpu-v5p")
            near(result, 2 * 4 * layers * 128 * 32000 / 2.37e6)
            assert result["moves"][0]["by"] == "programs/transpose.tsim"
    shape = "bf16[4688,128,1,2,128]{4,3,2,1,0:T(2,128)(2,1)}"
    near(audit(f"%a = {shape} parameter(0)\n%c = {shape} copy(%a)\n", "-m", "tpu-v6e"), 424)


def near(result, microseconds):
    move = result["moves"][0]
    assert abs(move["microseconds"] / microseconds - 1) < 0.25, (move, microseconds)


@release_test
def relayouts_are_priced_by_their_plans():
    """As `tilesim dma` prices what the engine, or the program that the core runs instead, does."""
    for machine, source, target, by in (
            ("tpu-v5e", "f32[2048,1536]{1,0:T(8,128)}", "f32[2048,1536]{0,1:T(8,128)}", "programs/transpose.tsim"),
            ("tpu-v4", "f32[1024,4,2048]{2,1,0:T(4,128)}", "f32[1024,4,2048]{2,0,1:T(8,128)}", None),
            ("tpu-v6e", "f32[2048,1536]{1,0:T(8,128)}", "bf16[2048,1536]{1,0:T(8,128)(2,1)}", "programs/pack.tsim")):
        move = audit(f"%a = {source} parameter(0)\n%c = {target} copy(%a)\n", "-m", machine)["moves"][0]
        options = ["--set", "dma.rate.convert=0"] if by == "programs/pack.tsim" else []
        cost = expect_json(["dma", source, target, "-m", machine, "--alone", *options])
        assert move["by"] == by and not move["scaled"]
        assert abs(move["cycles"] / cost["cycles"] - 1) < 0.03, (move, cost["cycles"])
    # What changes order and type is never faster than its bytes, nor slower than twice.
    source, target = "f32[4096,4096]{1,0:T(8,128)}", "bf16[4096,4096]{0,1:T(8,128)(2,1)}"
    both = audit(f"%a = {source} parameter(0)\n%c = {target} copy(%a)\n", "-m", "tpu-v5p")["moves"][0]
    assert both["by"] == "two passes: type, then order" and 6 * 4096**2 / 2.765e6 < both["microseconds"] < 18 * 4096**2 / 2.0e6
    # Tiles of a single lane come and go whole: 128 times the bytes.
    thin = audit("%a = f32[1,728,2048]{0,1,2:T(8,128)} parameter(0)\n%c = f32[1,728,2048]{2,1,0:T(8,128)} copy(%a)\n", "-m", "tpu-v5e")
    assert thin["moves"][0]["microseconds"] > 728 * 2048 * 512 / 819e3


def some_layout(rng, dims, tiles):
    order = rng.sample(range(len(dims)), len(dims))
    return "{" + ",".join(map(str, order)) + rng.choice(tiles)


def some_moves(rng, count):
    """Moves of every kind between random memories: text, and the bytes that each reads and writes."""
    lines = []
    for k in range(count):
        dims = [rng.choice([1, 2, 3, 8, 40, 128, 200, rng.randint(1, 600)]) for _ in range(rng.randint(1, 4))]
        kind = rng.choice(["f32", "bf16", "s8"])
        tiles = {"f32": [":T(8,128)", ":T(4,128)", ""], "bf16": [":T(8,128)(2,1)", ":T(2,128)(2,1)"], "s8": [":T(8,128)(4,1)", ":T(32,128)(4,1)"]}
        tiles = [t for t in tiles[kind] if len(dims) > 1] or [":T(1024)"]
        spaces = [rng.choice(["", "S(1)"]) for _ in range(2)]

        def shape(dims, space):
            layout = some_layout(rng, dims, tiles)
            colon = ":" if ":" not in layout and space else ""
            return f"{kind}[{','.join(map(str, dims))}]{layout}{colon}{space}}}"

        whole = [2 * dims[0], *dims[1:]]
        source, part, large = shape(dims, spaces[0]), shape(dims, spaces[1]), shape(whole, spaces[0])
        opcode = rng.choice(["copy", "slice", "dynamic-slice", "dynamic-update-slice", "concatenate", "copy-start", "reshape", "pad"])
        lines.append(f"%a.{k} = {large if opcode.endswith('slice') and 'update' not in opcode else source} parameter({k})\n")
        if opcode == "dynamic-update-slice":
            lines.append(f"%t.{k} = {shape(whole, spaces[1])} parameter(1)\n%m.{k} = {shape(whole, spaces[1])} {opcode}(%t.{k}, %a.{k}, %i)\n")
        elif opcode == "concatenate":
            lines.append(f"%m.{k} = {shape(whole, spaces[1])} {opcode}(%a.{k}, %a.{k}), dimensions={{0}}\n")
        elif opcode == "copy-start":
            lines.append(f"%m.{k} = ({part}, {source}, u32[]{{:S(2)}}) copy-start(%a.{k})\n")
        else:
            lines.append(f"%m.{k} = {part} {opcode}(%a.{k})\n")
    return "".join(lines)


@release_test
def nothing_beats_the_memories_it_touches():
    """No move of random arrays between random memories is faster than the peaks of these."""
    rng = random.Random(5)
    for machine, hbm, vmem in (("tpu-v5e", 819.2e3, 18.5e6), ("tpu-v6e", 1640e3, 30e6)):
        moves = audit(some_moves(rng, 150), "-m", machine)["moves"]
        assert len(moves) > 100
        for m in moves:
            if "microseconds" not in m or m["microseconds"] == 0:
                assert m["opcode"] in ("reshape", "transpose"), m
                continue
            sides = [(m["from_space"], m["read_bytes"]), (m["to_space"], m["written_bytes"])]
            for space, peak in ((0, hbm), (1, vmem)):
                assert sum(b for s, b in sides if s == space) <= peak * m["microseconds"] * (1 + 1e-3), m


@test
def slices_read_where_their_operand_lies():
    """From HBM to VMEM as `tilesim dma` prices a copy of the part; by the text of an operand, its name, or the start's tuple."""
    part, whole = "s8[4194304]{0:T(1024)S(1)}", "s8[33554432]{0:T(1024)}"
    cost = expect_json(["dma", part.replace("S(1)", ""), part, "-m", "tpu-v5e"])["cycles"]
    named = f"%a = {whole} parameter(0)\n"
    for text in (f"%m = {part} slice({whole} %a), slice={{[0:4194304]}}\n", f"{named}%m = {part} slice(%a), slice={{[0:4194304]}}\n",
                 f"{named}%m = {part} dynamic-slice(%a, %i), dynamic_slice_sizes={{4194304}}\n",
                 f"%m = (({whole}), {part}, u32[]{{:S(2)}}) slice-start(%a), slice={{[0:4194304]}}\n",
                 f"%m = (({whole}, s32[]{{:T(128)}}), {part}, u32[]{{:S(2)}}) dynamic-slice-start(%a, %i), dynamic_slice_sizes={{4194304}}\n",
                 f"%t = s8[33554432]{{0:T(1024)}} parameter(1)\n%p = {part} parameter(2)\n%m = {whole} dynamic-update-slice(%t, %p, %i)\n",
                 f"%x (p: s8[8]) -> s8[8] {{\n  %p = {whole} parameter(0)\n  ROOT %m = {part.replace('S(1)', '')} slice(%p), slice={{[0:4194304]}}\n}}\n\n"
                 f"ENTRY %e (p: s8[8]) -> s8[8] {{\n  %q = {whole} parameter(0)\n  %s = (({whole}), {part}, u32[]{{:S(2)}}) async-start(%q), calls=%x\n}}\n"):
        move = audit(text, "-m", "tpu-v5e")["moves"][0]
        assert abs(move["cycles"] / cost - 1) < 0.01 and sorted([move["from_space"], move["to_space"]]) == [0, 1], (text, move, cost)
        assert "space" in move["changes"], move
        if "update" in move["opcode"]:
            assert move["source"] is None and move["changes"] == "space+dims" and f"{part} to" not in run("audit", "-", stdin=text)[1], move
            table = list(csv.DictReader(io.StringIO(run("audit", "-", "--csv", "-", stdin=text)[1])))
            assert [row["space"] for row in table if row["opcode"] == move["opcode"] and row["kind"] == "move"] == ["0"], table
    # Of two memories each gives what lies in it.
    half = "s8[2097152]{0:T(1024)%s}"
    moves = audit(f"%a = {half % ''} parameter(0)\n%b = {half % 'S(1)'} parameter(1)\n%m = {part} concatenate(%a, %b), dimensions={{0}}\n",
                  "-m", "tpu-v5e")["moves"]
    assert sorted((m["from_space"], m["read_bytes"], m["written_bytes"]) for m in moves) == [(0, 2 << 20, 2 << 20), (1, 2 << 20, 2 << 20)]


@test
def what_moves_elements_is_no_copy():
    """No advice that is for copies: neither a donation nor another layout does without the move."""
    big = "f32[1024,256]{1,0:T(8,128)}"
    for line, changes in ((f"{big} reverse(%a), dimensions={{1}}", "reversed"),
                          ("f32[1024,256]{0,1:T(8,128)} reverse(%a), dimensions={0}", "order+reversed"),
                          (f"{big} pad(%a, %z), padding=4_-4x0_0", "dims"),
                          (f"{big} dynamic-update-slice(%b, %a, %i, %i)", "dims")):
        found = audit(f"%a = {big} parameter(0)\n%b = f32[2048,256]{{1,0:T(8,128)}} parameter(1)\n%m = {line}\n", "-m", "tpu-v5e")
        assert [m["changes"] for m in found["moves"]] == [changes] and found["moves"][0]["cycles"] > 0, (line, found["moves"])
        assert found["findings"] == [], (line, found["findings"])


@test
def what_moves_nothing_is_free():
    """By the composition of the two layouts, whatever dims and tiles they have."""
    free = [("f32[16384,2048]{1,0:T(8,128)}", "f32[1,16384,2048]{2,1,0:T(8,128)}"), ("f32[16384,2048]{1,0:T(8,128)}", "f32[8,2048,2048]{2,1,0:T(8,128)}"),
            ("f32[16384,2048]{1,0:T(8,128)}", "f32[16384,2048,1]{1,0,2:T(8,128)}"), ("f32[128]{0:T(128)}", "f32[1,128]{1,0:T(1,128)}"),
            ("f32[6,4]{1,0}", "f32[4,6]{1,0}"), ("f32[6,35]{1,0}", "f32[10,21]{1,0}"), ("f32[]{:T(128)}", "f32[1,1]{1,0:T(1,128)}"),
            ("bf16[1,128,64]{1,2,0:T(8,128)(2,1)}", "bf16[1,128,1,32,2]{1,4,3,2,0:T(2,128)(2,1)}"), ("f32[64,128]{1,0:T(8,128)}", "f32[8,8,128]{2,1,0:T(8,128)}"),
            ("f32[8,128]{1,0:T(8,128)}", "f32[1024]{0:T(1024)}"), ("f32[3,100]{1,0:T(4,128)}", "f32[3,1,100]{2,0,1:T(4,128)}")]
    paid = [("f32[1024,2048]{1,0:T(8,128)}", "f32[2048,1024]{1,0:T(8,128)}"), ("f32[64,128]{1,0:T(8,128)}", "f32[64,128]{0,1:T(8,128)}"),
            ("f32[16,128]{1,0:T(8,128)}", "f32[4,4,128]{2,0,1:T(4,128)}"), ("f32[6,4]{0,1}", "f32[4,6]{0,1}"),
            ("f32[8,128]{1,0:T(8,128)}", "f32[8,128,1]{2,1,0:T(8,128)}"), ("f32[8,128]{1,0:T(8,128)}", "f32[1,8,128]{2,1,0:T(8,128)S(1)}"),
            ("f32[12,100]{1,0:T(8,128)}", "f32[2,6,100]{2,1,0:T(8,128)}"), ("f32[16,64]{1,0:T(8,128)}", "f32[1024]{0:T(1024)}")]
    for pairs, is_free in ((free, True), (paid, False)):
        for source, target in cases(pairs, 4):
            result = audit(f"%a = {source} parameter(0)\n%b = {target} reshape(%a)\n%x = f32[8,128]{{1,0:T(8,128)}} parameter(1)\n")
            assert (result["moves"][0]["microseconds"] == 0) == is_free and result["free_moves"] == is_free, (source, target, result["moves"])
    # Without tiles: dims of 1 lie outside the others, where a result may lie as its operand does.
    text = "%a = f32[16384,2048]{1,0} parameter(0)\n" + "".join(f"%b.{k} = f32[{dims}]{{2,1,0}} reshape(%a)\n" for k, dims in enumerate(
        ("1,16384,2048", "8,2048,2048", "16384,2048,1")))
    assert audit(text)["free_moves"] == 3 and audit(text)["microseconds"] == 0
    transposes = [("f32[8,128]{1,0:T(8,128)}", "f32[128,8]{0,1:T(8,128)}", "1,0", True), ("f32[8,128]{1,0:T(8,128)}", "f32[128,8]{1,0:T(8,128)}", "1,0", False),
                  ("f32[1,8,128]{2,1,0:T(8,128)}", "f32[8,1,128]{2,1,0:T(1,128)}", "1,0,2", True), ("f32[4,8,128]{2,1,0:T(8,128)}", "f32[4,8,128]{2,1,0:T(8,128)}", "0,1,2", True),
                  ("f32[1,8,128]{2,1,0:T(8,128)}", "f32[8,1,128]{2,0,1:T(8,128)}", "1,0,2", True)]
    for source, target, dims, is_free in transposes:
        result = audit(f"%a = {source} parameter(0)\n%b = {target} transpose(%a), dimensions={{{dims}}}\n")
        assert (result["free_moves"] == 1) == is_free, (source, target, result["moves"])


def addresses(dims, order, tile):
    """Of all elements, where a tile's dims are the minor ones: padded, split, and the parts behind all others."""
    places = [dims[d] for d in reversed(order)]
    outer, steps = places[:len(places) - len(tile)], places[len(places) - len(tile):]
    grid = [*outer, *(-(-extent // step) for extent, step in zip(steps, tile)), *tile]
    found = []
    for index in itertools.product(*map(range, dims)):
        at = [index[d] for d in reversed(order)]
        tiled = at[len(outer):]
        digits = [*at[:len(outer)], *(i // step for i, step in zip(tiled, tile)), *(i % step for i, step in zip(tiled, tile))]
        address = 0
        for extent, digit in zip(grid, digits):
            address = address * extent + digit
        found.append(address)
    return found, math.prod(grid)


@test
def a_copy_changes_the_order_where_elements_move():
    """Dims of one element count where a tile reaches them."""
    rng, expected = random.Random(20261128), {}
    while len(expected) < 200:
        dims = [rng.choice([1, 1, 2, 3, 9, 130]) for _ in range(rng.randint(2, 4))]
        tile = rng.choice([[8, 128], [1, 128], [2, 128], [128]])
        orders = [rng.sample(range(len(dims)), len(dims)) for _ in range(2)]
        if math.prod(dims) > 2000:
            continue
        source, target = (f"f32[{','.join(map(str, dims))}]{{{','.join(map(str, o))}:T({','.join(map(str, tile))})}}"
                          for o in orders)
        expected[source, target] = addresses(dims, orders[0], tile) != addresses(dims, orders[1], tile)
    assert 40 < sum(expected.values()) < 160, sum(expected.values())
    found = {m["first"]: m["changes"] for m in audit("".join(
        f"%a.{k} = {source} parameter({k})\n%c.{k} = {target} copy(%a.{k})\n" for k, (source, target) in enumerate(expected)))["moves"]}
    assert len(found) == len(expected)
    for k, (pair, moves) in enumerate(expected.items()):
        assert ("order" in found[f"c.{k}"]) == moves, (pair, found[f"c.{k}"])


@test
def exact_scales_nothing():
    text = "".join(f"%p.{k} = f32[{128 + k},256]{{1,0:T(8,128)}} parameter({k})\n%c.{k} = f32[{128 + k},256]{{0,1:T(8,128)}} "
                   f"copy(%p.{k})\n" for k in range(40))
    scaled = [sum(m["scaled"] for m in audit(text, "-m", "tpu-v5e", *options)["moves"]) for options in ([], ["--exact"])]
    assert scaled == [28, 0], scaled


@release_test
def many_sizes_are_priced_in_seconds():
    """The largest by their plans; the others as the nearest of their kind, which the report says."""
    text = "".join(f"%p.{k} = f32[{512 + 7 * k},{1024 + 5 * k}]{{1,0:T(8,128)}} parameter({k})\n%c.{k} = f32[{512 + 7 * k},{1024 + 5 * k}]"
                   f"{{0,1:T(8,128)}} copy(%p.{k})\n" for k in range(300))
    start = time.process_time() + sum(os.times()[2:4])
    result = audit(text, "-m", "tpu-v5e")
    assert time.process_time() + sum(os.times()[2:4]) - start < (100 if SANITIZED else 10)
    moves = result["moves"]
    assert [m["scaled"] for m in moves].count(False) == 12 and all(m["by"] == "programs/transpose.tsim" for m in moves)
    assert all(not m["scaled"] for m in moves[:12]) and moves == sorted(moves, key=lambda m: -m["microseconds"])
    half = next(m for m in moves if m["first"] == "c.150")
    alone = audit("".join(line + "\n" for line in text.splitlines() if ".150 " in line), "-m", "tpu-v5e")["moves"][0]
    assert half["scaled"] and not alone["scaled"] and abs(half["cycles"] / alone["cycles"] - 1) < 0.2
    few = "".join(text.splitlines(keepends=True)[:80])
    assert "\n           28 smaller moves as the nearest of their kind (~)\n" in run("audit", "-", "-m", "tpu-v5e", stdin=few)[1]


@release_test
def a_whole_module():
    result = expect_json(["audit", STEP, "-m", "tpu-v6e"], schema="tilesim.audit", machine="tpu-v6e", module="jit_step",
                         entry=True, tiles_assumed=False, bitcasts=1, collectives=1, collective_bytes=512 << 20)
    moves = {m["first"]: m for m in result["moves"]}
    assert moves["copy.11"]["at_most"] and moves["copy.11"]["changes"] == "type+order+tile"
    assert moves["copy.11"]["level"] == "fused" and moves["copy.11"]["read_bytes"] == 2 * moves["copy.11"]["written_bytes"]
    assert moves["copy.1"]["changes"] == "nothing" and moves["copy.2"]["changes"] == "order"
    assert moves["copy.20"]["runs"] == 4 and moves["copy.20"]["count"] == 1 and not moves["copy.20"]["trips_unknown"]
    assert moves["copy-start.2"]["changes"] == "space" and moves["copy-start.2"]["microseconds"] < moves["copy.20"]["microseconds"]
    assert moves["slice.1"]["read_bytes"] == moves["slice.1"]["written_bytes"] == 16 << 20
    assert moves["bitcast.3"]["microseconds"] == 0 and moves["bitcast.3"]["changes"] == "dims"
    assert moves["all-gather.1"]["not_priced"] == "collectives need the devices: a mesh"
    total = sum(m.get("microseconds", 0) * m["runs"] for m in result["moves"] if not m.get("at_most"))
    assert abs(result["microseconds"] - total) < 1e-4
    fixes = {f["first"]: f["fix"] for f in result["findings"]}
    assert fixes["copy.1"].startswith("donate the argument")
    assert fixes["copy.2"].startswith("give the argument the layout {1,2,0:T(8,128)(2,1)}")
    assert fixes["p2"] == "store it at its own width: E() makes elements 4 times as wide"
    assert fixes["copy.remat"].endswith(" takes 4.50M"), fixes["copy.remat"]
    buffers = {b["shape"]: b for b in result["buffers"]}
    widened = buffers["pred[64,512,2048]{2,1,0:T(8,128)E(32)}"]
    assert (widened["padded_bytes"], widened["logical_bytes"], widened["widened_bytes"]) == (256 << 20, 64 << 20, 192 << 20)
    assert widened["cause"] == "elements stored 4x as wide"
    assert buffers["f32[16,1280,40]{2,1,0:T(8,128)}"]["cause"] == "dim 2 (minor) 40 to 128"
    # Values inside fused computations, what aliases and what a reduction applies are no buffers.
    assert "bf16[1024,4,14336]{2,0,1:T(8,128)(2,1)}" not in buffers and buffers["f32[]{:T(128)}"]["count"] == 1
    assert result["not_understood"] == []


@test
def what_changes_is_where_elements_are():
    """Texts that differ and put every element at the same place change neither order nor tiles."""
    same = (("f32[8,128]", "{1,0:T(8,128)}", "{1,0:T(4,128)}"), ("f32[8,128]", "{1,0:T(8,128)}", "{1,0}"),
            ("s8[3,256]", "{1,0:T(1,128)}", "{1,0}"), ("f32[4,1,128]", "{2,1,0:T(1,128)}", "{2,0,1:T(4,128)}"))
    other = (("f32[16,256]", "{1,0:T(8,128)}", "{1,0:T(4,128)}", "tile"), ("f32[8,128]", "{1,0:T(8,128)}", "{0,1}", "order+tile"),
             ("f32[8,128]", "{1,0:T(8,128)}", "{1,0:T(16,128)}", "tile+padding"))
    for array, source, target, changes in [row + ("nothing",) for row in same] + list(other):
        move, = audit(f"%a = {array}{source} parameter(0)\n%c = {array}{target} copy(%a)\n")["moves"]
        assert move["changes"] == changes, (array, source, target, move["changes"])
    text = ("%f (p: f32[8,128]) -> f32[8,128] {\n %p = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
            " ROOT %c = f32[8,128]{1,0:T(4,128)} copy(%p)\n}\n"
            "ENTRY %m {\n %a = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
            " ROOT %r = f32[8,128]{1,0:T(4,128)} fusion(%a), kind=kLoop, calls=%f\n}\n")
    assert audit(text)["free_moves"] == 1
    started = ("%a = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
               "%s = (f32[8,128]{1,0:T(4,128)S(1)}, f32[8,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%a)\n")
    assert audit(started)["moves"][0]["changes"] == "space"


@test
def the_scale_of_a_layout_is_in_the_fix():
    """A copy whose target makes the padding: 8.00G for 1.00G."""
    text = ("%a = f32[16,16,1024,1024]{3,2,1,0:T(8,128)} parameter(0)\n"
            "%copy.remat = f32[16,16,1024,1024]{1,3,2,0:T(8,128)} copy(%a)\n")
    result = audit(text, "-m", "tpu-v6e")
    assert result["moves"][0]["changes"] == "order+padding" and result["moves"][0]["written_bytes"] == 8 << 30
    finding = next(f for f in result["findings"] if f["first"] == "copy.remat" and not f["each_read"])
    assert "the padding is the target's" in finding["fix"] and finding["bytes_saved"] == 7 << 30
    assert finding["microseconds_saved"] > 0.7 * result["moves"][0]["microseconds"]


@test
def what_is_started():
    """Of the tuple that a start has for a shape only what is made is a buffer, or sent."""
    big, part = "bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)}", "bf16[1,2048,4096]{2,1,0:T(8,128)(2,1)S(1)}"
    text = (f"%s = (({big}), {part}, u32[]{{:S(2)}}) dynamic-slice-start(%a, %b), dynamic_slice_sizes={{1,2048,4096}}\n"
            f"%g = (({part}), {big}, u32[]{{:S(2)}}) reduce-scatter-start(%c),\n  to_apply=%add\n"
            f"%d = {big} reduce-scatter-done(%g)\n%k = (({part}), {part}, u32[]) custom-call-start(%p), calls=%x\n")
    result = audit(text)
    assert result["all"]["buffers"] == 3 and result["collective_bytes"] == 128 << 20
    assert result["moves"][0]["read_bytes"] == 16 << 20 and result["not_understood"] == []


@test
def fixes_of_padding():
    """Another tile, another order of dims, or a fold, whichever takes the fewest bytes and changes the least."""
    for shape, fix in (("f32[29184,1,2560]{2,1,0:T(8,128)}", "another tile: f32[29184,1,2560]{2,1,0:T(1,128)} takes 285.00M"),
                       ("bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}",
                        "another order of dims: bf16[16,1280,40]{1,2,0:T(8,128)(2,1)} takes 1.56M"),
                       ("bf16[3,3,3]{2,1,0:T(4,128)(2,1)}",
                        "fold dims that are neighbours in memory: bf16[3,9]{1,0:T(4,128)(2,1)} takes 1.0K")):
        result = audit(f"%a = {shape} parameter(0)\n", "-m", "tpu-v4")
        found = [f["fix"] for f in result["findings"]]
        assert fix in found, (shape, found)


@test
def stablehlo_gets_the_layouts_of_the_rule():
    result = expect_json(["audit", "tests/data/hlo/attention.mlir", "-m", "tpu-v5e"], tiles_assumed=True)
    buffers = {b["shape"]: b for b in result["buffers"]}
    assert buffers["bf16[8,1024,16,64]{1,3,2,0:T(8,128)(2,1)}"]["padded_bytes"] == 2 * 8 * 1024 * 16 * 64
    assert buffers["bf16[29184,2,2560]{2,1,0:T(2,128)(2,1)}"]["count"] == 1
    fixes = [f["fix"] for f in result["findings"]]
    assert any("the shape bf16[58368,2560]{1,0:T(8,128)(2,1)}" in fix for fix in fixes), fixes
    old = expect_json(["audit", "tests/data/hlo/attention.mlir", "-m", "tpu-v3"])
    assert "bf16[29184,2,2560]{2,0,1:T(8,128)(2,1)}" in {b["shape"] for b in old["buffers"]}


@test
def sums_are_of_the_shapes_that_are_listed():
    """Four bits are packed by the tiles of the rule, and not without them."""
    text = """func.func public @main(%arg0: tensor<64x256xi8>) -> tensor<64x200xi4> {
  %0 = stablehlo.convert %arg0 : (tensor<64x256xi8>) -> tensor<64x256xi4>
  %1 = stablehlo.slice %0 [0:64, 0:200] : (tensor<64x256xi4>) -> tensor<64x200xi4>
  return %1 : tensor<64x200xi4>
}
"""
    for untiled, logical, padded in (("auto", 16384 + 8192 + 6400, 32768), ("linear", 2 * 16384 + 12800, 2 * 16384 + 12800)):
        found = audit(text, "--untiled", untiled)
        assert (found["all"]["logical_bytes"], found["all"]["padded_bytes"]) == (logical, padded), found["all"]
        for key in ("logical_bytes", "padded_bytes"):
            assert found["all"][key] == sum(one["count"] * one[key] for one in found["buffers"]), found["buffers"]


@test
def the_published_example():
    """memory_analysis() of a v5e printed 6656 bytes of arguments and 2048 of results, of temporaries none."""
    text = ("func.func public @main(%arg0: tensor<16x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4xf32>) -> tensor<16x4xf32> {\n"
            "  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>\n"
            "  return %0 : tensor<16x4xf32>\n}\n")
    buffers = audit(text, "-m", "tpu-v5e")["buffers"]
    assert sum(b["padded_bytes"] for b in buffers if b["opcode"] == "parameter") == 6656, buffers
    assert [b["padded_bytes"] for b in buffers if b["opcode"] != "parameter"] == [2048], buffers


@test
def copies_that_the_compiler_will_insert():
    """In StableHLO and in HLO before a compiler; none are foretold of what one is done with."""
    text = ("func.func @main(%arg0: tensor<512x128xbf16>, %arg1: tensor<58x36xbf16>) -> tensor<58x36xbf16> {\n"
            "  %0 = stablehlo.slice %arg0 [138:196, 56:92] : (tensor<512x128xbf16>) -> tensor<58x36xbf16>\n"
            "  %1 = stablehlo.add %0, %arg1 : tensor<58x36xbf16>\n  return %1 : tensor<58x36xbf16>\n}\n")
    result = audit(text, "-m", "tpu-v6e")
    made = {"value": "0", "reader": "1", "line": 3, "from": "bf16[58,36]{1,0:T(8,128)(2,1)}", "to": "bf16[58,36]{0,1:T(8,128)(2,1)}",
            "bytes": 64 * 128 * 2 + 40 * 128 * 2}
    assert result["copies_predicted"] and result["copies"] == [made], result["copies"]
    out = run("audit", "-", "-m", "tpu-v6e", stdin=text)[1]
    assert ("\ncopies     that the compiler will insert (docs/layouts.md): 1\n           0 for 1, line 3, 26.0K\n"
            "               bf16[58,36]{1,0:T(8,128)(2,1)} to\n               bf16[58,36]{0,1:T(8,128)(2,1)}\n") in out, out
    hlo = ("HloModule m, entry_computation_layout={(bf16[512,128]{1,0})->bf16[58,36]{1,0}}\n\nENTRY %main (a: bf16[512,128]) -> bf16[58,36] {\n"
           "  %a = bf16[512,128]{1,0} parameter(0)\n  ROOT %s = bf16[58,36]{1,0} slice(%a), slice={[138:196], [56:92]}\n}\n")
    assert audit(hlo, "-m", "tpu-v6e")["copies"] == [{**made, "value": "s", "reader": None, "line": 5}]
    assert not audit(hlo.replace("m,", "m, is_scheduled=true,"), "-m", "tpu-v6e")["copies_predicted"]
    assert not audit("%a = f32[8,128]{1,0:T(8,128)} parameter(0)\n")["copies_predicted"]


@test
def orders_that_no_compiler_has_chosen():
    """A module that is not scheduled prints all arrays row-major; a scheduled one's orders, and others than row-major, are meant."""
    body = "ENTRY %main (a: f32[1536,1]) -> f32[1536,1] {\n  ROOT %a = f32[1536,1]{ORDER} parameter(0)\n}\n"
    for header, order, padded in (("HloModule m", "1,0", 6144), ("HloModule m, is_scheduled=true", "1,0", 786432),
                                  ("HloModule m", "0,1", 6144), ("", "1,0", 786432)):
        result = audit(header + "\n\n" + body.replace("ORDER", order), "-m", "tpu-v6e")
        assert result["all"]["padded_bytes"] == padded, (header, order, result["all"])
    plain = audit("%a = f32[1536,1] parameter(0)\n%b = f32[64,64,3]{0,1,2} negate(%a)\n", "-m", "tpu-v6e")
    assert [b["shape"] for b in plain["buffers"]] == ["f32[64,64,3]{0,1,2:T(8,128)}", "f32[1536,1]{0,1:T(1,128)}"], plain["buffers"]


@test
def orders_that_transposes_are_written_in():
    """XLA writes one, before anything is laid out, in the order in which nothing moves; StableHLO's text says none."""
    hlo = ("HEADER\n\nENTRY %main (a: f32[3,100,2]) -> f32[2,100,3] {\n  %a = f32[3,100,2]{2,1,0} parameter(0)\n"
           "  ROOT %t = f32[2,100,3]{0,1,2} transpose(%a), dimensions={2,1,0}\n}\n")
    mlir = ("func.func @main(%a: tensor<3x100x2xf32>) -> tensor<2x100x3xf32> {\n"
            "  %t = stablehlo.transpose %a, dims = [2, 1, 0] : (tensor<3x100x2xf32>) -> tensor<2x100x3xf32>\n"
            "  return %t : tensor<2x100x3xf32>\n}\n")
    shapes, moves = [], []
    for text in (hlo.replace("HEADER", "HloModule m"), mlir, hlo.replace("HEADER", "HloModule m, is_scheduled=true")):
        result = audit(text)
        shapes.append({b["shape"] for b in result["buffers"]})
        moves.append([(m["shape"], m["changes"], m["read_bytes"], m["written_bytes"]) for m in result["moves"]])
    assert shapes[0] == shapes[1] == {"f32[3,100,2]{1,2,0:T(2,128)}", "f32[2,100,3]{1,0,2:T(2,128)}"}, shapes
    assert moves[0] == moves[1] != moves[2] and moves[0][0][1] == "nothing", moves
    assert "f32[2,100,3]{0,1,2:T(8,128)}" in shapes[2], shapes


@test
def untiled_text():
    text = "%a = f32[128,3]{1,0} parameter(0)\n"
    assert audit(text)["all"]["padded_bytes"] == 65536
    assert audit(text, "--untiled", "linear")["all"]["padded_bytes"] == 1536
    tiled = text + "%b = f32[8,128]{1,0:T(8,128)} negate(%c)\n"
    assert audit(tiled)["all"]["padded_bytes"] == 1536 + 4096
    assert audit(tiled, "--untiled", "rule")["all"]["padded_bytes"] == 65536 + 4096


@test
def what_is_not_understood_is_listed():
    text = ("%a = f99[8]{0} add(%b, %c)\n%d = f32[8]{0:T(8,128} add(%b, %c)\n%e = f32[8]{0} frobnicate(%d)\n"
            "%f = f32[?,8]{1,0} add(%d)\n%g = f32[8]{0:T(1024)} copy(%nobody)\n%h = (f32[8]{0}, ...(+6)) fusion(%a)\n"
            "hello world\n%i = f32[8]{0:T(10\n")
    kinds = {k["kind"]: k["count"] for k in audit(text)["not_understood"]}
    for kind in ("unknown instruction 'frobnicate'", "shape: an unbounded dimension has no size",
                 "a move whose operand is not in the text: not priced", "members of a tuple that the text leaves out",
                 "lines that are no HLO"):
        assert kinds.get(kind) == 1, (kind, kinds)
    assert kinds["instructions that are cut off"] == kinds["an instruction that ends before its opcode"] == 2
    assert any("f99" in kind for kind in kinds), kinds


@test
def cut_anywhere():
    data = SMALL.read_bytes()
    for length in cases(range(0, len(data), 61), 2, usual=10):
        code, _, err = run("audit", "-", "--json", stdin=data[:length])
        assert (code, err) == (0, "") or (length < 500 and code == 1), (length, err)  # the header may hold nothing yet


@release_test
def same_answer_twice_and_from_standard_input():
    first = expect(["audit", STEP, "--all"])
    assert first == expect(["audit", STEP, "--all"])
    piped = run("audit", "-", "--all", stdin=Path(STEP).read_text())[1]
    assert piped == first.replace(STEP, "standard input")


@test
def long_names_of_sources_keep_their_end():
    def source(name):
        result = audit("%a = f32[512,400]{1,0:T(8,128)} parameter(0)\n"
                       f"%c = f32[512,400]{{0,1:T(8,128)}} copy(%a), metadata={{op_name=\"{name}\"}}\n")
        return next(f["source"]["op"] for f in result["findings"] if f["first"] == "c")
    assert source("x" * 55) == "x" * 55 and source("x" * 56) == ".." + "x" * 53
    assert source("state[\\'" + "a" * 43 + "\\']") == "state['" + "a" * 43 + "']"
    for length in range(49, 54):
        name = "b" * 9 + "\u00e9\u4e2d" + "x" * length
        assert re.fullmatch("\\.\\.(\u00e9\u4e2d|\u4e2d)?" + "x" * min(length, 53), source(name)), source(name)


@test
def sections_without_rows_are_left_out():
    """A copy costs time and no bytes; padding costs bytes."""
    def text(dims):
        return run("audit", "-", stdin=f"ENTRY %m {{\n%a = f32[{dims}]{{1,0:T(8,128)}} parameter(0)\n"
                   f"%b = f32[{dims}]{{1,0:T(8,128)}} add(%a, %a)\nROOT %c = f32[{dims}]{{0,1:T(8,128)}} copy(%b)\n}}\n")[1]
    assert "findings by time (1 of 1)" in text("512,1024") and "findings by bytes" not in text("512,1024")
    assert re.search(r"\nfindings by bytes\n  \d+\.\d+[KM]: number \d above\n", text("512,1")), text("512,1")
    assert " 3 instructions in 1 computation\n" in text("512,1")


@test
def no_rows_are_not_none():
    text = expect(["audit", STEP, "--rows", "0"])
    assert re.search(r"\npadding    buffers .*\n        and 6 more shapes with padding; --all lists them\n", text), text
    assert "none" not in text, text


@test
def fails_over_a_limit():
    text = "%a = f32[512,400]{1,0:T(8,128)} parameter(0)\n%c = f32[512,400]{0,1:T(8,128)} copy(%a)\n"
    assert run("audit", "-", "--fail-over", "1.5x", stdin=text)[0] == 0
    code, out, err = run("audit", "-", "--fail-over", "1.1", stdin=text)
    assert code == 3 and "findings by time" in out
    assert err == "tilesim: fault: padded bytes are 1.140x the logical ones, more than --fail-over 1.1x\n", err


@test
def files():
    with tempfile.TemporaryDirectory() as folder:
        names = {kind: Path(folder, "audit." + kind) for kind in ("csv", "svg", "html")}
        expect(["audit", SMALL, *(word for kind, path in names.items() for word in (f"--{kind}", path))])
        rows = list(csv.DictReader(io.StringIO(names["csv"].read_text())))
        assert {row["kind"] for row in rows} == {"buffer", "move"}
        buffers = [row for row in rows if row["kind"] == "buffer"]
        total = expect_json(["audit", SMALL])["all"]
        assert sum(int(row["padded_bytes"]) for row in buffers) == total["padded_bytes"]
        assert len(buffers) == total["buffers"]
        picture = xml.etree.ElementTree.fromstring(names["svg"].read_text())
        assert len(picture.findall(".//{http://www.w3.org/2000/svg}rect")) > 10
        page = names["html"].read_text()
        assert page.count("<script") == 1 and "https:" not in page
        assert "copy.20" in page and "{0,1:T(8,128)}" in page


def errors_of_slow_input(terminal):
    """What is written to stderr while MiBs of text come with more than a second between them: two, or until a terminal shows some."""
    line = b"  %a = f32[2048,1536]{1,0:T(8,128)} add(%b, %c), metadata={op_name=\"" + b"x" * 900 + b"\"}\n"
    reads, writes = pty.openpty() if terminal else os.pipe()
    tool = subprocess.Popen([TOOL, "audit", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=writes)
    for count in range(60):
        tool.stdin.write(line * 1100)
        tool.stdin.flush()
        if select.select([reads], [], [], 1.2)[0] or count > 0 and not terminal:
            break
    tool.stdin.close()
    assert tool.wait() == 0
    os.close(writes)
    found = b""
    try:
        while more := os.read(reads, 4096):
            found += more
    except OSError:  # a terminal that nobody writes to any more
        pass
    os.close(reads)
    return found


def peak(path, *options):
    """The most memory that the audit of a file takes, in MB, and what it says."""
    with open(path + ".json", "w+") as out:
        tool = subprocess.Popen([TOOL, "audit", path, "--json", *options], stdout=out)
        status, used = os.wait4(tool.pid, 0)[1:]
        assert status == 0
        out.seek(0)
        return used.ru_maxrss / 1e3, read_json(out.read())


def unique(text, number):
    """The text with names of its own, so that many make one module."""
    return re.sub(r"%[a-z][\w.-]*", lambda name: f"{name[0]}.{number}", text)


@test
def long_text_in_bounded_memory():
    """Many modules, and one of many computations: sums are those of one times their number, and four times the
    text takes as much memory."""
    text = SMALL.read_text()
    one = expect_json(["audit", SMALL])
    body = text[text.index("%fused_computation.1"):].replace("ENTRY ", "")
    head = text[:text.index("\n")] + "\n"
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "long.txt"))
        for modules in (True, False):
            most = {}
            for n in (40,) if SANITIZED else (6000, 24000):
                with open(path, "w") as out:  # in pieces: what this process holds counts as the other's
                    out.write("" if modules else head)
                    for k in range(n if modules else n // 10):
                        out.write(text if modules else unique(body, k))
                most[n], result = peak(path)
                assert result["not_understood"] == [], result["not_understood"]
            if not SANITIZED:
                assert max(most.values()) < 64 and most[24000] < most[6000] + 24, most
            if modules:
                moves = {m["first"]: m for m in result["moves"]}
                times = {key: value if key in ("padding_percent", "expansion") else n * value for key, value in one["all"].items()}
                assert result["all"] == times, (result["all"], times)
                assert abs(result["microseconds"] / n - one["microseconds"]) < 1e-6
                assert {m["first"]: m["runs"] for m in result["moves"]} == {m["first"]: n * m["runs"] for m in one["moves"]}


@test
def shapes_come_and_go():
    """More shapes than are remembered at once: each is audited, and counts."""
    def computation(k):
        lines = [f"  %p.{i} = f32[{i + 1},{k + 1}]{{1,0:T(8,128)}} parameter({i})\n  %c.{i} = f32[{i + 1},{k + 1}]{{0,1:T(8,128)}} "
                 f"copy(%p.{i})\n" for i in range(k, k + 40)]
        return f"%body.{k} (p: f32[8]) -> f32[8] {{\n{''.join(lines)}}}\n"

    count = 220 if SANITIZED else 500  # each has 80; those not in use are forgotten from 16384 on
    result = audit("".join(computation(k) for k in range(count)))
    assert result["not_understood"] == [] and len(result["moves"]) == result["all"]["buffers"] == 40 * count
    sizes = [(i + 1, k + 1) for k in range(count) for i in range(k, k + 40)]
    assert result["all"]["logical_bytes"] == sum(4 * a * b for a, b in sizes)
    assert result["all"]["padded_bytes"] == sum(4 * -(-b // 8) * 8 * -(-a // 128) * 128 for a, b in sizes)
    for m in result["moves"]:
        dims = m["shape"][:m["shape"].index("{")]
        assert m["source"] == dims + "{1,0:T(8,128)}" and m["shape"] == dims + "{0,1:T(8,128)}", m


@test
def progress_is_for_terminals():
    assert errors_of_slow_input(False) == b""
    try:
        shown = errors_of_slow_input(True)
    except OSError:
        return  # this system has no terminals to give
    assert shown.startswith(b"\rread ") and shown.endswith(b"\r\x1b[K"), shown


@test
def bad_lines():
    hint = "`tilesim audit --help` shows how it is used\n"
    expect(["audit"], 2, "", "tilesim audit: error: too few operands, expected MODULE.txt\n" + hint)
    expect(["audit", STEP, "--fail-over", "0.5"], 2, "",
           "tilesim audit: error: --fail-over is '0.5', expected a ratio of at least 1, such as 1.5x\n" + hint)
    expect(["audit", STEP, "--untiled", "maybe"], 2, "",
           "tilesim audit: error: --untiled is 'maybe', expected auto, linear or rule\n" + hint)
    expect(["audit", STEP, "--untiled", "liner"], 2, "",
           "tilesim audit: error: --untiled is 'liner', expected auto, linear or rule; did you mean 'linear'?\n" + hint)
    expect(["audit", "no-such.txt"], 1, "", "tilesim: error: cannot open 'no-such.txt': No such file or directory\n")


main()
