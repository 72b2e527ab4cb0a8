"""The rules of JESD235D (HBM2) and JESD238 (HBM3) on a trace of commands of `tilesim hbm --commands`, by themselves:
nothing here comes from the simulator but the timing of the machine.

Cycles are those of the trace, ticks. A rule counts from the end of a command to the end of the next.
"""
from collections import defaultdict

READS, WRITES = ("RD", "RDA"), ("WR", "WRA")
COLUMNS, REFRESHES = READS + WRITES, ("REFab", "REFpb")
LONG_AGO = -10**9
POSTPONED = 8  # refreshes that may be late


def read_commands(text):
    """The rows of a trace, numbers as numbers."""
    names, *lines = (line.split(",") for line in text.splitlines())
    return [{name: word if name == "command" else int(word) for name, word in zip(names, line, strict=True)} for line in lines]


class PseudoChannel:
    def __init__(self):
        self.last = defaultdict(lambda: LONG_AGO)  # by what and where: the end of the last one
        self.acts = []
        self.open = {}  # row by bank
        self.refreshed = defaultdict(int)
        self.sids = set()


class Checker:
    """`t`: timing by its names in a machine file, in ticks; `lengths`: ticks of ACT, other row and column commands."""

    def __init__(self, t, lengths):
        self.t, self.lengths, self.found = t, lengths, []
        self.pcs = defaultdict(PseudoChannel)
        self.buses = defaultdict(lambda: LONG_AGO)

    def length(self, command):
        return self.lengths["act" if command == "ACT" else "column" if command in COLUMNS else "row"]

    def expect(self, ok, cycle, rule):
        if not ok:
            self.found.append((cycle, rule))

    def bus(self, c, where):
        """A command holds the row or the column bus for its length."""
        kind = "column bus" if c["command"] in COLUMNS else "row bus"
        self.expect(c["cycle"] >= self.buses[kind, where], c["cycle"], kind)
        self.buses[kind, where] = c["cycle"] + self.length(c["command"])

    def limits(self, c, pc):
        """What (kind, place) of the pseudo channel it follows, after how long, and the rule's name."""
        t, command = self.t, c["command"]
        sid, group = c["sid"], (c["sid"], c["bank_group"])
        bank = (*group, c["bank"])
        written = t["t_cwl"] + t["n_bl"]
        if command in COLUMNS:
            own, other = ("R", "W") if command in READS else ("W", "R")
            yield ("ACT", bank), t["t_rcd_rd" if own == "R" else "t_rcd_wr"], "t_rcd_rd" if own == "R" else "t_rcd_wr"
            yield (own, group), t["t_ccd_l"], "t_ccd_l"
            yield (own, ("sid", sid)), t["t_ccd_s"], "t_ccd_s"
            yield (own, "pc"), t["n_bl"], "n_bl"
            if own == "W":
                yield (other, "pc"), t["t_rtw"], "t_rtw"
            else:
                for other_sid in pc.sids - {sid}:
                    yield ("R", ("sid", other_sid)), t["t_ccd_r"], "t_ccd_r"
                yield (other, group), written + t["t_wtr_l"], "t_wtr_l"
                yield (other, "pc"), written + t["t_wtr_s"], "t_wtr_s"
        if command in ("ACT", "REFpb"):
            yield ("PRE", bank), t["t_rp"], "t_rp"
            yield ("PREA", "pc"), t["t_rp"], "t_rp"
            yield ("ACT", bank), t["t_rc"], "t_rc"
            yield ("ACT", "pc"), t["t_rrd_s"], "t_rrd_s"
            yield ("RDA", bank), t["t_rtp"] + t["t_rp"], "t_rp"
            yield ("WRA", bank), written + t["t_wr"] + t["t_rp"], "t_rp"
            yield ("REFab", "pc"), t["t_rfc"], "t_rfc"
            yield ("REFpb", bank), t["t_rfc_pb"], "t_rfc_pb"
            yield ("REFpb", "pc"), t["t_rrefd"], "t_rrefd"
        if command == "ACT":
            yield ("ACT", group), t["t_rrd_l"], "t_rrd_l"
        if command in ("PRE", "PREA"):
            place = bank if command == "PRE" else "pc"
            yield ("ACT", place), t["t_ras"], "t_ras"
            yield ("RD", place), t["t_rtp"], "t_rtp"
            yield ("WR", place), written + t["t_wr"], "t_wr"
            yield ("PRE", "pc"), t["t_ppd"], "t_ppd"
            yield ("PREA", "pc"), t["t_ppd"], "t_ppd"
        if command == "REFab":
            yield ("PRE", "pc"), t["t_rp"], "t_rp"
            yield ("PREA", "pc"), t["t_rp"], "t_rp"
            yield ("ACT", "pc"), t["t_rc"], "t_rc"
            yield ("RDA", "pc"), t["t_rtp"] + t["t_rp"], "t_rp"
            yield ("WRA", "pc"), written + t["t_wr"] + t["t_rp"], "t_rp"
            yield ("REFab", "pc"), t["t_rfc"], "t_rfc"

    def states(self, c, pc):
        """Rows are open when they must be, and closed."""
        command, bank = c["command"], (c["sid"], c["bank_group"], c["bank"])
        if command in COLUMNS:
            self.expect(pc.open.get(bank) == c["row"], c["cycle"], "row is open")
        elif command in ("ACT", "REFpb"):
            self.expect(bank not in pc.open, c["cycle"], "bank is closed")
        elif command == "REFab":
            self.expect(not pc.open, c["cycle"], "banks are closed")
        if command == "ACT":
            pc.open[bank] = c["row"]
        elif command in ("PRE", "RDA", "WRA"):
            pc.open.pop(bank, None)
        elif command == "PREA":
            pc.open.clear()

    def window(self, end, pc):
        pc.acts = [*pc.acts[-4:], end]
        if len(pc.acts) == 5:
            self.expect(end - pc.acts[0] >= self.t["t_faw"], end, "t_faw")

    def refresh(self, c, pc, end):
        """No later than 8 more would let it be."""
        what = c["command"], c["sid"], c["bank_group"], c["bank"]
        every = self.t["t_refi"]
        self.expect(end <= pc.refreshed[what] + (1 + POSTPONED) * every, end, "t_refi")
        pc.refreshed[what] = end

    def finish(self, end, kind):
        """At the end of a trace of a machine with such refreshes ("all_bank"), none is too late either."""
        for pc in self.pcs.values():
            what = [("REFab", -1, -1, -1)] if kind == "all_bank" else list(pc.refreshed)
            for one in what:
                self.expect(end <= pc.refreshed[one] + (1 + POSTPONED) * self.t["t_refi"], end, "t_refi")

    def take(self, c, is_shared):
        channel = c["channel"] if is_shared else (c["channel"], c["pseudo_channel"])
        pc, end = self.pcs[c["channel"], c["pseudo_channel"]], c["cycle"] + self.length(c["command"])
        self.bus(c, channel)
        self.states(c, pc)
        for before, cycles, rule in self.limits(c, pc):
            self.expect(cycles <= 0 or end - pc.last[before] >= cycles, c["cycle"], rule)
        if c["command"] == "ACT":
            self.window(end, pc)
        if c["command"] in REFRESHES:
            self.refresh(c, pc, end)
        command, sid, group = c["command"], c["sid"], (c["sid"], c["bank_group"])
        places = "pc", ("sid", sid), group, (*group, c["bank"])
        for kind in {command, "R" if command in READS else "W" if command in WRITES else command}:
            for place in places:
                pc.last[kind, place] = end
        pc.sids.add(sid)


def violations(figures, rows, is_shared=True):
    """The rules that a trace breaks, each with a cycle. `figures`: those of `tilesim show machine --json`; `is_shared`:
    the pseudo channels of a channel share its command buses."""
    def value(path):
        return figures[f"hbm.{path}"]["value"]
    ticks = value("ticks")
    timing = {path.split(".")[2]: figure["value"] * ticks for path, figure in figures.items()
              if path.startswith("hbm.timing.")}
    checker = Checker(timing, {kind: value(f"bus.{kind}") for kind in ("act", "row", "column")})
    for row in rows:
        checker.take(row, is_shared)
    if value("controller.refresh") != "none":
        checker.finish(rows[-1]["cycle"], value("controller.refresh"))
    return checker.found
