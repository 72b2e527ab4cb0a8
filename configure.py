#!/usr/bin/env python3
"""Finds what tilesim needs, installs what is missing, and writes build/build.ninja from the file tree.

  ./configure.py          find (and install) what is needed; write build/build.ninja and build/config.ninja
  ./configure.py demo     the same, then build and run an example
  ./configure.py test     the same, with what some tests alone need; then build and run every test, in release and under ASan + UBSan
  ./configure.py jax      only make build/venv-jax: Python with JAX and libtpu, for tilesim.jax and its tests (1.2 GB)
  ./configure.py --check  exit 1 where the layers, circles of includes or the targets of build.ninja are not as they must be; changes nothing
  --no-install            only print the command that would install what is missing
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
CONFIG = ROOT / "build" / "config.ninja"
NINJA = ROOT / "build" / "build.ninja"  # everything; the committed build.ninja only names its targets

# Lowest first: a file may include headers of its own layer and of those before it.
LAYERS = ("base probe config isa layout layout/notation machine mesh memory dram move dma check core program mosaic chip pod host run study audit choose "
          "validate sweep report api cli").split()

# What `./configure.py jax` makes. The versions are those that tests and docs/jax.md were run with; jax names libtpu's.
JAX = ROOT / "build" / "venv-jax" / "bin" / "python"
JAX_NEEDS = ["jax[tpu]==0.10.2", "cffi"]

# What `./configure.py demo` runs after building.
DEMO = [
    ["build/release/tilesim", "run", "programs/normalize.tsim", "-i", "x=tests/data/digits_1000_u8.npy",
     "-o", "y=build/digits_normalized.npy"],
]

WARNINGS = (
    "-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla "
    "-Wdouble-promotion -Wformat=2 -Wundef -Wno-enum-float-conversion"  # clang 19 warns of named constants
)
CFLAGS = f"-std=c11 -D_GNU_SOURCE {WARNINGS} -ffp-contract=off -fPIC -fvisibility=hidden -Iinclude -Isim -I. $user_cflags"
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"

# name: (compiler, flags for compiling and linking), and what compiles where that is another
VARIANTS = {
    "release": ("$cc", "-O2"),
    "asan": ("$cc", f"-O1 -g1 {SANITIZE} -fsanitize-undefined-trap-on-error"),  # its texts are 80,000 globals, registered at each start
    "fuzz": ("$clang", f"-O1 -g -D__SANITIZE_ADDRESS__ -Wno-pass-failed -fsanitize=fuzzer-no-link {SANITIZE}"),
    "gcc-O0": ("$cc", "-O0"),
    "clang-O0": ("$clang", "-O0"),
    "clang-O2": ("$clang", "-O2"),
    "aarch64": ("aarch64-linux-gnu-gcc", "-O2"),
    "web": ("NODE_PATH=/usr/share/nodejs $emcc", "-O2 -fno-pic -w -Ibuild/web/src -Ibuild/web/src/libyaml -Ibuild/web/src/zlib", "$emclang"),
}
TESTED = ["release", "asan"]
MATRIX = ["clang-O2"]  # asan and release are gcc with -O1 and -O2
LONG_MATRIX = ["gcc-O0", "clang-O0"]  # what `ninja test-long` compares too
LONG_ROUNDS = 4  # what `ninja test-long` multiplies the rounds of laws and of fuzzing by
# A host of 32 bits, for syntax alone: its floats as everywhere, clang's own 128 bits, the kernel's headers.
BITS32 = "-m32 -msse2 -mfpmath=sse -Xclang -fforce-enable-int128 -idirafter /usr/include/x86_64-linux-gnu"
EMULATOR = "qemu-aarch64"  # runs what the variant aarch64 makes
FUZZ_RUNS = 1000000

# ---------------------------------------------------------------------------------------------------------
# What must be there, and how it gets there.

MAIN = "\nint main(void) { return 0; }"
LIBRARIES = {  # part: (what needs it, C text that must compile, flags that link it)
    "libyaml": ("building", "#include <yaml.h>" + MAIN, "-lyaml"),
    "cmocka": ("the tests", "#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n"
               "#include <stdint.h>\n#include <cmocka.h>" + MAIN, "-lcmocka"),
    "cjson": ("building", "#include <cjson/cJSON.h>" + MAIN, "-lcjson"),
    "sqlite3": ("building", "#include <sqlite3.h>" + MAIN, "-lsqlite3"),
    "zlib": ("building", "#include <zlib.h>" + MAIN, "-lz"),
}
EMPTY = "#include <stdio.h>" + MAIN
FUZZER = "#include <stddef.h>\nint LLVMFuzzerTestOneInput(const char *d, size_t n) { return n > 9 && !d; }"
NO_CLANG = "sh -c 'echo this needs clang: run ./configure.py >&2; exit 1'"
OPTIONAL = {  # part: what it is for, and nothing else
    "clang": "`ninja matrix` and `ninja fuzz`",
    "clang sanitizers": "`ninja matrix` and `ninja fuzz`",
    "NumPy": "the package for Python",
    "cffi": "the package for Python",
    "emscripten": "`ninja web` and the tests of its page",
    "Chromium": "the tests of pages",
}
TEST_PARTS = ["emscripten", "Chromium"]  # of which only `./configure.py test` speaks, and installs them
CLANG_PARTS = ["clang", "clang sanitizers"]
PYTHON_PARTS = {"NumPy": "numpy", "cffi": "cffi"}  # part: module
# (its program, what it runs first, what it runs before the packages' names)
MANAGERS = [
    ("apt-get", "apt-get update", "apt-get install -y --no-install-recommends"),
    ("dnf", "", "dnf install -y"),
    ("pacman", "", "pacman -Sy --needed --noconfirm"),
    ("brew", "", "brew install"),
]
PACKAGES = {  # part: its packages, by manager
    "gcc": ("gcc libc6-dev", "gcc libasan libubsan", "gcc", "gcc"),
    "ninja": ("ninja-build", "ninja-build", "ninja", "ninja"),
    "libyaml": ("libyaml-dev", "libyaml-devel", "libyaml", "libyaml"),
    "cmocka": ("libcmocka-dev", "libcmocka-devel", "cmocka", "cmocka"),
    "cjson": ("libcjson-dev", "cjson-devel", "cjson", "cjson"),
    "sqlite3": ("libsqlite3-dev", "sqlite-devel", "sqlite", "sqlite"),
    "zlib": ("zlib1g-dev", "zlib-devel", "zlib", "zlib"),
    "clang": ("clang", "clang", "clang", "llvm"),
    "clang sanitizers": ("libclang-rt-dev", "compiler-rt", "compiler-rt", "llvm"),
    "NumPy": ("python3-numpy", "python3-numpy", "python-numpy", "numpy"),
    "cffi": ("python3-cffi", "python3-cffi", "python-cffi", "cffi"),
    "emscripten": ("emscripten dpkg-dev", "emscripten", "emscripten", "emscripten"),
    "Chromium": ("chromium", "chromium", "chromium", "--cask chromium"),
}
# What `ninja matrix` needs for aarch64; nothing is installed of another architecture without being asked for.
EMULATES = ("dpkg --add-architecture arm64 && apt-get update && apt-get install gcc-aarch64-linux-gnu qemu-user "
            "libyaml-dev:arm64 libcjson-dev:arm64 libcmocka-dev:arm64 libsqlite3-dev:arm64 zlib1g-dev:arm64")
NO_EMCC = ("ninja web: this needs emscripten (emcc) and, for the sources of libyaml, cJSON and zlib, dpkg-dev: on Debian "
           "apt-get install emscripten dpkg-dev, then ./configure.py")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NEEDED32 = "clang and, on Debian, libc6-dev-i386"
PYTHONS = ["python3", "/usr/bin/python3"]  # of which one may have NumPy, for `ninja bench`, and cffi, for our package
PLACES = ["", "-I/opt/homebrew/include -L/opt/homebrew/lib", "-I/usr/local/include -L/usr/local/lib"]


def compiles(compiler, text, flags):
    """Whether `compiler` makes a program of `text`."""
    if not compiler or not shutil.which(shlex.split(compiler)[0]):
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = [*shlex.split(compiler), "-x", "c", "-", "-o", folder + "/probe", *shlex.split(flags)]
        return subprocess.run(command, input=text.encode(), capture_output=True).returncode == 0


def chosen(variable, name, candidates):
    """A compiler: the environment's, else the one in use, else the first that works."""
    in_use = re.search(rf"^{name} = (.*)$", CONFIG.read_text(), re.MULTILINE) if CONFIG.exists() else None
    tried = [os.environ.get(variable), in_use and in_use[1], *candidates]
    return next((compiler for compiler in tried if compiles(compiler, EMPTY, "")), "")


def find(tests):
    """Looks for every part, and those of tests; returns (config, names of the missing parts)."""
    cc, clang = chosen("CC", "cc", ["gcc", "cc"]), chosen("CLANG", "clang", ["clang"])
    missing = [] if compiles(cc, EMPTY, "-fsanitize=address,undefined") else ["gcc"]
    missing += [] if shutil.which("ninja") else ["ninja"]
    absent = {place: [name for name, (_, text, flags) in LIBRARIES.items()
                      if not compiles(cc, text, f"{place} {flags}")] for place in PLACES}
    place = min(PLACES, key=lambda candidate: len(absent[candidate]))
    missing += absent[place]
    if not clang:
        missing += CLANG_PARTS
    elif not compiles(clang, FUZZER, "-fsanitize=fuzzer,address,undefined"):
        missing += CLANG_PARTS[1:]
    if not python_with(*PYTHON_PARTS.values()):
        missing += [part for part, module in PYTHON_PARTS.items() if not has_modules(PYTHONS[-1], module)]
    if tests:
        missing += [part for part, there in zip(TEST_PARTS, (has_emscripten(), has_browser())) if not there]
    return {"cc": cc, "clang": clang, "place": place}, missing


def install_commands(missing):
    """The commands that install `missing`, or None on a system whose packages we do not know."""
    for index, (program, first, command) in enumerate(MANAGERS):
        if shutil.which(program):
            sudo = "" if os.geteuid() == 0 or program == "brew" else "sudo "
            needed = " ".join(PACKAGES[part][index] for part in missing if part not in OPTIONAL)
            optional = [PACKAGES[part][index] for part in missing if part in OPTIONAL]
            groups = [needed] * bool(needed) + optional  # one that fails does not stop the others
            return [sudo + first] * bool(first) + [f"{sudo}{command} {group}" for group in groups]
    return None


def install(missing, allowed):
    """Says what is missing and installs it if that is allowed."""
    print("configure.py: missing: " + ", ".join(missing))
    commands = install_commands(missing)
    if commands is None:
        print("configure.py: no apt-get, dnf, pacman or brew here; install these by hand and run this again")
        return
    print("configure.py: " + ("installing them with:" if allowed else "to install them, run:"), flush=True)
    print("".join(f"    {command}\n" for command in commands), end="", flush=True)
    for command in commands if allowed else []:
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        words = shlex.split(command)
        if not shutil.which(words[0]) or subprocess.run(words, env=environment).returncode != 0:
            only = next((f", which only {use} may miss" for part, use in OPTIONAL.items() if command.endswith(PACKAGES[part])), "")
            print(f"configure.py: this failed{only}: {command}", file=sys.stderr)


def has_aarch64():
    """Whether 64-bit ARM can be built for, with all libraries, and emulated."""
    compiler = VARIANTS["aarch64"][0]
    return bool(shutil.which(EMULATOR)) and all(compiles(compiler, text, flags) for _, text, flags in LIBRARIES.values())


def has_32_bits(clang):
    """Whether clang finds all headers for 32-bit x86."""
    texts = [*(text for _, text, _ in LIBRARIES.values()), "#include <errno.h>" + MAIN]
    return all(compiles(clang, text, f"{BITS32} -fsyntax-only") for text in texts)


def has_modules(python, *modules):
    """Whether that Python has all of them."""
    command = [python, "-c", "import " + ", ".join(modules)]
    return bool(shutil.which(python)) and subprocess.run(command, capture_output=True).returncode == 0


def python_with(*modules):
    """The first Python that has all of them, or ""."""
    return next((python for python in PYTHONS if has_modules(python, *modules)), "")


def emcc():
    """Emscripten's compiler, or ""."""
    compiler = os.environ.get("EMCC", "emcc")
    return compiler if shutil.which(shlex.split(compiler)[0]) else ""


def emclang():
    """What emcc compiles with, as it says itself: its own start takes longer than most files."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "probe.c").write_text(EMPTY)
        command = [*shlex.split(emcc() or "false"), "-v", "-c", f"{folder}/probe.c", "-o", f"{folder}/probe.o"]
        said = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, NODE_PATH="/usr/share/nodejs")).stderr
    found = re.search(r"^ *(\S*clang\S* .*-target wasm32.*?) -v ", said, re.MULTILINE)
    return found[1] if found else VARIANTS["web"][0]


def has_emscripten():
    """Whether there is emscripten and, where apt brings the sources of libraries, what unpacks them."""
    return bool(emcc()) and bool(shutil.which("dpkg-source") or not shutil.which("apt-get"))


def has_browser():
    """Whether tests find a browser."""
    return any(map(shutil.which, BROWSERS))


def mpicc():
    """MPI's compiler, or "": it is never installed without being asked for."""
    return shutil.which("mpicc") if compiles("mpicc", "#include <mpi.h>" + MAIN, "") else ""


def tests_page(allowed):
    """Whether tests open the page: there is emscripten, a browser, and what the page is built from, fetched if that is allowed."""
    header = ROOT / "build" / "web" / "src" / "zlib" / "zlib.h"
    if not emcc() or not has_browser():
        return False
    if allowed and not header.exists():
        subprocess.run([sys.executable, "web/sources.py", "build/web/src"], cwd=ROOT)
    return header.exists()


def provide(allowed, tests):
    """Finds or installs every part, and those of tests, and writes build/config.ninja; returns whether a build is possible."""
    config, missing = find(tests)
    if missing:
        install(missing, allowed)
        config, missing = find(tests) if allowed else (config, missing)
    flags = shlex.split(config["place"])
    dnnl = compiles(config["cc"], "#include <dnnl.h>" + MAIN, "-ldnnl")
    lines = {
        "dnnl_cflags": "-DTS_BENCH_DNNL" * dnnl,
        "dnnl_libs": "-ldnnl" * dnnl,
        "numpy_python": python_with("numpy"),
        "package_python": python_with(*PYTHON_PARTS.values()),
        "cc": config["cc"] or "cc",
        "clang": NO_CLANG if set(missing) & set(CLANG_PARTS) else config["clang"],
        "emcc": emcc(),
        "mpicc": mpicc(),
        "emclang": emclang(),
        "python": shlex.quote(sys.executable),
        "user_cflags": " ".join([*flags[:1], os.environ.get("CFLAGS", "")]).strip(),
        "user_ldflags": " ".join([*flags[1:], os.environ.get("LDFLAGS", "")]).strip(),
    }
    CONFIG.parent.mkdir(exist_ok=True)
    CONFIG.write_text("# What configure.py found on this machine.\n"
                      + "".join(f"{name} = {value}\n" for name, value in lines.items()))
    for part in missing:
        needs = OPTIONAL[part] if part in OPTIONAL else LIBRARIES.get(part, ["building"])[0]
        print(f"configure.py: still missing: {part}, which {needs} cannot do without", file=sys.stderr)
    return not set(missing) - set(OPTIONAL)


# ---------------------------------------------------------------------------------------------------------
# The layers.

INCLUDE = re.compile(r'^\s*#\s*include\s*"(?:([a-z_/]+)/)?([a-z0-9_]+)[.]')


def layer_faults():
    """Includes that point upward, to a private header of another folder, or to a layer that does not exist."""
    faults = []
    for path in sorted([*ROOT.glob("include/**/*.h"), *ROOT.glob("sim/**/*.[chdi]*")]):
        name = path.relative_to(ROOT).as_posix()
        public = name.startswith("include/")
        own = path.parent.relative_to(ROOT).as_posix().removeprefix("sim/")
        if not public and own not in LAYERS:
            faults.append(f"{name}:1: '{own}' is not a layer; the layers are: {' '.join(LAYERS)}")
            continue
        below = ["tilesim"] if public else ["tilesim", *LAYERS[: LAYERS.index(own) + 1]]
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1] and match[1] not in below:
                faults.append(f"{name}:{number}: " + ("a public header includes public ones only" if public else
                                                      f"layer '{own}' must not include from '{match[1]}'"))
            elif match and match[1] not in (None, own) and match[2].endswith("_private"):
                faults.append(f"{name}:{number}: {match[2]}.h is private to sim/{match[1]}")
    return faults


def includes(path):
    """The files of its folder that a file includes."""
    own = path.parent.relative_to(ROOT).as_posix().removeprefix("sim/")
    named = re.findall(r'^\s*#\s*include\s*"(?:%s/)?([a-z0-9_]+[.][a-z]+)"' % re.escape(own), path.read_text(errors="replace"), re.MULTILINE)
    return {path.with_name(name) for name in named}


def in_circles(graph):
    """The nodes that can be reached from themselves."""
    reached = {node: set(graph[node]) for node in graph}
    for middle in graph:
        for node in graph:
            if middle in reached[node]:
                reached[node] |= reached[middle]
    return sorted(node for node in graph if node in reached[node])


def circle_faults():
    """Files of a folder that include each other in a circle. Which call each other: tests/cli/test_configure.py asks the objects."""
    paths = sorted([*ROOT.glob("include/**/*.h"), *ROOT.glob("sim/**/*.[chdi]*")])
    circle = in_circles({path: includes(path) & {*paths} for path in paths})
    return ["these include each other in a circle: " + " ".join(path.relative_to(ROOT).as_posix() for path in circle)] if circle else []


# ---------------------------------------------------------------------------------------------------------
# build.ninja.

def files(pattern):
    """The files that match, relative to the root, in an order that is the same on every machine."""
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


# The rules of one variant.
VARIANT_RULES = """rule cc-{name}
  command = {compiles} $cflags {flags} $last -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
  description = $out
rule link-{name}
  command = {compiler} {flags} {links} $in -o $out $user_ldflags $libs
  description = $out
"""
RANKS = "sim/sweep/ranks_mpi.c"  # speaks MPI, where there is one: a library of its own, loaded under mpirun alone
RANKS_LIBRARY = "build/release/tilesim-mpi.so"
LIBS = "-lyaml -lcjson -lsqlite3 -lz -lm -ldl -pthread"
SONAME = "libtilesim.so.0"  # another number where a program that was linked with the old one would break
HEAD = f"""# Written by ./configure.py from the file tree. Do not edit.
ninja_required_version = 1.8
builddir = build
include build/config.ninja

cflags = {CFLAGS}

rule configure
  command = $python configure.py --no-install
  generator = 1
  description = configure.py
rule shared
  command = $cc -shared -Wl,-soname,{SONAME} -Wl,-z,defs $in -o $out $user_ldflags {LIBS}
  description = $out
rule carried
  command = $cc -shared -s -Wl,-soname,{SONAME} -Wl,-z,defs '-Wl,-rpath,$$ORIGIN' $in -o $out $user_ldflags {LIBS}
  description = $out
rule mpi
  command = $mpicc $cflags -O2 -shared $in -o $out
  description = $out
rule declarations
  command = $python python/declarations.py $out $in
  description = $out
rule wheel
  command = $python python/backend.py build/wheel
  pool = console
  description = wheel
rule ar
  command = rm -f $out && ar rcs $out $in
  description = $out
rule header
  command = $cc $cflags -x c -fsyntax-only -MMD -MF $out.d -MT $out $in && touch $out
  depfile = $out.d
  deps = gcc
  description = header $in
rule syntax32
  command = $clang $cflags {BITS32} -fsyntax-only -MMD -MF $out.d -MT $out $in && touch $out
  depfile = $out.d
  deps = gcc
  description = 32 bits $in
rule sources
  command = $python web/sources.py build/web/src
  description = sources of libyaml, cJSON and zlib
rule page
  command = $python web/page.py $out $in
  description = $out
rule embed
  command = $python sim/machine/embed.py $out $folder $header $what $in
  description = $out
rule references
  command = $python sim/validate/reference_table.py $out $in
  description = $out
rule test
  command = $environment $python tests/run.py @build/$out.list
  rspfile = build/$out.list
  rspfile_content = $in_newline
  pool = console
  description = running the tests
rule matrix
  command = $python tests/matrix/compare.py tests/matrix/commands.txt $in $emulated
  pool = console
  description = comparing compilers
rule run
  command = $command
  pool = console
  description = $command
rule install
  command = p="$${{PREFIX:-/usr/local}}" && case "$$p" in /*) ;; *) p="$$PWD/$$p" ;; esac && d="$${{DESTDIR-}}$$p" $
      && mkdir -p "$$d/bin" "$$d/lib/pkgconfig" "$$d/include" $
      && cp build/release/tilesim "$$d/bin/" && cp build/release/libtilesim.a build/release/{SONAME} "$$d/lib/" $
      && ln -sf {SONAME} "$$d/lib/libtilesim.so" && {{ [ ! -f {RANKS_LIBRARY} ] || cp {RANKS_LIBRARY} "$$d/lib/"; }} $
      && cp -R include/tilesim include/tilesim.h "$$d/include/" && v=$$(build/release/tilesim --version) $
      && sed "s|@PREFIX@|$$p|; s|@VERSION@|$${{v##* }}|" tilesim.pc.in > "$$d/lib/pkgconfig/tilesim.pc" $
      && echo "installed in $$d"
  pool = console
  description = installing
"""


class Writer:
    """Collects the edges of build.ninja."""

    def __init__(self):
        self.lines = [HEAD]
        for name, (compiler, flags, *other) in VARIANTS.items():
            compiles = other[0] if other else compiler
            self.lines.append(VARIANT_RULES.format(name=name, compiler=compiler, compiles=compiles, flags=flags,
                                                   links="-no-pie" * (name == "asan")).rstrip())  # 400,000 relocations less at each start

    def edge(self, rule, output, inputs, order="", **variables):
        """One build statement; returns its output."""
        tail = f" || {order}" if order else ""
        breaks = " ".join(inputs) if len(inputs) < 4 else "$\n    " + " $\n    ".join(inputs)
        self.lines.append(f"build {output}: {rule} {breaks}".rstrip() + tail)
        self.lines += [f"  {name} = {value}" for name, value in variables.items() if value]
        return output

    def compile(self, variant, source, **variables):
        """One object of one variant."""
        stem = source.removeprefix("build/").removesuffix(".c")
        if stem.startswith("tests/"):
            variables.setdefault("last", "-Wno-unused-parameter")  # cmocka gives each test a state, which few have
        if variant == "fuzz" and "/kernel_avx" in stem:
            variables["last"] = "-fno-sanitize=all"  # with them clang takes more than ten minutes for one file
        return self.edge(f"cc-{variant}", f"build/{variant}/obj/{stem}.o", [source], **variables)

    def library(self, variant):
        """libtilesim.a: every layer but cli. Of the release there is a shared library too."""
        sources = [f for layer in LAYERS[:-1] for f in files(f"sim/{layer}/*.c") if f != RANKS]
        sources += [EMBEDDED, MESHES, PROGRAMS, MEASURED, STYLE, REFERENCES]
        objects = [self.compile(variant, f) for f in sources]
        if variant == "release":
            self.edge("shared", f"build/release/{SONAME}", objects)
            self.edge("carried", f"build/python/{SONAME}", objects)
        return self.edge("ar", f"build/{variant}/libtilesim.a", objects)

    def tool(self, variant, library):
        """The binary."""
        objects = [self.compile(variant, f) for f in files("sim/cli/*.c")]
        return self.edge(f"link-{variant}", f"build/{variant}/tilesim", objects + [library], libs=LIBS)


EMBEDDED = "build/gen/embedded_configs.c"
MESHES = "build/gen/embedded_meshes.c"
PROGRAMS = "build/gen/embedded_programs.c"
MEASURED = "build/gen/embedded_measured.c"
STYLE = "build/gen/embedded_style.c"
CARRIED = [(EMBEDDED, "configs", "machine/embedded.h", "machine", ["*.yaml"]),
           (MESHES, "configs/meshes", "mesh/embedded.h", "slice", ["*.yaml"]),
           (PROGRAMS, "programs", "program/embedded.h", "program", ["*.tsim", "*/*.tsim", "*/*/*.tsim"]),
           (STYLE, "web/page", "report/style.h", "style", ["report.css", "report.js", "style.css", "timeline.js"]),
           (MEASURED, "tests/data", "validate/embedded.h", "table", ["measured_groups.tsv", "measured_words.tsv", "tpu_measured.csv"])]
REFERENCES = "build/gen/hbm_reference_table.c"
TEST_LIBS = f"-lcmocka {LIBS}"
PACKAGE = [f"build/python/{SONAME}", "build/python/declarations.h"]  # what python/ needs of the build
SOURCES = ["sim/**/*", "python/*.py", "python/tilesim/*.py", "web/*/*", "include/**/*", "tests/*/*", "tests/fuzz/corpus/*/*", "configs/*", "configs/meshes/*", "programs/*", "programs/*/*", "programs/*/*/*"]
APART = ("support", "fuzz", "bench", "cli", "data", "matrix", "web", "python")  # folders of tests/ with rules of their own


FUZZ_MAIN = "tests/support/fuzz_main.c"


def support_objects(out, variant):
    """What tests share, but for the `main` that stands in for libFuzzer's."""
    return [out.compile(variant, f) for f in files("tests/support/*.c") if f != FUZZ_MAIN]


def test_libraries(out, variant, library):
    """What every program of one variant below tests/ is linked with."""
    support = support_objects(out, variant)
    return [out.edge("ar", f"build/{variant}/libsupport.a", support), library] if support else [library]


def test_programs(out, variant, library):
    """The programs of one variant below tests/: (cmocka tests and fuzz smoke runs, drivers, benches)."""
    libraries = test_libraries(out, variant, library)
    groups = {"test": [], "driver": [], "bench": []}

    def program(group, source, *others):
        stem = source.removesuffix(".c")
        objects = [out.compile(variant, source), *others, *libraries]
        groups[group].append(out.edge(f"link-{variant}", f"build/{variant}/{stem}", objects, libs=TEST_LIBS + " $dnnl_libs" * (group == "bench")))

    for source in files("tests/*/*.c"):
        folder, name = source.split("/")[1:]
        if folder not in APART:
            program("test" if name.startswith("test_") else "driver", source)
    fuzzers = files("tests/fuzz/fuzz_*.c")
    main = [out.compile(variant, FUZZ_MAIN)] if fuzzers else []
    peers = [out.compile(variant, f, cflags="$cflags $dnnl_cflags")
             for f in files("tests/bench/peer_*.c") if variant == "release"]
    for source in fuzzers:
        program("test", source, *main)
    for source in files("tests/bench/bench_*.c") if variant == "release" else []:
        program("bench", source, *peers)
    return groups


def long_fuzz(out):
    """Edges of `ninja fuzz`: every target under libFuzzer; new inputs go to build/fuzz/new/."""
    targets = []
    fuzzers = files("tests/fuzz/fuzz_*.c")
    libraries = test_libraries(out, "fuzz", out.library("fuzz")) if fuzzers else []
    for source in fuzzers:
        name = Path(source).stem
        binary = out.edge("link-fuzz", f"build/fuzz/{name}", [out.compile("fuzz", source), *libraries],
                          libs=f"-fsanitize=fuzzer {TEST_LIBS}")
        corpus = f"tests/fuzz/corpus/{name.removeprefix('fuzz_')}"
        new = f"build/fuzz/new/{name.removeprefix('fuzz_')}"
        command = (f"mkdir -p {new} && {binary} -runs={FUZZ_RUNS} -seed=1 -artifact_prefix={new}- {new}"
                   + (f" {corpus}" if files(f"{corpus}/*") else ""))
        targets.append(out.edge("run", f"run-{name}", [binary], " ".join(targets[-1:]), command=command))
    out.edge("phony", "fuzz", targets)


def syntax_of_32_bits(out):
    """Every source of the project under its warnings where a pointer and a long have 32 bits; nothing is linked."""
    sources = [f for layer in LAYERS for f in files(f"sim/{layer}/*.c") if f != RANKS]
    sources += [EMBEDDED, MESHES, PROGRAMS, MEASURED, STYLE, REFERENCES]
    checked = [out.edge("syntax32", f"build/syntax32/{f.removeprefix('build/')}.ok", [f]) for f in sources]
    return out.edge("phony", "syntax32", checked)


def matrix(out, emulates, has32):
    """`ninja matrix`: every compiler's binary prints the same; aarch64's kernels also pass their test."""
    narrow = [syntax_of_32_bits(out)]
    without32 = "" if has32 else f" && echo '32-bit hosts are left out; they need: {NEEDED32}'"
    tools = ["build/release/tilesim", *(out.tool(variant, out.library(variant)) for variant in MATRIX)]
    out.edge("matrix", "matrix-long", [*tools, *(out.tool(variant, out.library(variant)) for variant in LONG_MATRIX)])
    library = out.library("aarch64")
    tool = out.tool("aarch64", library)
    stem = "tests/move/test_kernels"
    objects = [*support_objects(out, "aarch64"), out.compile("aarch64", stem + ".c"), library]
    test = out.edge("link-aarch64", f"build/aarch64/{stem}", objects, libs=TEST_LIBS)
    if emulates:
        out.edge("matrix", "matrix", [*tools, "|", *narrow * has32, tool, test],
                 emulated=f"'{EMULATOR} {tool}' && TS_ROUNDS=0 {EMULATOR} {test}" + without32)
    else:
        out.edge("matrix", "matrix", [*tools, "|", *narrow * has32],
                 emulated=f"&& echo 'aarch64 is left out; it needs: {EMULATES}'" + without32)


# One file of JavaScript for a worker; the memory it may take: pointers have 32 bits.
WEB_LINK = ("-O2 -sSINGLE_FILE=1 -sMODULARIZE=1 -sEXPORT_NAME=tilesimEngine -sENVIRONMENT=worker -sALLOW_MEMORY_GROWTH=1 "
            "-sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=4MB -sEXPORTED_RUNTIME_METHODS=ccall,FS -sFORCE_FILESYSTEM=1 -lm")
YAML_MACROS = "-w -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 -DYAML_VERSION_STRING='\"0.2.5\"'"
WEB_LIBRARIES = [f"build/web/src/libyaml/{name}.c" for name in
                 "api dumper emitter loader parser reader scanner writer".split()] + ["build/web/src/cjson/cJSON.c"]
WEB_LIBRARIES += [f"build/web/src/zlib/{name}.c" for name in "adler32 crc32 inffast inflate inftrees zutil".split()]
PAGE = "build/web/tilesim.html"


def web(out, compiler):
    """`ninja web`: the library as WebAssembly in one page."""
    if not compiler:
        out.edge("run", "web", [], command=f"echo '{NO_EMCC}' >&2; exit 1")
        return
    headers = ["build/web/src/libyaml/yaml.h", "build/web/src/libyaml/yaml_private.h", "build/web/src/cjson/cJSON.h",
               "build/web/src/zlib/zlib.h"]
    out.edge("sources", " ".join(WEB_LIBRARIES + headers), ["|", "web/sources.py"])
    sources = [f for layer in LAYERS[:-1] for f in files(f"sim/{layer}/*.c") if "sweep" not in f]  # a page has no processes
    sources += [EMBEDDED, MESHES, PROGRAMS, MEASURED, STYLE, REFERENCES, *files("web/*.c")]
    objects = [out.compile("web", f, order=headers[0]) for f in sources]
    objects += [out.compile("web", f, last=YAML_MACROS) for f in WEB_LIBRARIES]
    engine = out.edge("link-web", "build/web/engine.js", objects, libs=WEB_LINK)
    out.edge("page", PAGE, [*files("web/page/*"), engine, "|", "web/page.py"])
    out.edge("phony", "web", [PAGE])


def package(out):
    """The package for Python: `ninja wheel`, `ninja test-python`; returns its tests."""
    out.edge("declarations", PACKAGE[1], [*files("include/tilesim/*.h"), "|", "python/declarations.py"])
    out.edge("wheel", "wheel", ["|", *PACKAGE, "python/backend.py", *files("python/tilesim/*.py")])
    tests = files("tests/python/test_*.py")
    out.edge("test", "test-python", [*tests, "build/release/tilesim", "|", *PACKAGE, "tests/run.py"])
    out.edge("test", "test-pallas", ["tests/mosaic/public.py", "build/release/tilesim", "|", *PACKAGE, "tests/run.py"])
    return tests


def build_ninja(emulates=False, has32=False, compiler="", opened=False, mpi=""):
    """The whole text of build/build.ninja, written anew whenever a folder of the tree gets or loses a file."""
    out = Writer()
    folders = sorted({Path(name).parent.as_posix() for pattern in SOURCES for name in files(pattern)})
    out.edge("configure", "build/build.ninja build/config.ninja", ["configure.py", *folders])
    for place, folder, header, what, names in CARRIED:
        out.edge("embed", place, [f for name in names for f in files(f"{folder}/{name}")] + ["|", "sim/machine/embed.py"],
                 folder=folder, header=header, what=what)
    out.edge("references", REFERENCES, ["tests/data/hbm_reference.csv", "tests/data/hbm_micro.csv", "|",
                                        "sim/validate/reference_table.py"])
    headers = [out.edge("header", f"build/headers/{h}.ok", [h]) for h in files("include/**/*.h")]
    calls = [out.compile("release", f) for f in files("web/*.c")]  # what does not fit is seen without emscripten too
    out.edge("phony", "headers", headers + calls)
    python_tests = package(out)
    tests, drivers, benches = [], [], []
    for variant in TESTED:
        library = out.library(variant)
        programs = test_programs(out, variant, library)
        own = [*programs["test"], *files("tests/cli/*.py"), *python_tests, out.tool(variant, library)]
        drivers += programs["driver"]
        benches += programs["bench"]
        shared = [f"build/release/{SONAME}"] * (variant == "release")
        ready = ["|", "headers", *shared, *PACKAGE, *programs["driver"], "tests/run.py"]
        out.edge("test", f"test-{variant}", own + ready)
        tests += [f for f in own if f not in tests]
    ready = ["|", "headers", f"build/release/{SONAME}", *PACKAGE, *drivers, *benches, "tests/run.py"]  # benches: built, not run
    web(out, compiler)
    page = [PAGE] * opened
    tests += files("tests/web/*.py")
    out.edge("test", "test", tests + ready + page)
    out.edge("test", "test-long", tests + ready + page, "matrix-long", environment=f"TS_ROUNDS={LONG_ROUNDS}")
    long_fuzz(out)
    runs = []
    for bench in benches:
        runs.append(out.edge("run", "run-" + Path(bench).name, [bench], " ".join(runs[-1:]), command=f"OMP_NUM_THREADS=1 NUMPY_PYTHON=$numpy_python {bench}"))
    out.edge("phony", "bench", runs)
    matrix(out, emulates, has32)
    out.edge("install", "install", ["build/release/tilesim", "build/release/libtilesim.a", f"build/release/{SONAME}"])
    drivers = [driver for driver in drivers if driver.startswith("build/release/")]
    ranks = [out.edge("mpi", RANKS_LIBRARY, [RANKS, "|", "sim/sweep/crew.h"])] * bool(mpi)
    out.edge("phony", "all", [*ranks, "build/release/tilesim", "build/release/libtilesim.a", f"build/release/{SONAME}", *PACKAGE, *drivers, *calls])
    return "\n".join(out.lines) + "\ndefault all\n"


STUB = re.compile(r"^build ([a-z-]+): ask ", re.MULTILINE)


def stub_faults():
    """Targets of build.ninja that build/build.ninja lacks, as messages."""
    known = {name for line in re.findall(r"^build ([^:]+):", build_ninja(), re.MULTILINE) for name in line.split()}
    return [f"build.ninja: there is no target '{name}'"
            for name in STUB.findall((ROOT / "build.ninja").read_text()) if name not in known]


# ---------------------------------------------------------------------------------------------------------

def run(command):
    """Runs a command of the build in the root; exits when it fails."""
    print("$ " + shlex.join(command), flush=True)
    status = subprocess.run(command, cwd=ROOT).returncode
    if status != 0:
        sys.exit(status if status > 0 else 1)


def jax():
    """Makes the environment of tilesim.jax, or completes it."""
    newer = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
    python = next((one for one in [sys.executable, *PYTHONS] if subprocess.run([one, "-c", newer], capture_output=True).returncode == 0), "")
    if not python:
        sys.exit("configure.py: JAX needs Python 3.11 or newer, with venv (Debian: python3-venv)")
    if not JAX.exists():
        run([python, "-m", "venv", str(JAX.parent.parent)])
    run([str(JAX), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *JAX_NEEDS])


def main():
    parser = argparse.ArgumentParser(usage="./configure.py [demo | test | jax] [--check] [--no-install]",
                                     description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("job", nargs="?", choices=["demo", "test", "jax"])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--no-install", action="store_true")
    options = parser.parse_args()
    faults = layer_faults() or circle_faults() or stub_faults()
    if faults:
        sys.exit("\n".join(faults))
    if options.check:
        return
    if options.job == "jax":
        return jax()
    if not provide(not options.no_install, options.job == "test"):
        sys.exit(1)
    NINJA.write_text(build_ninja(has_aarch64(), has_32_bits(chosen("CLANG", "clang", ["clang"])), emcc(), tests_page(not options.no_install), mpicc()))
    if options.job:
        run(["ninja", "test"] if options.job == "test" else ["ninja"])
    for command in DEMO if options.job == "demo" else []:
        run(command)


if __name__ == "__main__":
    main()
