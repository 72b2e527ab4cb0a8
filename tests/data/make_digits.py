#!/usr/bin/env python3
"""Writes digits_1000_u8.npy and digits_1000_labels_u8.npy from an unpacked copy of the package `mnist` 1.1.0.

Usage: make_digits.py PACKAGE_FOLDER [OUTPUT_FOLDER]

Row r is picture r // 10 of digit r % 10, so that every ten rows hold each digit once. The package stores
pixel / 255 rounded to three decimals; pixels are recovered exactly, and the script refuses a value that is not one.
"""
import json
import os
import struct
import sys

ROWS, PIXELS, DIGITS = 1000, 28 * 28, 10


def pixel(value):
    nearest = round(value * 255)
    if not 0 <= nearest <= 255 or abs(value - nearest / 255) > 0.0005 + 1e-9:
        sys.exit(f"make_digits.py: {value} is not a pixel / 255 of three decimals")
    return nearest


def write_npy(path, shape, data):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("ascii") + data)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) == 3 else os.path.dirname(os.path.abspath(__file__))
    pictures = []
    for digit in range(DIGITS):
        with open(os.path.join(folder, "src", "digits", f"{digit}.json"), encoding="ascii") as text:
            pictures.append(json.load(text)["data"])
    data = bytearray()
    for row in range(ROWS):
        at = row // DIGITS * PIXELS
        data += bytes(pixel(value) for value in pictures[row % DIGITS][at:at + PIXELS])
    write_npy(os.path.join(out, "digits_1000_u8.npy"), (ROWS, PIXELS), bytes(data))
    write_npy(os.path.join(out, "digits_1000_labels_u8.npy"), (ROWS,), bytes(row % DIGITS for row in range(ROWS)))


main()
