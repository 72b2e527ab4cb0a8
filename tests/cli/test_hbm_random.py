"""Random machines and requests that Ramulator 2.1 (c5b1c3a) or DRAMsim3 (2981759) ran too: the same figures.

Of DRAMsim3 writes that stay in the buffer were drained once all requests were accepted: it was changed to do so."""
import csv
import json
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import main, run, test

ROWS = Path(__file__).parent.parent / "data" / "hbm_random.tsv"
FIGURES = ("cycles", "activations", "row_hits", "refreshes", "longest_read_latency")


def requests(seed, count, lines, write_percent, most_gap):
    state, cycle = seed, 0
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        cycle += (state >> 24) % (most_gap + 1)
        yield f"{(state >> 40) % lines * 64:#x} {'WRITE' if (state >> 32) % 100 < write_percent else 'READ'} {cycle}\n"


@test
def figures_of_the_simulators():
    with open(ROWS, newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) == 43
    for row in rows:
        trace = requests(*(int(row[key]) for key in ("seed", "requests", "lines", "write_percent", "most_gap")))
        code, out, err = run("hbm", "-", "--json", *shlex.split(row["arguments"]), stdin="".join(trace))
        assert code == 0, (row, err)
        found = json.loads(out)
        found["longest_read_latency"] = found["max_read_latency_cycles"]
        assert [found[key] for key in FIGURES] == [int(row[key]) for key in FIGURES], (row, found)
        if found["reads"] > 0:
            mean = int(row["read_latency_sum"]) / found["reads"]
            assert abs(found["mean_read_latency_cycles"] - mean) < 1e-4, (row, found)


main()
