"""Studies: a question at every point of a grid, answered by processes, kept in a database."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from . import _native as native
from ._native import lib
from ._table import table
from .errors import UsageError


class Sweep(List[Dict[str, Any]]):
    """The rows of a study, in its order: a dict each, by the names of :attr:`columns`."""

    def __init__(self, value: Mapping[str, Any]):
        super().__init__(value["rows"])
        self.title: str = value["title"]
        self.parameters: List[str] = value["parameters"]
        self.columns: List[str] = list(self[0]) if self else self.parameters
        self.answered: int = value["answered"]  #: now; the others were in the database

    def frame(self) -> Any:
        """The same as a frame of pandas."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)

    def _repr_html_(self) -> str:
        rows = [["" if row[name] is None else row[name] for name in self.columns] for row in self]
        return table(f"{self.title}: {len(self)} points", self.columns, rows)


def _has_pandas() -> bool:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def _plain(value: Any) -> Any:
    """Of a study as a dict: ranges, arrays and numbers of NumPy, paths."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"a study holds {value!r}: expected numbers, texts, lists and dicts")


def sweep(study: Union[str, "os.PathLike[str]", Mapping[str, Any]], db: Union[str, "os.PathLike[str]", None] = None,
          workers: int = 1, timeout: Optional[float] = None, retry: bool = False, frame: Optional[bool] = None) -> Any:
    """Answers a study: the path of its YAML, the YAML as a text of several lines, or the same as a dict.

    Rows that are in the database `db` are not asked again; without one nothing is kept. Gives a frame of pandas where there
    is pandas, or where `frame` says so; else a :class:`Sweep`, a list of dicts."""
    if workers < 1:  # the library takes 0 for what is not given
        raise UsageError(f"{workers} workers, expected 1 or more")
    if isinstance(study, Mapping):
        file, text = None, json.dumps(dict(study), default=_plain, ensure_ascii=False)
    elif isinstance(study, str) and "\n" in study:
        file, text = None, study
    else:
        file, text = os.fspath(study), None
    made = native.asked_until_stopped(lib.ts_study_answer, "ts_study_request", file=file, text=text,
                                      database=None if db is None else os.fspath(db), workers=workers,
                                      timeout_seconds=timeout or 0.0, retry=retry)
    rows = Sweep(native.printed_json(lib.ts_study_json, made))
    return rows.frame() if frame or (frame is None and _has_pandas()) else rows
