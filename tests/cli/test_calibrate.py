"""tilesim calibrate: fits what was changed, refuses what the data do not carry, writes a machine that reads back."""
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, expect, main, release_test, run, test

HELP = "`tilesim calibrate --help` shows how it is used\n"
TABLE = "tests/data/calibrate.csv"


def measured(folder, *sets):
    """A table whose measurements are what a changed machine takes."""
    words = [word for value in sets for word in ("--set", value)]
    rows = json.loads(expect(["validate", "--data", TABLE, "--json", "-m", "tpu-v4", *words]))["rows"]
    times = {row["id"]: row["simulated_us"] for row in rows}
    path = Path(folder, "t.csv")
    lines = Path(TABLE).read_text().splitlines()
    path.write_text("\n".join([lines[0]] + [f"{','.join(line.split(',')[:-2])},{times[line.split(',')[0]]},us"
                                            for line in lines[1:]]) + "\n")
    return path


@test
def finds_what_was_changed():
    with tempfile.TemporaryDirectory() as folder:
        table = measured(folder, "chip.launch=700 ns", "dma.issue=250 ns", "dma.rate.copy=600")
        out = Path(folder, "mine.yaml")
        result = json.loads(expect(["calibrate", table, "-m", "tpu-v4", "-o", out, "--json"]))
        figures = {figure["figure"]: figure for figure in result["figures"]}
        for name, value in (("chip.launch", 700000), ("dma.issue", 250000), ("dma.rate.copy", 600)):
            assert abs(figures[name]["after"] / value - 1) < 0.03, figures[name]
        assert figures["chip.dispatch"]["left_out"] == "no row depends on it"
        assert figures["chip.dispatch"]["before"] == figures["chip.dispatch"]["after"]
        assert result["rows_used"] == 6 and result["before"]["median_percent"] > 5 > 0.5 > result["after"]["worst_percent"]
        text = out.read_text()
        assert "# derived (calibrate: t.csv, 6 rows)" in text and "override" not in text and "base:" not in text
        again = json.loads(expect(["validate", "--data", table, "--json", "-m", out]))
        assert max(abs(row["error_percent"]) for row in again["rows"]) < 0.5


@release_test
def says_where_a_fit_ends():
    """At sixteen times what a figure was, which is not what the rows say."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["calibrate", measured(folder, "chip.launch=10 us"), "-m", "tpu-v4", "--fit", "chip.launch"]
        figure, = json.loads(expect([*words, "--json"]))["figures"]
        assert figure["after"] == 16 * figure["before"] and figure["at_bound"], figure
        assert " %; a fit goes no further: begin nearer, with --set\n" in expect(words)
        figure, = json.loads(expect([*words, "--set", "chip.launch=2 us", "--json"]))["figures"]
        assert abs(figure["after"] / 10e6 - 1) < 0.03 and not figure["at_bound"], figure


@release_test
def finds_what_binds_nothing_at_first():
    sizes = ["64 KiB", "1 MiB", "4 MiB", "16 MiB"]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        def write(times):
            table.write_text("id,chip,workload description,parameters,measured value,unit\n" + "".join(
                f"{i},v5p,HBM copy,size={size},{time},us\n" for i, (size, time) in enumerate(zip(sizes, times))))
        write([1] * len(sizes))
        rows = json.loads(expect(["validate", "--data", table, "--json", "-m", "tpu-v5p", "--set", "chip.launch=2us",
                                  "--set", "dma.rate.copy=500"]))["rows"]
        write([row["simulated_us"] for row in rows])
        result = json.loads(expect(["calibrate", table, "-m", "tpu-v5p", "--fit", "chip.launch", "--fit",
                                    "dma.rate.copy", "--json"]))
        after = {figure["figure"]: figure["after"] for figure in result["figures"]}
        assert abs(after["dma.rate.copy"] / 500 - 1) < 0.03 and abs(after["chip.launch"] / 2e6 - 1) < 0.03, after


@test
def a_figure_that_binds_nothing_on_the_way_stays():
    """Times that no machine has: what was fitted became no number."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        sizes = ((128, 128, 11.471), (512, 1024, 8.296), (512, 128, 17.855), (512, 4096, 19.516), (1024, 4096, 15.56),
                 (128, 128, 11.556), (1024, 4096, 13.285), (512, 512, 7.848))
        path.write_text("id,chip,workload description,parameters,measured value,unit\n" + "".join(
            f'r{i},v4,HBM->S(3) copy,"shape=f16[{rows},{columns}]{{1,0:T(8,128)(2,1)S(3)}}",{time},us\n'
            for i, (rows, columns, time) in enumerate(sizes)))
        result = json.loads(expect(["calibrate", path, "-m", "tpu-v4", "--json"]))
        assert result["after"]["median_percent"] < result["before"]["median_percent"] / 2, result
        assert all(figure["before"] / 16 <= figure["after"] <= 16 * figure["before"] for figure in result["figures"])


@test
def figures_that_bind_up_to_another():
    """The clock of products counts up to the sustained one: a fit steps down from there, and is not lost above it."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "t.csv")
        head = Path(TABLE).read_text().splitlines()[0]

        def fitted(microseconds, clock):
            rows = (f"{n},v5e,Pallas matmul,M=N=K={n} dtype=bf16 bm=512 bk=1024 bn=1024,{us},us" for n, us in microseconds)
            table.write_text("\n".join((head, *rows)) + "\n")
            words = ["--set", f"chip.clock.matrix={clock}", "--fit", "chip.clock.matrix", "--json"]
            figure, = json.loads(expect(["calibrate", table, "-m", "tpu-v5e", *words]))["figures"]
            return figure["after"] / 1e6

        for clock in ("1.5 GHz", "1.2 GHz"):
            assert 1.3 < fitted(((2048, 219.4), (4096, 932.5)), clock) < 1.4, clock
            assert 1.49 < fitted(((2048, 150), (4096, 700)), clock), clock


@test
def times_in_clocks_are_fitted():
    """From times of a machine that refreshes more often, how often it does."""
    with tempfile.TemporaryDirectory() as folder:
        table, machine, sizes = Path(folder, "t.csv"), Path(folder, "m.yaml"), (1 << 24, 1 << 25, 1 << 26, 1 << 27)

        def write(times):
            table.write_text("id,chip,workload description,parameters,measured value,unit\n" + "".join(
                f"{i},v5e,HBM copy,size={size},{time},us\n" for i, (size, time) in enumerate(zip(sizes, times))))

        write([1] * len(sizes))
        words = ["-m", "tpu-v5e", "--set", "hbm.timing.t_refi=1500 ns"]
        rows = json.loads(expect(["validate", "--data", table, "--json", *words]))["rows"]
        write([row["simulated_us"] for row in rows])
        expect(["calibrate", table, "-m", "tpu-v5e", "--fit", "hbm.timing.t_refi", "-o", machine])
        found = re.search(r"t_refi: (\d+) ck +# derived", machine.read_text())
        assert found and abs(int(found[1]) / 2400 - 1) < 0.05, found


@test
def refuses_what_the_data_do_not_carry():
    def refuses(message, *words, code=1, data=TABLE):
        expect(["calibrate", data, "-m", "tpu-v4", *words], code, "", message)

    refuses("tilesim: error: chip.dispatch cannot be fitted: no row depends on it\n", "--fit", "chip.dispatch")
    refuses("tilesim: error: dma.queues cannot be fitted: no row depends on it\n", "--fit", "dma.queues")  # steps of one
    refuses("tilesim: error: dma.completion cannot be fitted: the rows move with it as they do with the others\n",
            "--fit", "dma.issue", "--fit", "chip.launch", "--fit", "dma.completion")
    if ALL:  # as the rows above, once they are all run
        refuses("tilesim: error: 6 rows carry 3 figures, found 4 to fit\n", "--fit", "dma.issue", "--fit", "chip.launch",
                "--fit", "dma.rate.copy", "--fit", "hbm.controller.read_entries")
    refuses("tilesim calibrate: error: --fit: the machine has no figure 'chip.lunch'; did you mean 'chip.launch'?\n"
            + HELP, "--fit", "chip.lunch", code=2)
    refuses("tilesim calibrate: error: --fit: hbm.channels must stay a power of two\n" + HELP, "--fit", "hbm.channels",
            code=2)
    refuses("tilesim calibrate: error: --fit: core.lanes is 128 on all machines\n" + HELP, "--fit", "core.lanes", code=2)
    refuses("tilesim: error: memories.cmem.xla_space cannot be fitted: c1: tpu-v4 has no memory space S(3)\n",
            "--fit", "memories.cmem.xla_space")
    refuses("tilesim: error: memories.hbm.capacity cannot be fitted: no row depends on it\n",  # more is no machine
            "--fit", "memories.hbm.capacity")
    figure, = json.loads(expect(["calibrate", TABLE, "-m", "tpu-v4", "--fit", "hbm.stacks", "--json"]))["figures"]
    assert figure["after"] == 4, figure  # of fewer, which its capacity does not let be, none is tried
    refuses("tilesim calibrate: error: --fit: dma.issue is there twice\n" + HELP, "--fit", "dma.issue", "--fit", "chip.launch",
            "--fit", "dma.issue", code=2)
    refuses("tilesim: error: memories.vmem.capacity cannot be fitted: no row depends on it\n", "--fit", "memories.vmem.capacity",
            "--fit", "memories.cmem.capacity")
    refuses("tilesim calibrate: error: --fit: title is no time, clock, number or size\n" + HELP, "--fit", "title", code=2)
    expect(["calibrate", TABLE, "-m", "tpu-v6e"], 1, "", "tilesim: error: no row is of a TPU v6e and modelled, expected a machine "
                                                       "whose title is TPU v4\n")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "cut.csv"
        head, first = Path(TABLE).read_text().splitlines()[:2]
        assert first.endswith('shape=f16[512,1024]{1,0:T(8,128)(2,1)S(3)}",1.9,us'), first
        for text, why in ((first.replace("1024]", "1O24]"), "it states no shape"),
                          (first.replace("us", "furlong"), "it is not a time")):
            table.write_text(f"{head}\nother,v5e,HBM->S(3) copy,shape=f16[512],1,us\n{text}\n")
            expect(["calibrate", table, "-m", "tpu-v4"], 1, "",
                   f"tilesim: error: no row is of a TPU v4 and modelled; c1: {why}\n")
    expect(["calibrate", TABLE], 2, "",
           "tilesim calibrate: error: expected -m, the machine to begin with\n" + HELP)


@test
def nothing_is_written_when_it_fails():
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "mine.yaml")
        assert run("calibrate", TABLE, "-m", "tpu-v4", "--fit", "chip.dispatch", "-o", out)[0] == 1
        assert not list(Path(folder).iterdir())
        code, _, err = run("calibrate", TABLE, "-m", "tpu-v4", "-o", Path(folder, "no", "mine.yaml"))
        assert code == 1 and "mine.yaml" in err and not list(Path(folder).iterdir())


main()
