"""The library as its users have it: public headers, exported names, and examples built from what is installed."""
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import ALL, BUILD, SANITIZED, main, release_test, run, test

CONFIG = Path("build/config.ninja").read_text()
SANITIZE = ["-fsanitize=address,undefined"] if SANITIZED else []
HEADERS = sorted(str(p) for p in [*Path("include").glob("*.h"), *Path("include/tilesim").glob("*.h")])
LIBRARIES = re.search(r"^Libs.private: (.*)$", Path("tilesim.pc.in").read_text(), re.M)[1].split()
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SIDE = 1024 if SANITIZED else 4096
LARGE = f"f32[{SIDE},{SIDE}]{{1,0}}", f"f32[{SIDE},{SIDE}]{{1,0:T(8,128)}}"


def setting(name):
    found = re.search(rf"^{name} = (.*)$", CONFIG, re.M)
    return shlex.split(found[1]) if found else []


def done(*words, **options):
    result = subprocess.run([*words], capture_output=True, text=True, **options)
    assert result.returncode == 0, (words, result.stderr)
    return result.stdout


LANGUAGES = {".c": [*(setting("cc") or ["cc"]), "-std=c11"]}
if ALL and shutil.which("g++"):  # under ASan the examples in C call what those in C++ do
    LANGUAGES[".cpp"] = ["g++", "-std=c++17"]


@release_test
def headers_alone_and_together():
    with tempfile.TemporaryDirectory() as folder:
        for suffix, compiler in LANGUAGES.items():
            for number, names in enumerate([*([h] for h in HEADERS), HEADERS]):
                source = Path(folder, f"{number}{suffix}")
                source.write_text("".join(f'#include "{n.removeprefix("include/")}"\n' for n in names))
                done(*compiler, *STRICT, "-Iinclude", "-fsyntax-only", str(source))


@test
def exported_names():
    """The shared library exports what the public headers declare, and nothing else."""
    if SANITIZED:
        return
    text = re.sub(r"/\*.*?\*/", "", "".join(Path(h).read_text() for h in HEADERS), flags=re.S)
    declared = {re.search(r"(\w+)\s*\(", d)[1] for d in re.findall(r"^TS_API (?:TS_NORETURN )?([^;]*);", text, re.M)}
    listed = done("nm", "-D", "--defined-only", str(BUILD / "libtilesim.so.0")).split("\n")
    exported = {line.split()[2] for line in listed if line}
    assert exported == declared, (exported - declared, declared - exported)
    assert all(name.startswith("ts_") for name in exported) and len(exported) > 90
    imported = {line.split()[-1].split("@")[0] for line in done("nm", "-D", "--undefined-only", str(BUILD / "libtilesim.so.0")).split("\n") if line}
    assert not imported & {"getenv", "setenv", "mallopt", "exit", "printf", "puts", "putchar", "perror", "stdout", "stderr", "srand", "setlocale"}, imported
    assert "libtilesim.so.0" in done("readelf", "-d", str(BUILD / "libtilesim.so.0"))


def install(folder):
    """As `ninja install` does; a sanitizer's build is linked as it is."""
    if SANITIZED:
        shutil.copytree("include", f"{folder}/include")
        return ["-I", f"{folder}/include"], [str(BUILD / "libtilesim.a"), *LIBRARIES]
    relative = {**os.environ, "PREFIX": os.path.relpath(folder), "DESTDIR": ""}
    done("ninja", "-f", "build/build.ninja", "install", env=relative)
    flags = done("pkg-config", "--cflags", "--libs", "tilesim", env={**os.environ, "PKG_CONFIG_PATH": f"{folder}/lib/pkgconfig"}) \
        if shutil.which("pkg-config") else f"'-I{folder}/include' '-L{folder}/lib' -ltilesim"
    places = [flag[2:] for flag in shlex.split(flags) if flag[:2] in ("-I", "-L")]
    assert len(places) == 2 and all(map(os.path.isabs, places)), flags  # they are for whom builds elsewhere
    return [], shlex.split(flags)


@release_test
def an_empty_prefix_is_the_default():
    with tempfile.TemporaryDirectory() as folder:
        for prefix, place in ("", "usr/local"), ("/opt/a", "opt/a"):
            out = done("ninja", "-f", "build/build.ninja", "install", env={**os.environ, "PREFIX": prefix, "DESTDIR": folder})
            assert f"installed in {folder}/{place}\n" in out, out
            assert f"prefix=/{place}\n" in Path(folder, place, "lib/pkgconfig/tilesim.pc").read_text()


def build(folder, name, before, after):
    source = Path("examples", name)
    program = f"{folder}/{name.replace('.', '_')}"
    done(*LANGUAGES[source.suffix], *STRICT, *before, str(source), *SANITIZE, *setting("user_ldflags"), *after, "-o", program)
    return program


def asked(*words):
    code, out, err = run(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def check_convert(program, environment):
    """Two arrays into tiles, whose padding is zero, as `tilesim convert` makes them of each."""
    shapes = "f32[3,5]", "bf16[3,5]{1,0:T(2,4)}"
    arrays = [struct.pack("<15f", *(k * n for k in range(15))) for n in (1, 100)]
    with tempfile.TemporaryDirectory() as folder:
        tiles = b""
        for array in arrays:
            Path(folder, "a.bin").write_bytes(array)
            done(str(BUILD / "tilesim"), "convert", f"{folder}/a.bin", f"{folder}/t.bin", "--from", shapes[0], "--to", shapes[1])
            tiles += Path(folder, "t.bin").read_bytes()
    made = subprocess.run([program, *shapes], input=b"".join(arrays), capture_output=True, env=environment)
    assert (made.returncode, made.stdout, made.stderr) == (0, tiles, b""), made
    for words, code, said in (([], 2, "usage: convert SRC DST\n"), (["f32[3,5]", "f32[5,3]"], 1, "convert: the source has the dims [3,5], the destination [5,3]\n"),
                              (["f32[3,x]", "f32[5,3]"], 1, "convert: found 'x', expected ")):
        wrong = subprocess.run([program, *words], input="", capture_output=True, text=True, env=environment)
        assert wrong.returncode == code and wrong.stderr.startswith(said), wrong


@test
def examples_from_what_is_installed():
    examples = sorted(p.name for p in Path("examples").iterdir() if p.suffix in LANGUAGES)
    price, layouts = asked("dma", *LARGE), asked("choose", "f32[1024,3]{1,0}", "--use", "dma:hbm>vmem,reduce:1")
    with tempfile.TemporaryDirectory() as folder:
        flags = install(folder)
        environment = {**os.environ, "LD_LIBRARY_PATH": f"{folder}/lib"}
        for name in examples:
            program = build(folder, name, *flags)
            kind = name.split(".")[0]
            assert kind == "builder" or len(Path("examples", name).read_text().splitlines()) < 40, name
            if kind == "convert":
                check_convert(program, environment)
                continue
            words = {"price": LARGE, "choose": ("f32[1024,3]{1,0}", "dma:hbm>vmem,reduce:1")}.get(kind, ())
            out = done(program, "tpu-v5e", *words, env=environment)
            if kind == "price":
                assert out.startswith(f"{price['cycles']} cycles, {price['microseconds']:.3f} us, limited by "), out
            elif kind == "choose":
                best = layouts["candidates"][0]
                assert out.split()[0] == best["shape"] and out.split()[1] == str(best["cycles"]), (out, best)
            else:
                assert re.fullmatch(r"\d+ cycles, x\[7,127\] = 2046\n|TPU v5e: \d+ cycles, right\n", out), out
            wrong = subprocess.run([program, "tpu-v9", *words], capture_output=True, text=True, env=environment)
            assert wrong.returncode == 1 and f"{kind}: no machine is called 'tpu-v9'" in wrong.stderr, wrong
            few = subprocess.run([program, "tpu-v5e"], capture_output=True, text=True, env=environment)
            assert not words or (few.returncode, few.stderr.startswith(f"usage: {kind} MACHINE ")) == (2, True), few


main()
