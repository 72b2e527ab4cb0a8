"""tilesim.price and tilesim.Machine beside the command line."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import package  # noqa: F401
from cli import expect_json, main, run, test

import tilesim as ts

ENDS = "f32[512,512]{1,0}", "bf16[512,512]{1,0:T(8,128)(2,1)}"


@test
def prices_are_the_command_lines():
    for machine, overrides in (("tpu-v5e", {}), ("tpu-v4", {}), ("tpu-v6e", {"hbm.clock": "3.2 GHz"})):
        options = [word for item in overrides.items() for word in ("--set", "=".join(item))]
        found = expect_json(["dma", *ENDS, "-m", machine, *options])
        price = ts.price(*ENDS, machine=ts.Machine(machine, overrides))
        assert price.cycles == found["cycles"] and abs(price.microseconds - found["microseconds"]) < 1e-5, machine
        assert price.breakdown == found["parts"] and sum(price.breakdown.values()) == price.cycles
        assert (price.useful_bytes, price.moved_bytes, price.limiter, price.exact) == (
            found["useful_bytes"], found["moved_bytes"], found["limiter"], not found["estimated"])
        others = [(end, row["shape"], row["cycles"]) for end in ("source", "destination") for row in found[f"other_{end}s"]]
        wanted = sorted((row for row in others if row[2] < price.cycles), key=lambda row: row[2])
        assert [(c.end, c.layout.text, c.cycles) for c in price.cheaper] == wanted, machine
        for cheaper in price.cheaper[:1]:
            changed = [cheaper.layout if cheaper.end == end else text for end, text in zip(("source", "destination"), ENDS)]
            again = ts.price(*changed, machine=ts.Machine(machine, overrides))
            assert again.cycles == cheaper.cycles and abs(again.microseconds - cheaper.microseconds) < 1e-9


@test
def layouts_slices_and_exact():
    assert ts.price(*map(ts.Layout, ENDS)).cycles == ts.price(*ENDS).cycles
    part = ts.price("f32[512,512]{1,0}[0:8, :]", "f32[8,512]{1,0:T(8,128)}")
    assert part.useful_bytes == 8 * 512 * 4
    large = "f32[1024,1024]{1,0}", "f32[1024,1024]{1,0:T(8,128)}"
    assert ts.price(*large, exact=True).exact and not ts.price(*large).exact
    assert ts.price(*large, exact=True).cycles == expect_json(["dma", *large, "--exact"])["cycles"]


@test
def refused():
    for ends, words in ((("f32[8]{0}", "f32[9]{0}"), "9"), (("f32[8]{0", "f32[8]{0}"), "source:1:9")):
        try:
            ts.price(*ends)
        except ts.InputError as error:
            assert words in str(error), error
        else:
            raise AssertionError(ends)


@test
def notebooks():
    price = ts.price(*ENDS)
    assert f"<td style=\"text-align:right\">{price.breakdown['useful']:,}</td>" in price._repr_html_()
    assert "<script" not in ts.price("f32[8]{0}", "f32[8]{0}")._repr_html_() and "us" in repr(price)
    assert "<b>TPU v5e</b>" in ts.Machine()._repr_html_()


@test
def machines():
    names = ts.Machine.names()
    assert "tpu-v5e" in names and "tpu-v6e" in names and len(names) == len(set(names)) >= 8
    machine = ts.Machine("tpu-v5e")
    assert machine.title == "TPU v5e" and machine.report() == run("show", "machine", "tpu-v5e")[1]
    assert machine.json() == expect_json(["show", "machine", "tpu-v5e"])
    assert machine == ts.Machine() and hash(machine) == hash(ts.Machine())
    changed = ts.Machine("tpu-v5e", {"hbm.clock": "3.2 GHz"})
    assert changed != machine and eval(repr(changed), {"Machine": ts.Machine}) == changed
    assert ts.Machine("configs/tpu-v5e.yaml") == machine
    assert ts.Machine("tpu-v5e", {"core.bf16": True}) == ts.Machine("tpu-v5e", {"core.bf16": "true"}) != machine
    try:
        ts.Machine("tpu-v5e", {"hbm.clocks": 1})
    except ts.InputError as error:
        assert error.file == "changes" and "hbm.clock" in error.message
    else:
        raise AssertionError("hbm.clocks")


main()
