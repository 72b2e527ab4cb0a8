"""configure.py: upward includes and circles are refused, so are targets of build.ninja that nothing makes."""
import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import BUILD, expect, main, release_test

ROOT = Path(__file__).parent.parent.parent


def checked(files, code, err):
    """`configure.py --check` in a project of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"build.ninja": "", **files}.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        script = shutil.copy(ROOT / "configure.py", folder)
        expect([script, "--check"], code=code, err=err, tool=sys.executable)


def refused(name, text, err):
    """The same of one file, which must be refused."""
    checked({name: text}, 1, err + "\n")


@release_test
def one_file_knows_where_tests_write():
    """So that what tests/run.py says in TMPDIR holds for all."""
    named = [path.name for path in (ROOT / "tests").rglob("*.[ch]") if '"/tmp' in path.read_text()]
    assert named == ["temporary.c"], named


@release_test
def upward_include():
    refused("sim/base/a.h", '\n#include "base/b.h"\n#include "tilesim/b.h"\n  # include "dma/c.h"\n',
            "sim/base/a.h:4: layer 'base' must not include from 'dma'")
    refused("include/tilesim/a.h", '#include "tilesim/b.h"\n#include "base/b.h"\n',
            "include/tilesim/a.h:2: a public header includes public ones only")
    refused("sim/dma/a.c", '#include "a_private.h"\n#include "base/b_private.h"\n',
            "sim/dma/a.c:2: b_private.h is private to sim/base")
    refused("sim/dma/rows.def", '#include "core/c.h"\n',
            "sim/dma/rows.def:1: layer 'dma' must not include from 'core'")


@release_test
def unknown_layer():
    refused("sim/bas/a.c", "", f"sim/bas/a.c:1: 'bas' is not a layer; the layers are: {' '.join(loaded().LAYERS)}")
    refused("sim/dma/a.c", '#include "bass/a.h"\n',
            "sim/dma/a.c:1: layer 'dma' must not include from 'bass'")


@release_test
def circles_of_includes():
    low, high = '/* #include "high.h" */\nint low;\n', '#include "memory/low.h"\n#include "base/high.h"\n'
    fine = {"sim/memory/low.h": low, "sim/memory/high.h": high, "sim/base/high.h": "", "sim/memory/a.c": '#include "high.h"\n'}
    checked(fine, 0, "")
    checked({**fine, "sim/memory/low.h": low + '  # include "rows.def"\n', "sim/memory/rows.def": '#include "high.h"\n'}, 1,
            "these include each other in a circle: sim/memory/high.h sim/memory/low.h sim/memory/rows.def\n")


@release_test
def circles_of_files():
    """No two files of sim/ need each other, directly or by a third, for what their objects need and have."""
    configure = loaded()
    made = {BUILD / "obj" / path.relative_to(ROOT).with_suffix(".o"): path for path in sorted(Path(ROOT, "sim").rglob("*.c"))}
    objects = {str(file): path for file, path in made.items() if file.exists()}  # not those of MPI where there is none
    listed = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout
    symbols = [(line.split(":")[0], line.split()[-2], line.split()[-1]) for line in listed.splitlines()]
    owner = {name: file for file, kind, name in symbols if kind in "TDBRVWC"}
    needs = {file: set() for file in objects}
    for file, kind, name in symbols:
        if kind == "U" and name in owner:
            needs[file].add(owner[name])
    assert len(objects) > 400 and sum(map(len, needs.values())) > 2000, "objects are read"
    circle = [objects[file].relative_to(ROOT).as_posix() for file in configure.in_circles(needs)]
    assert not circle, circle


@release_test
def unknown_target():
    refused("build.ninja", "build all: ask always\nbuild tests: ask always\n", "build.ninja: there is no target 'tests'")


def loaded():
    """configure.py as a module."""
    spec = importlib.util.spec_from_file_location("configure", ROOT / "configure.py")
    configure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(configure)
    return configure


@release_test
def what_tests_alone_need():
    """On a machine that has nothing but these programs, made one by one: what `configure.py test` asks for beside the rest."""
    configure, path = loaded(), os.environ["PATH"]
    configure.PYTHONS = ["python3"]  # no path of its own: none is there, and none imports NumPy to be asked
    with tempfile.TemporaryDirectory() as folder:
        def made(*names, status=0):
            for name in names:
                Path(folder, name).write_text(f'#!/bin/sh\necho "$0 $*" >> {folder}/log\nexit {status}\n')
                Path(folder, name).chmod(0o755)

        def asked():
            return [part for part in configure.find(True)[1] if part not in configure.find(False)[1]]

        os.environ["PATH"] = folder
        try:
            assert asked() == ["emscripten", "Chromium"], asked()
            made("emcc", "google-chrome")
            assert asked() == []
            made("apt-get", status=7)
            assert asked() == ["emscripten"], asked()  # what unpacks sources is missing
            said = io.StringIO()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                configure.install(["emscripten", "Chromium"], False)
                assert not Path(folder, "log").exists()
                made("sudo", status=7)
                configure.install(["emscripten", "Chromium"], True)
        finally:
            os.environ["PATH"] = path
        ran = [re.sub(r"^.*apt-get ", "", line) for line in Path(folder, "log").read_text().splitlines()]
        install = "install -y --no-install-recommends "
        assert ran == ["update", install + "emscripten dpkg-dev", install + "chromium"], ran
        assert "this failed, which only the tests of pages may miss: " in said.getvalue(), said.getvalue()
        assert "which only `ninja web` and the tests of its page may miss: " in said.getvalue(), said.getvalue()


@release_test
def the_page_without_emscripten():
    configure = loaded()
    command = re.search(r"^build web: run\n  command = (.*)$", configure.build_ninja(), re.MULTILINE)[1]
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 1 and "this needs emscripten (emcc)" in done.stderr, done


@release_test
def shipped():
    expect([str(ROOT / "configure.py"), "--check"], tool=sys.executable)


main()
