"""The committed texts of kernels: whole, of the cases that they are named after, and none of what is committed is big."""
import re
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "support"), str(Path(__file__).parent)]
import package  # noqa: E402, F401
from cli import expect, main, test  # noqa: E402

import numpy as np  # noqa: E402

import cases  # noqa: E402

MOST_BYTES = 6 << 20
ELEMENTS = {"s32": "i32", "s16": "i16", "s8": "i8", "s4": "i4", "f8e4m3fn": "f8E4M3FN", "f8e5m2": "f8E5M2"}


def attribute(text, name):
    return re.search(rf"tilesim\.{name} = (\[[^\"]*?\]|\[(?:\".*?\"(?:, )?)+\]|\"[^\"]*\"|\S+ : i64)[,}}]", text)[1]


@test
def every_text_is_of_a_case():
    assert len(cases.CASES) >= 30 and len({case.kind for case in cases.CASES.values()}) >= 8
    expected = {cases.text_path(*pair).name for pair in cases.names()}
    assert {path.name for path in cases.FOLDER.glob("*.mlir")} == expected
    assert sum(path.stat().st_size for path in cases.FOLDER.iterdir()) < MOST_BYTES


@test
def operands_are_the_cases():
    for name, generation in cases.names():
        case, text = cases.CASES[name], cases.text_path(name, generation).read_text()
        assert attribute(text, "generation") == f"{generation} : i64"
        types = re.findall(r"tensor<([\dx]*?)x?([a-z]+\d+[A-Z\d]*)>", attribute(text, "operands"))
        outputs = sorted(cases.FOLDER.glob(f"{name}.out*.npy"))
        assert attribute(text, "results") == f"{len(outputs)} : i64" and len(types) == len(case.operands) + len(outputs), name
        wholes = [words.partition(" ")[0][1:-1].replace(",", "x") for words in re.findall(r'"(.*?)"', attribute(text, "arrays"))] \
            if case.mesh else [dims for dims, _ in types]
        assert not case.mesh or attribute(text, "mesh") == f'"{case.mesh}"'
        types = [(dims, element) for dims, (_, element) in zip(wholes, types)]
        for operand, (dims, element) in zip(case.operands, types):
            kind, values = cases.filled(operand)
            assert (dims, element) == ("x".join(map(str, values.shape)), ELEMENTS.get(kind, kind)), (name, dims, element)
        for path, (dims, element) in zip(outputs, types[len(case.operands):]):
            array = np.load(path)
            assert "x".join(map(str, array.shape)) == dims and array.dtype.itemsize * 8 == int(re.sub(r"\D", "", element.split("E")[0][1:]) or 0), name
        fills = re.findall(r'"((?:random|file)\(.*?\))"', attribute(text, "fills").replace("\\22", "'"))
        assert [fill.replace("'", '"') for fill in fills] == case.fills(name), fills


@test
def arguments_of_few_bits_have_the_compilers_tiles():
    """As libtpu's dumps have them on v4, v5e, v6e and v7x: of 8 bits 32 rows where that divides, of 4 bits 64, else at most 8."""
    large = 0
    for pair in cases.names():
        main = re.search(r"function_type = \((.*?)\) -> ", cases.text_path(*pair).read_text())[1]
        for dims, element, rows in re.findall(r"memref<((?:\d+x){2,})(i8|i4|f8E\w+), #tpu.tiled<\((\d+),128\)", main):
            most = 64 if element == "i4" else 32
            whole = int(dims.split("x")[-3]) % most == 0
            assert int(rows) == most if whole else int(rows) <= 8, (pair, dims, element, rows)
            large += whole
    assert large >= 20, large


@test
def ops_keep_their_lines():
    """Every place is a line of the kernels' file; all ops that are not constants or structure have one."""
    for pair in cases.names():
        source = cases.CASES[pair[0]].source
        lines = Path(source).read_text().splitlines()
        text = cases.text_path(*pair).read_text()
        places = dict(re.findall(r'^#(loc\d+) = loc\((.*)\)$', text, re.M))
        for place in places.values():
            found = re.fullmatch(rf'"{source}":(\d+):(\d+)|unknown', place)
            assert found, (pair, place)
            assert place == "unknown" or int(found[2]) <= len(lines[int(found[1]) - 1]) + 1, (pair, place)
        for op, used in re.findall(r'"(math\.\w+|tpu\.matmul|tpu\.enqueue_dma|tpu\.load|tpu\.store)".* loc\(#(loc\d+)\)$', text, re.M):
            assert places[used] != "unknown", (pair, op)


@test
def fills_are_the_rule_of_programs():
    """What cases.py draws is what `random` of a program is."""
    with tempfile.TemporaryDirectory() as folder:
        for operand, kind in (("f32[33,130] random(seed=7, lo=-2, hi=3)", np.float32), ("s32[9,50] random(seed=3, lo=-99, hi=98)", np.int32)):
            dims, fill = operand.split(" ", 1)
            Path(folder, "x.tsim").write_text(f".tensor x hbm {dims} in {fill}\n.tensor y hbm {dims} out\n.sem done\n dma y <- x, done\n wait done\n halt\n")
            expect(["run", f"{folder}/x.tsim", "-o", f"y={folder}/y.npy"], code=0)
            assert (np.load(f"{folder}/y.npy") == cases.filled(operand)[1].astype(kind)).all(), operand


main()
