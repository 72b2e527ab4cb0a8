"""The example of the library builds with what is installed alone, and runs."""
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from cli import BUILD, main, test

CONFIG = Path("build/config.ninja").read_text()
ASAN = ["-fsanitize=address,undefined"] if BUILD.name == "asan" else []


def setting(name):
    found = re.search(rf"^{name} = (.*)$", CONFIG, re.M)
    return shlex.split(found[1]) if found else []


@test
def the_builder_makes_a_program():
    libraries = re.search(r"-ltilesim (.*)$", Path("tilesim.pc.in").read_text(), re.M)[1].split()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cp", "-R", "sim", f"{folder}/tilesim"], check=True)
        example = f"{folder}/builder"
        done = subprocess.run([*setting("cc"), "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *setting("user_cflags"),
                               f"-I{folder}", f"-I{folder}/tilesim", "examples/builder.c", str(BUILD / "libtilesim.a"), *ASAN,
                               *setting("user_ldflags"), *libraries, "-o", example], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for machine in "tpu-v2", "tpu-v5e", "tpu-v7x":
            done = subprocess.run([example, machine], capture_output=True, text=True)
            assert re.fullmatch(rf"{machine}: \d+ cycles, \d+ bundles, right\n", done.stdout), done
        done = subprocess.run([example, "tpu-v9"], capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr.startswith("builder: no machine is called 'tpu-v9'"), done


main()
