"""The wheel and `pip install ./python`, each in a fresh virtual environment, without a network; the text of the package."""
import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import package
from cli import main, test

ROOT = package.ROOT
TRY = ("import tilesim, numpy; print(tilesim.__file__); "
       "print(tilesim.convert(numpy.arange(6, dtype='f4').reshape(2, 3), to='f32[2,3]{0,1}').cast('f').tolist())")


def done(*words, **environment):
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment})
    assert result.returncode == 0, (words, result.stdout, result.stderr)
    return result.stdout


def environment(folder):
    """A new virtual environment that sees NumPy and cffi of this Python; "" where that cannot make one."""
    has_pip, has_ensurepip = (subprocess.run([sys.executable, "-c", f"import venv, {name}"], capture_output=True).returncode == 0
                              for name in ("pip", "ensurepip"))
    if not has_pip and not has_ensurepip:
        print("skipped: this Python has no venv, or neither pip nor ensurepip (Debian: python3-venv)")
        return ""
    done(sys.executable, "-m", "venv", "--system-site-packages", *["--without-pip"] * has_pip, str(folder))  # whose own takes 4 s
    python = str(Path(folder, "bin", "python"))
    place = done(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(place, "outer.pth").write_text("\n".join(map(sysconfig.get_path, ("purelib", "platlib"))))  # this may be one, too
    return python


def pip(python, *words):
    done(python, "-m", "pip", *words, "--quiet", PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONPATH="",
         PIP_NO_CACHE_DIR="1")


def used(python, folder):
    """Uses what is installed there."""
    place, values = subprocess.run([python, "-c", TRY], cwd=folder, capture_output=True, text=True, check=True,
                                   env={**os.environ, "PYTHONPATH": ""}).stdout.splitlines()
    assert place.startswith(str(folder)) and values == "[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]", (place, values)
    return Path(place).parent


@test
def wheel_has_all_and_is_the_same_again():
    with tempfile.TemporaryDirectory() as folder:
        wheel, again = (done(sys.executable, "python/backend.py", f"{folder}/{name}").strip() for name in "ab")
        assert Path(wheel).read_bytes() == Path(again).read_bytes()
        with zipfile.ZipFile(wheel) as file:
            names = file.namelist()
            listed = [line.split(",")[0] for line in file.read(names[-1]).decode().splitlines()]
        assert names[-1].endswith("RECORD") and sorted(listed) == sorted(names)
        assert {"tilesim/libtilesim.so.0", "tilesim/declarations.h", "tilesim/__init__.py", "tilesim/py.typed"} <= set(names)


@test
def wheel_and_folder_install():
    with tempfile.TemporaryDirectory() as folder:
        python = environment(Path(folder, "venv"))
        if not python:
            return
        pip(python, "install", "--no-compile", done(sys.executable, "python/backend.py", folder).strip())
        carried = used(python, folder)
        if shutil.which("ldd"):
            shown = done("ldd", str(carried / "libtilesim.so.0"))
            assert f"{carried}/libyaml" in shown and f"{carried}/libcjson" in shown, shown
        pip(python, "uninstall", "--yes", "tilesim")
        assert [path for path in carried.rglob("*") if path.is_file() and path.suffix != ".pyc"] == []
        pip(python, "install", "--no-compile", "./python")
        used(python, folder)


@test
def syntax_is_that_of_python_3_9():
    paths = [*ROOT.glob("python/*.py"), *ROOT.glob("python/tilesim/*.py")]
    assert len(paths) > 8
    for path in paths:
        tree = ast.parse(path.read_text(encoding="ascii"), str(path), feature_version=(3, 9))
        assert max(map(len, path.read_text().splitlines())) <= 130, path
        for node in ast.walk(tree):
            public = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
            if public and path.parent.name == "tilesim":
                overload = any(ast.unparse(decorator) == "overload" for decorator in getattr(node, "decorator_list", []))
                assert ast.get_docstring(node) or overload, f"{path}:{node.lineno}: {node.name} has no docstring"
                if isinstance(node, ast.FunctionDef) and not path.name.startswith("_") and path.name != "errors.py":
                    bare = [a.arg for a in node.args.args + node.args.kwonlyargs
                            if a.annotation is None and a.arg not in ("self", "cls", "arena", "array", "data")]
                    assert not bare and node.returns is not None, f"{path}:{node.lineno}: {node.name} lacks type hints"


@test
def declarations_are_those_of_the_headers():
    """Every function that the library exports is declared; nothing else is in the text."""
    text = (ROOT / "build" / "python" / "declarations.h").read_text()
    assert "TS_API" not in text and "#" not in text and "/*" not in text
    listed = done("nm", "-D", "--defined-only", str(ROOT / "build" / "python" / "libtilesim.so.0")).splitlines()
    assert len(listed) > 90 and [line for line in listed if f"{line.split()[2]}(" not in text] == []


main()
