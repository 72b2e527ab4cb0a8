"""Brings the C sources of libyaml, cJSON and zlib that the page is built from: sources.py FOLDER

From Debian's source packages, by apt and dpkg-dev; the list of sources is made from that of the packages, so that the
machine's own need not name any. Elsewhere, or without a network: unpack them by hand below FOLDER/unpacked.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

FILES = {  # of each package, by Debian's name
    "libyaml": ["include/yaml.h", "src/yaml_private.h",
                *(f"src/{name}.c" for name in "api dumper emitter loader parser reader scanner writer".split())],
    "cjson": ["cJSON.c", "cJSON.h"],
    "zlib": [*(f"{name}.c" for name in "adler32 crc32 inffast inflate inftrees zutil".split()),
             *(f"{name}.h" for name in "crc32 gzguts inffast inffixed inflate inftrees zconf zlib zutil".split())],
}


def unpacked(folder, package):
    """The folder of a package's sources, or None."""
    return next((path for path in sorted(folder.glob("*")) if path.name.lower().startswith(package)
                 and all((path / name).exists() for name in FILES[package])), None)


def source_list():
    """Where packages come from, as lines of deb-src."""
    targets = subprocess.run(["apt-get", "indextargets", "Created-By: Packages"], capture_output=True, text=True).stdout
    lines = []
    for target in targets.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", target, re.MULTILINE))
        if fields.get("Origin") == "Debian" and fields.get("Component") == "main" and "Repo-URI" in fields:
            signed = f"[signed-by={fields['Signed-By']}] " if "Signed-By" in fields else ""
            lines.append(f"deb-src {signed}{fields['Repo-URI']} {fields['Codename']} main\n")
    return "".join(dict.fromkeys(lines))


def download(folder, packages):
    """Downloads and unpacks packages by apt's own client, with lists of its own: the machine's stay as they are."""
    lists = folder.resolve() / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    sources = folder.resolve() / "sources.list"
    sources.write_text(source_list())
    own = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={lists}", "-o", "APT::Sandbox::User="]
    for words in (["update"], ["source", *packages]):
        done = subprocess.run(own + words, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"web: apt-get {words[0]} failed:\n{done.stderr or done.stdout}")
    shutil.rmtree(lists)


def main():
    out = Path(sys.argv[1])
    folder = out / "unpacked"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [package for package in FILES if not unpacked(folder, package)]
    if missing and not (shutil.which("apt-get") and shutil.which("dpkg-source")):
        sys.exit(f"web: the sources of {' and '.join(missing)} are missing: unpack them in {folder}, or let apt do it, "
                 "which needs dpkg-dev")
    if missing:
        download(folder, missing)
    for package, names in FILES.items():
        found = unpacked(folder, package)
        if not found:
            sys.exit(f"web: the sources of {package} in {folder} are not as expected")
        (out / package).mkdir(exist_ok=True)
        for name in names:
            shutil.copyfile(found / name, out / package / Path(name).name)


main()
