"""Padding is a share of the bytes with it, and expansion a multiple of the data: in all reports, as text and JSON."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, expect, expect_json, main, test

SHAPES = {"f32[3,5]{1,0:T(2,2)}": (60, 96), "bf16[100,100]{1,0:T(8,128)(2,1)}": (20000, 26624), "f32[8,128]{1,0:T(8,128)}": (4096, 4096),
          "pred[7]{0:T(256)}": (7, 256), "f32[0,5]{1,0:T(8,128)}": (0, 0)}


def agrees(value, data, padded):
    percent = 100 * (padded - data) / padded if padded else 0
    assert abs(value["padding_percent"] - percent) < 1e-3, (value, percent)
    assert value["expansion"] is None if data == 0 else abs(value["expansion"] - padded / data) < 1e-5, value


@test
def one_definition():
    for shape, (data, padded) in SHAPES.items():
        value = expect_json(["layout", shape], unpadded_bytes=data, bytes=padded)
        agrees(value, data, padded)
        text = expect(["layout", shape])
        assert (f"{padded:,} with padding: {value['padding_percent']:.1f} % padding\n" in text) == (padded > data), text
    value = expect_json(["choose", "f32[100,100]", "--no-moves"])
    assert len({c["padding_percent"] for c in value["candidates"]}) > 1
    for c in value["candidates"]:
        agrees(c, 40000, c["bytes"])
    best = value["candidates"][0]
    assert re.search(rf" {best['bytes']:,} +{best['padding_percent']:.1f} %", expect(["choose", "f32[100,100]", "--no-moves"]))
    module = f"tests/data/hlo/{'step.txt' if ALL else 'attention.mlir'}"
    value = expect_json(["audit", module])
    for item in [value["all"], *value["spaces"], *value["buffers"]]:
        agrees(item, item["logical_bytes"], item["padded_bytes"])
    out = expect(["audit", module])
    assert re.search(rf" {value['all']['expansion']:.2f}x +{value['all']['padding_percent']:.1f} %\n", out), out
    value = expect_json(["run", "programs/normalize.tsim", "-D", "ROWS=100", "-D", "COLS=100"])
    for tensor in value["tensors"]:
        agrees(tensor, tensor["unpadded_bytes"], tensor["bytes"])
    assert f"{value['tensors'][0]['padding_percent']:.1f} % padding" in expect(["run", "programs/normalize.tsim", "-D", "ROWS=100",
                                                                                "-D", "COLS=100"])


@test
def of_a_transfer():
    for src, dst in (("f32[100,100]{1,0:T(8,128)}", "f32[100,100]{1,0:T(8,128)}"), ("f32[64,128]{1,0}", "f32[64,128]{1,0:T(8,128)}")):
        value = expect_json(["dma", src, dst])
        assert abs(value["padding_percent"] - 100 * value["padding_bytes"] / value["moved_bytes"]) < 1e-3
        assert "runs" not in value and value["walked_runs"] >= 1 and value["src_runs"][0]["count"] >= 1


main()
