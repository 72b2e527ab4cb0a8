"""The programs that are shipped, and the options that give each its sizes."""
from pathlib import Path

PROGRAMS = sorted(Path("programs").glob("*.tsim"))


def sizes(path, rows, columns):
    """The options that make a program of that size, or of one near it where it has other dims."""
    if path.stem == "matmul":
        return ["-D", f"M={rows}", "-D", f"N={columns}", "-D", f"K={rows + columns // 3}"]
    return ["-D", f"ROWS={rows}", "-D", f"COLS={columns}"]
