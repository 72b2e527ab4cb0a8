"""--html of every command in a headless Chromium, on a phone and on a desk: nothing overflows, fails or is asked for; tables
sort, programs fold, and a run's timeline goes by its keys."""
import functools
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import browser
from cli import expect, test

HERE = Path(tempfile.mkdtemp())
COMMANDS = {
    "run": ["run", "programs/softmax.tsim"],
    "mesh": ["run", "programs/mesh/all_reduce.tsim", "--mesh", "2x2"],
    "product": ["run", "programs/matmul.tsim"],
    "dma": ["dma", "f32[20,300]{1,0}", "f32[20,300]{1,0:T(8,128)}"],
    "layout": ["layout", "f32[20,300]{1,0:T(8,128)}"],
    "choose": ["choose", "programs/softmax.tsim", "--tensor", "x"],
    "audit": ["audit", "tests/data/hlo/step.txt"],
    "compare": ["compare", HERE / "a.json", HERE / "b.json"],
    "validate": ["validate", "--data", HERE / "rows.csv"],
}


@functools.cache
def page():
    """The one browser of all tests."""
    return browser.Browser()


def opened(name):
    """The page of a command, made once and shown."""
    path = HERE / f"{name}.html"
    if not path.exists():
        if name == "compare":
            for file, rows in (("a", 512), ("b", 1024)):
                (HERE / f"{file}.json").write_text(expect(["run", "programs/add.tsim", "-D", f"ROWS={rows}", "--json"]))
        if name == "validate":
            rows = Path("tests/data/tpu_measured.csv").read_text().splitlines()
            (HERE / "rows.csv").write_text("\n".join(row for row in rows if row.startswith(("id,", "v4_ss_copy_"))) + "\n")
        expect([*COMMANDS[name], "--html", path], out=None, err=None)
    page().open(f"file://{path}")


@test
def pages_fit_and_are_silent():
    for name in COMMANDS:
        for width in (390, 1280):
            page().resize(width, 844, width == 390)
            opened(name)
            wide = page().run("[document.documentElement.scrollWidth, document.body.scrollWidth]")
            assert max(wide) <= width, (name, width, wide)
            assert not page().errors, (name, page().errors)
    outside = [url for url in page().requests if not url.startswith((f"file://{HERE}", "about:", "data:"))]
    assert not outside, outside


@test
def rows_of_tables_begin_together():
    """Also where a cell has several lines: the first ones are beside each other."""
    page().resize(800, 844, False)
    for name in ("audit", "choose"):
        opened(name)
        apart = page().run("""Math.max(...[...document.querySelectorAll('table.sorts tbody tr')].map(row => {
            const tops = [...row.cells].filter(cell => cell.innerText).map(cell => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return range.getClientRects()[0].top;
            });
            return Math.max(...tops) - Math.min(...tops);
        }))""")
        assert apart < 8, (name, apart)


@test
def labels_of_the_roofline_keep_apart():
    """Its words touch neither each other nor the point, and a bar ends left of its number."""
    for name, width in ((name, width) for name in ("run", "product") for width in (500, 800, 1200)):
        page().resize(width, 844, False)
        opened(name)
        touching = page().run("""(() => {
            const items = [...document.querySelectorAll('.plot text:not(.roof[transform]), .plot circle')]
                .filter(item => item.getBoundingClientRect().width > 0);
            const inside = item => {
                const box = item.getBoundingClientRect(), part = item.tagName === 'text' ? .15 * Math.min(box.width, box.height) : 0;
                return {left: box.left + part, right: box.right - part, top: box.top + part, bottom: box.bottom - part};
            };
            const pairs = items.flatMap((a, i) => items.slice(i + 1).map(b => [a, b]));
            return pairs.filter(pair => {
                const [a, b] = pair.map(inside);
                return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            }).map(pair => pair.map(item => item.textContent).join(' and '));
        })()""")
        assert not touching, (name, width, touching)
        behind = page().run("""[...document.querySelectorAll('.heat')].filter(bar => {
            const range = document.createRange(), box = bar.getBoundingClientRect();
            range.selectNodeContents(bar);
            const room = parseFloat((getComputedStyle(bar).backgroundSize.match(/- ([0-9.]+)px/) || [0, 0])[1]);
            return bar.innerText && range.getBoundingClientRect().left < box.right - room;
        }).map(bar => bar.innerText)""")
        assert not behind, (name, width, behind)


@test
def headings_sort():
    column = "[...document.querySelector('table.sorts:not(details *)').tBodies[0].rows].map(row => Number(row.cells[{0}].dataset.value))"
    for name, heading in (("run", 2), ("dma", 1), ("choose", 1)):
        opened(name)
        before = page().run(column.format(heading))
        button = f"table.sorts:not(details *) th:nth-child({heading + 1}) button"
        page().click(button)
        assert page().run(column.format(heading)) == sorted(before, reverse=True), name
        page().run(f"document.querySelector('{button}').focus()")
        page().click(button)
        assert page().run(column.format(heading)) == sorted(before), name


@test
def programs_fold():
    opened("run")
    shown = "[...document.querySelectorAll('.listing tbody tr')].filter(row => !row.hidden).length"
    before = page().run(shown)
    page().click(".listing .fold")
    assert page().run(shown) < before
    page().click(".listing .fold")
    assert page().run(shown) == before


@test
def timeline_goes_by_keys():
    page().resize(1280, 844)
    opened("run")
    for _ in range(60):  # the keyboard comes there
        page().key("Tab")
        if page().run("document.activeElement.tagName") == "CANVAS":
            break
    assert page().run("document.activeElement.tagName") == "CANVAS"
    seen = "(() => { const d = document.querySelector('#timeline canvas').dataset; return [Number(d.from), Number(d.to)]; })()"
    press = "new Promise((done) => {{ document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: '{0}'}})); requestAnimationFrame(() => requestAnimationFrame(done)); }})"
    first, last = page().run(seen)
    page().run(press.format("+"))
    begin, end = page().run(seen)
    assert first < begin < end < last, (begin, end)
    page().key("ArrowRight")
    page().wait(f"{seen}[0] > {begin}")
    page().run(press.format("0"))
    assert page().run(seen) == [first, last]
    said = "document.getElementById('timeline-said').textContent"
    page().key("ArrowDown")
    page().wait(f"{said}.startsWith('core, bundles')")
    page().run(press.format("n"))
    assert "; cycle " in page().run(said), page().run(said)


@test
def names_of_a_timeline_are_whole():
    """At any width, also of a page that was wider or narrower before."""
    page().resize(1280, 844)
    opened("mesh")
    page().run("""(() => {
        const own = CanvasRenderingContext2D.prototype, {rect, fillText} = own;
        let right = 0;
        window.drawn = [];
        own.rect = function (x, y, wide, high) { right = x + wide; rect.call(this, x, y, wide, high); };
        own.fillText = function (text, x, y) {
            if (x === 6) drawn.push([text, Math.ceil(x + this.measureText(text).width), right]);
            fillText.call(this, text, x, y);
        };
    })()""")
    for width in (500, 1280, 500):
        page().run("drawn.length = 0")
        page().resize(width, 844, False)
        page().wait("drawn.length > 0")
        names = page().run("drawn")
        assert any("link" in name for name, _, _ in names), names
        assert not [name for name, end, room in names if end > room], (width, names)


@test
def timeline_is_drawn_in_both_schemes():
    opened("run")
    colours = "(() => { const c = document.querySelector('#timeline canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const s = new Set(); for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size; })()"
    for scheme in ("light", "dark"):
        page().scheme(scheme)
        opened("run")
        assert page().run(colours) > 8, scheme


browser.main(page)
