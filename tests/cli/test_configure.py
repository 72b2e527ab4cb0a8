"""configure.py: upward includes are refused, so are targets of build.ninja that nothing makes."""
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import expect, main, test

ROOT = Path(__file__).parent.parent.parent


def refused(name, text, err):
    """`configure.py --check` in a project of one file, which it must refuse."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        script = shutil.copy(ROOT / "configure.py", folder)
        expect([script, "--check"], code=1, err=err + "\n", tool=sys.executable)


@test
def upward_include():
    refused("sim/base/a.h", '\n#include "base/b.h"\n#include "tilesim/b.h"\n  # include "dma/c.h"\n',
            "sim/base/a.h:4: layer 'base' must not include from 'dma'")
    refused("include/tilesim/a.h", '#include "tilesim/b.h"\n#include "base/b.h"\n',
            "include/tilesim/a.h:2: a public header includes public ones only")
    refused("sim/dma/a.c", '#include "a_private.h"\n#include "base/b_private.h"\n',
            "sim/dma/a.c:2: b_private.h is private to sim/base")
    refused("sim/dma/rows.def", '#include "core/c.h"\n',
            "sim/dma/rows.def:1: layer 'dma' must not include from 'core'")


@test
def unknown_layer():
    refused("sim/bas/a.c", "", "sim/bas/a.c:1: 'bas' is not a layer; the layers are: base probe config isa "
            "layout layout/notation machine memory dram move dma check core program chip host run study audit choose validate "
            "report api cli")
    refused("sim/dma/a.c", '#include "bass/a.h"\n',
            "sim/dma/a.c:1: layer 'dma' must not include from 'bass'")


@test
def unknown_target():
    refused("build.ninja", "build all: ask always\nbuild tests: ask always\n", "build.ninja: there is no target 'tests'")


@test
def shipped():
    expect([str(ROOT / "configure.py"), "--check"], tool=sys.executable)


main()
