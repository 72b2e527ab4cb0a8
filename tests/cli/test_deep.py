"""Texts that are long or nest deep, with a stack of 1 MB: chains work, absurd nesting is an error at its place.

Also that memory grows with the text, and not faster.
"""
import os
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import LONG, SANITIZED, TOOL, main, release_test, test

FOLDER = tempfile.TemporaryDirectory()
MANY = 1_000_000 if LONG else 50_000 if SANITIZED else 100_000  # at 16 bytes a level (ASan: 32), more than the stack
TERMS = 50_000


def small_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))


def run(words):
    """(exit code, the error's first line, peak MB)"""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen([str(TOOL), *map(str, words)], stdout=subprocess.DEVNULL, stderr=errors,
                                 preexec_fn=small_stack)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return child.returncode, errors.read().decode().split("\n")[0], used.ru_maxrss >> 10


def path(name, content):
    file = Path(FOLDER.name, name)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def fails(words, *messages):
    code, error, _ = run(words)
    assert code == 1 and all(message in error for message in messages), \
        f"{words[0]}: exit code {code}, {error[:300]}, expected {messages}"


def works(words):
    code, error, _ = run(words)
    assert code == 0, f"{words[0]}: exit code {code}, {error[:300]}"


def program(line):
    return ["run", path("p.tsim", line + "\nhalt\n")]


def tensor(layout):
    return program(f".tensor x hbm f32[2] {layout}")


def check(expression):
    return program(f".tensor x hbm f32[2] in zeros\n.tensor y hbm f32[2] out\n.check y ~= {expression}")


def nested(unit, inside, close=""):
    return unit * MANY + inside + close * MANY


def chain(operand, operator, terms=MANY):
    return operator.join([operand] * terms)


@test
def index_maps():
    for unit in ("(", "-", "max(1, "):
        fails(tensor(f"lambda a: [{nested(unit, 'a')}]"), "p.tsim:1:", "nested more than 200 deep")
    works(tensor(f"lambda a: [{chain('a', '+')}]"))
    fails(tensor(f"lambda a: [{chain('a', ',')}]"), "the map has more than 32 indices")
    fails(tensor(f"lambda {','.join(f'a{i}' for i in range(MANY))}: [a0]"), "more than 128 logical indices")
    works(["layout", f"f32[2] lambda a: [{chain('a', ' + ', 30_000)}]"])
    works(["layout", f"f32[2,3] lambda a, b: [a, b ^ {chain('0', '^', TERMS)}]"])


@test
def axe():
    fails(tensor("S[" + nested("(", "2")), "p.tsim:1:25: error: found '(', expected an extent")
    fails(tensor(f"S[{chain('1', ',')}:{chain('1', ',')}]"), "more than 128 iters")
    works(tensor("S[2:1]" + "+1" * TERMS))
    fails(tensor("S[2:1]" + "".join(f"+1@a{i}" for i in range(MANY))), "the layout has more than 32 axes")


@test
def cute():
    fails(tensor(nested("(", "2", ")")), "nested more than 64 deep")
    fails(tensor(f"({chain('1', ',')}):({chain('1', ',')})"), "modes, the array 1 dimensions")


@test
def xla():
    fails(program(f".tensor x hbm f32[{chain('1', ',')}]"), "the array has more than 128 dimensions")
    fails(program(".tensor x hbm f32[2]{0:T" + "(1)" * MANY + "}"), "more than 128 dimensions")
    fails(program(".tensor x hbm " + nested("(", "f32[2]", ")")), "tuples are nested more than 8192 deep")
    fails(["layout", "(" * 60_000 + "f32[2]"], "shape:1:8193: error: tuples are nested more than 8192 deep")
    works(["layout", "(" * 8_192 + "f32[2]" + ")" * 8_192])


@test
def constants():
    for unit in ("(", "-", "!", "min("):
        fails(program(f".param A = {nested(unit, '1')}"), "the expression is nested over 64 deep")
    for operator in ("+", "||", "*"):
        works(program(f".param A = {chain('1', operator)}"))
    works(program(f"smov s1, {chain('1', '+', TERMS)}"))
    works([*program(".param A = 1"), "-D", "A=" + chain("1", "+", TERMS)])
    fails([*program(".param A = 1"), "-D", "A=" + "(" * TERMS], "parameter A:1:65: error: the expression is nested")


@test
def references():
    for unit in ("(", "-", "x ** ", "exp(", "x["):
        fails(check(nested(unit, "x")), "the expression is nested too deep")
    works(check(chain("x", " + ", TERMS)))
    works(check(chain("(x)", " * ", TERMS)))
    fails(check(f"({chain('x', ',')})"), "a list is not a value")


@test
def blocks():
    fails(program("{" * MANY), "p.tsim:1:2: error: found '{', expected an instruction")
    for word in (".if 1", ".for i = 0, 1", ".loop s1 = 0, 4", ".macro m"):
        many = 50_000 if SANITIZED else 400_000  # a pass over all of it for each block takes seconds
        fails(program(f"{word}\n" * many + ".end\n" * many), "p.tsim:512:1: error: blocks are nested over 512 deep")
    fails(program(".if 1\n" * 511), "p.tsim:1:1: error: .if has no .end")
    many = range(10_000 if SANITIZED else 200_000)
    loops = "".join(f"l{i}: nop\n" for i in many) + "".join(f" br.lt s1, 0, l{i}\n" for i in many)  # each over all before it
    for option in "--time-only", "--convert":  # loops are looked for in other ways
        works([*program(loops), option])


@test
def machines():
    for text in ("[" * MANY, "{a: " * TERMS, "- " * TERMS, ":" * MANY, "&x [*x" * TERMS):
        code, error, _ = run(["show", "machine", path("m.yaml", text)])
        assert code == 1 and "m.yaml" in error, f"{text[:8]}: exit code {code}, {error[:300]}"


def safetensors(header):
    return ["convert", str(path("a.safetensors", struct.pack("<Q", len(header)) + header.encode())) + ":a",
            Path(FOLDER.name, "o.npy")]


@test
def headers_of_safetensors():
    fails(safetensors('{"a":' * TERMS), "a.safetensors:1:636: error: nested more than 127 deep")
    fails(safetensors('{"a":' + "[" * MANY), "a.safetensors:1:132: error: nested more than 127 deep")
    fails(safetensors(f'{{"a":{{"dtype":"F32","shape":[{chain("1", ",")}]}}}}'), "tensor 'a': more than 64 dims")


@test
def headers_of_npy():
    for shape in ("(" * 60_000, chain("1", ",", 30_000)):
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + ")}"
        content = b"\x93NUMPY\x02\0" + struct.pack("<I", len(header)) + header.encode()
        code, error, _ = run(["convert", path("a.npy", content), Path(FOLDER.name, "o.npy")])
        assert code == 1 and "a.npy" in error, error


@test
def modules():
    for shape in ("(" * MANY + "f32[2]" + ")" * MANY, f"({chain('f32[2]', ',', TERMS)})", f"f32[{chain('1', ',')}]"):
        works(["audit", path("m.txt", f"HloModule m\n\nENTRY e {{\n  ROOT p = {shape} parameter(0)\n}}\n")])
    for type_ in ("tuple<" * TERMS + "tensor<2xf32>" + ">" * TERMS, "tensor<" + "1x" * TERMS + "f32>"):
        works(["audit", path("m.mlir", f"module @m {{\n  func.func public @main(%arg0: {type_}) -> tensor<2xf32> {{\n"
                                       f"    return %arg0 : {type_}\n  }}\n}}\n")])


@test
def uses_and_slices():
    for use in ("(", "-", "dma;", "reduce:1-"):
        fails(["choose", "f32[8,128]", "--use", use * (100_000 // len(use))], "--use:1:")
    for cut in ("(" * 60_000, chain("0:1", ",", 25_000), "-" * 60_000):
        fails(["dma", f"f32[8,128][{cut}]", "f32[8,128]"], "source:1:")


@release_test
def memory_is_linear():
    """Less than 200 bytes for each byte of the text, in all."""
    for what, make in (("lambda", lambda n: tensor(f"lambda a: [{chain('a', '+', n)}]")),
                       ("check", lambda n: check(chain("x", "+", n))),
                       ("constant", lambda n: program(f".param A = {chain('1', '+', n)}")),
                       ("lists", lambda n: tensor(f"({chain('1', ',', n)}):1"))):
        small, large = (run(make(n))[2] for n in (1_000, 501_000))
        assert (large - small) << 20 < 200 * 1_000_000 or SANITIZED, f"{what}: {small} MB, {large} MB"


@test
def many_names():
    many = range(10_000 if SANITIZED else 40_000)
    works(program("\n".join(f"l{i}: jump l{i + 1}" for i in many) + f"\nl{len(many)}:"))
    works(program("\n".join(f".param p{i} = p{i - 1} + 1" if i else ".param p0 = 1" for i in many)))
    works(program("\n".join(f".tensor x{i} hbm f32[2]" for i in many) + "\n.sem s"))
    fails(program("\n".join(f"name{i}: nop" for i in many) + "\njump other"), "unknown label 'other'")


@test
def memory_of_a_run():
    tensors = program(".tensor x hbm f32[100000,10000] in zeros\n.tensor y hbm f32[2] out\n.tensor t vmem f32[2]")
    fails([*tensors, "--max-memory", "1GiB"], "needs about 3.7 GiB of memory, more than --max-memory, which is "
          "1.0 GiB: x 3.7 GiB, y 8 B, t 8 B")
    fails([*tensors, "--check", "--max-memory", "1GiB"], "needs about 7.5 GiB of memory")
    fails([*tensors, "-o", "x=x.npy", "--max-memory", "1GiB"], "needs about 7.5 GiB of memory")
    works([*tensors, "--max-memory", "1GiB", "--time-only"])
    # Scratch that a transfer reaches; a file that is converted is there twice.
    scratch = ".tensor x hbm f32[1000,1000]\n.tensor v vmem f32[8,128]\n.sem s\n"
    works([*program(scratch + "nop"), "--max-memory", "1MiB"])
    fails([*program(scratch + "dma v <- x[0:8, 0:128], s\nwait s"), "--max-memory", "1MiB"], "x 3.8 MiB, v 4.0 KiB")
    digits = Path(__file__).parent.parent / "data/digits_1000_u8.npy"
    whole = program(".tensor x hbm bf16[1000,784] in\nnop")
    fails([*whole, "-i", f"x={digits}", "--max-memory", "3MiB"], "needs about 3.7 MiB of memory")
    works([*whole, "-i", f"x={digits}", "--max-memory", "4MiB"])


if __name__ == "__main__":
    main()
