"""Makes the wheel of the package, of the sources here and the library that `ninja` has made: a build backend of PEP 517.

usage: backend.py FOLDER    writes the wheel there
"""
import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILT = ROOT / "build" / "python"
LIBRARY = "libtilesim.so.0"
# In what ldd prints; the rest is the system's: zlib too, which dpkg and rpm need.
CARRIED = re.compile(r"^\s*(lib(?:yaml|cjson|sqlite3)\S*) => (/\S+)", re.MULTILINE)

METADATA = """Metadata-Version: 2.1
Name: tilesim
Version: {version}
Summary: Tensor layouts, what moving between them costs, and programs on a TPU-style machine
Requires-Python: >=3.9
Requires-Dist: cffi>=1.14
Requires-Dist: numpy>=1.20
Provides-Extra: types
Requires-Dist: ml_dtypes; extra == "types"
Provides-Extra: jax
Requires-Dist: jax[tpu]; extra == "jax"
"""


def version():
    """TS_VERSION of the headers."""
    return re.search(r'TS_VERSION "(.*)"', (ROOT / "include" / "tilesim" / "version.h").read_text())[1]


def tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def libraries():
    """{name: path} of the library and of those it needs that a system may lack, which it looks for beside itself."""
    own = BUILT / LIBRARY
    if not own.exists() or not (BUILT / "declarations.h").exists():
        raise SystemExit(f"{own} is not there: run ./configure.py and ninja in {ROOT} first")
    needed = subprocess.run(["ldd", str(own)], capture_output=True, text=True, check=True).stdout
    return {LIBRARY: own, **{name: Path(path) for name, path in CARRIED.findall(needed)}}


def licences():
    """{name in .dist-info: path}: ours, and on Debian those of the libraries that are carried along."""
    places = {"LICENSE": ROOT / "LICENSE", "libyaml.copyright": Path("/usr/share/doc/libyaml-0-2/copyright"),
              "sqlite3.copyright": Path("/usr/share/doc/libsqlite3-0/copyright"),
              "cjson.copyright": Path("/usr/share/doc/libcjson1/copyright")}
    return {name: path for name, path in places.items() if path.exists()}


def info():
    return f"tilesim-{version()}.dist-info"


def contents():
    """{name in the wheel: bytes}, all but RECORD."""
    files = {f"tilesim/{path.name}": path for path in sorted((HERE / "tilesim").iterdir()) if path.is_file()}
    files["tilesim/declarations.h"] = BUILT / "declarations.h"
    files.update({f"tilesim/{name}": path for name, path in libraries().items()})
    files.update({f"{info()}/{name}": path for name, path in licences().items()})
    found = {name: path.read_bytes() for name, path in files.items()}
    found[f"{info()}/METADATA"] = METADATA.format(version=version()).encode()
    found[f"{info()}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tilesim\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    return found


def record(found):
    """RECORD: of each file its name, digest and size."""
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
             for name, data in found.items()]
    return "".join(lines) + f"{info()}/RECORD,,\n"


# ---- PEP 517 ----

def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = Path(metadata_directory, info())
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA.format(version=version()))
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The same bytes of the same files."""
    found = contents()
    found[f"{info()}/RECORD"] = record(found).encode()
    name = f"tilesim-{version()}-{tag()}.whl"
    Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for inside, data in found.items():
            entry = zipfile.ZipInfo(inside)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the package has no source distribution: it is built in the tree of the project")


if __name__ == "__main__":
    print(Path(sys.argv[1], build_wheel(sys.argv[1])))
