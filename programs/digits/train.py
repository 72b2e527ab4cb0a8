#!/usr/bin/env python3
"""Trains the classifier of mlp_digits.tsim, and writes its weights and the images that it has never seen as .npy.

usage: train.py digits.csv.gz

The data is the test set of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI Machine Learning
Repository, 1998, CC BY 4.0), 1,797 images of 8 x 8 pixels from 0 to 16, each row followed by its digit, as Debian's package
python3-sklearn ships it in sklearn/datasets/data/. 797 images are for training and 1,000 are held out, chosen at random.

Layers of 64, HIDDEN and 10. The weights of the first lie on a grid of 2^-9 and those of the second are bf16: then the sums of
the first layer are exact in f32, whatever their order, and every machine rounds the same numbers to bf16. Needs NumPy.
"""
import gzip
import sys
from pathlib import Path

import numpy

HIDDEN, EPOCHS, BATCH, HELD_OUT, GRID = 128, 60, 50, 1000, 512


def bf16_bits(values):
    """f32 values rounded to bf16, ties to even, as u16."""
    bits = numpy.asarray(values, numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def as_float(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def shifted(images):
    """The images and the same moved by one pixel in each direction."""
    square = images.reshape(-1, 8, 8)
    moved = [square]
    for axis in (1, 2):
        for step in (-1, 1):
            copy = numpy.roll(square, step, axis)
            edge = [slice(None)] * 3
            edge[axis] = 0 if step == 1 else 7
            copy[tuple(edge)] = 0
            moved.append(copy)
    return numpy.concatenate(moved).reshape(-1, 64)


def train(images, labels, random):
    """Adam on the cross entropy, with a little decay of the weights."""
    layers = [random.normal(0, 0.02, (64, HIDDEN)), numpy.zeros(HIDDEN), random.normal(0, 0.1, (HIDDEN, 10)), numpy.zeros(10)]
    means, squares, step = [0 * p for p in layers], [0 * p for p in layers], 0
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        for first in range(0, len(order), BATCH):
            x, y = images[order[first:first + BATCH]], labels[order[first:first + BATCH]]
            hidden = numpy.maximum(x @ layers[0] + layers[1], 0)
            logits = hidden @ layers[2] + layers[3]
            slope = numpy.exp(logits - logits.max(1, keepdims=True))
            slope /= slope.sum(1, keepdims=True)
            slope[numpy.arange(len(y)), y] -= 1
            slope /= len(y)
            back = (slope @ layers[2].T) * (hidden > 0)
            grads = [x.T @ back, back.sum(0), hidden.T @ slope, slope.sum(0)]
            step += 1
            for i, grad in enumerate(grads):
                grad = grad + 1e-3 * layers[i] * (layers[i].ndim == 2)
                means[i] = 0.9 * means[i] + 0.1 * grad
                squares[i] = 0.999 * squares[i] + 0.001 * grad * grad
                rate = 1e-3 * (1 - epoch / EPOCHS)
                layers[i] = layers[i] - rate * (means[i] / (1 - 0.9**step)) / (
                    numpy.sqrt(squares[i] / (1 - 0.999**step)) + 1e-8)
    return layers


def main():
    with gzip.open(sys.argv[1], "rt") as file:
        table = numpy.loadtxt(file, delimiter=",").astype(int)
    random = numpy.random.default_rng(1)
    table = table[random.permutation(len(table))]
    seen, unseen = table[HELD_OUT:], table[:HELD_OUT]
    w1, b1, w2, b2 = train(shifted(seen[:, :64]).astype(float), numpy.tile(seen[:, 64], 5), random)
    w1 = numpy.clip(numpy.round(w1 * GRID), -255, 255) / GRID
    b1 = numpy.round(b1 * GRID) / GRID
    w1, w2 = bf16_bits(w1), bf16_bits(w2)
    b1, b2 = b1.astype(numpy.float32), b2.astype(numpy.float32)
    hidden = as_float(bf16_bits(numpy.maximum(unseen[:, :64] @ as_float(w1) + b1, 0)))
    logits = hidden @ as_float(w2) + b2
    print(f"{numpy.sum(logits.argmax(1) == unseen[:, 64])} of {HELD_OUT} right")
    folder = Path(__file__).parent
    for name, values in [("images", unseen[:, :64].astype(numpy.uint8)), ("labels", unseen[:, 64].astype(numpy.int32)),
                         ("w1", as_float(w1)), ("b1", b1), ("w2", as_float(w2)), ("b2", b2)]:
        numpy.save(folder / f"{name}.npy", values)


main()
