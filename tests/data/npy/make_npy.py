#!/usr/bin/env python3
"""Wrote the files beside it, with NumPy 1.24.2. Unless the name says else, each holds [[0, 1, 2], [3, 4, 5]]."""
import os

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))


def save(name, array, version=None):
    with open(os.path.join(FOLDER, name + ".npy"), "wb") as out:
        np.lib.format.write_array(out, array, version)


base = np.arange(6).reshape(2, 3)
for kind in "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split():
    save(kind, base.astype(kind))
save("f4_fortran", np.asfortranarray(base.astype("f4")))
save("f4_fortran_3d", np.asfortranarray(np.arange(24).reshape(2, 3, 4).astype("f4")))
save("f4_version_2", base.astype("f4"), (2, 0))
save("f4_version_3", base.astype("f4"), (3, 0))
save("f4_big_endian", base.astype(">f4"))
save("c8_big_endian", base.astype(">c8"))
save("i2_big_endian_fortran", np.asfortranarray(base.astype(">i2")))
save("f4_scalar", np.array(7, "f4"))
save("f4_vector", np.arange(5, dtype="f4"))
save("f4_empty", np.zeros((0, 4), "f4"))
save("v2_bf16", (base.astype("f4").view("u4") >> 16).astype("u2").view("V2"))
save("structured", np.zeros(2, [("a", "f4"), ("b", "i4")]))
save("text", np.array(["ab", "c"]))
save("date", np.array(["2020-01-01"], "M8[D]"))
arrays = {"x": base.astype("f4"), "layer.0/w": np.asfortranarray(base.astype(">i2"))}
np.savez(os.path.join(FOLDER, "two.npz"), **arrays)
np.savez_compressed(os.path.join(FOLDER, "two_compressed.npz"), **arrays)
np.savez(os.path.join(FOLDER, "one.npz"), base.astype("f4"))
