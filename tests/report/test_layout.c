/* Shapes and layouts as people read them, to the character: sizes, padding, digits, pictures, offsets and points. */
#include "report/layout.h"

#include <string.h>

#include <cjson/cJSON.h>

#include "tests/support/group.h"
#include "tests/support/shapes.h"
#include "tests/support/written.h"

static const struct {
    const char *shape;
    int64_t index[4];
    const char *text;
} rows[] = {
    {"f32[3,5]{1,0:T(2,4)}",
     {2, 4},
     "f32[3,5]{1,0:T(2,4)}\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       15 logical, 32 with padding\n"
     "  bytes          60 logical, 128 with padding: 53.1 % padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              3                   4      1.33x                    32\n"
     "  1                              5                   8      1.60x                    48\n"
     "  all                           15                  32      2.13x                    68\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  2                    16   d0 / 2\n"
     "  1                  2                     8   d1 / 4\n"
     "  2                  2                     4   d0 % 2\n"
     "  3                  4                     1   d1 % 4\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +-------------+-------------+              0  (0,0) (0,1) (0,2) (0,3) (1,0) (1,1) (1,2) (1,3)\n"
     "  |  0  1  2  3 |  8  .  .  . |              8  (0,4)     .     .     . (1,4)     .     .     .\n"
     "  |  4  5  6  7 | 12  .  .  . |             16  (2,0) (2,1) (2,2) (2,3)     .     .     .     .\n"
     "  +-------------+-------------+             24  (2,4)     .     .     .     .     .     .     .\n"
     "  | 16 17 18 19 | 24  .  .  . |\n"
     "  |  .  .  .  . |  .  .  .  . |\n"
     "  +-------------+-------------+\n"
     "  physical index    (2,4) in (3,5)\n"
     "  tile (2,4):\n"
     "    tile index      (2/2,4/4) = (1,1) in (2,2)\n"
     "    within the tile (2%2,4%4) = (0,0) in (2,4)\n"
     "\n"
     "  linear_index((1,1,0,0), (2,2,2,4))\n"
     "  = linear_index((1,1), (2,2)) * 2 * 4 + linear_index((0,0), (2,4))\n"
     "  = (1 * 2 + 1) * 2 * 4 + (0 * 4 + 0)\n"
     "  = 24\n"
     "\n"
     "  bytes 96 to 99\n"},
    {"bf16[5,6]{0,1:T(4,4)(2,1)}",
     {4, 3},
     "bf16[5,6]{0,1:T(4,4)(2,1)}\n"
     "\n"
     "  element        bf16, 16 bits each\n"
     "  elements       30 logical, 64 with padding\n"
     "  bytes          60 logical, 128 with padding: 53.1 % padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              5                   8      1.60x                    48\n"
     "  1                              6                   8      1.33x                    32\n"
     "  all                           30                  64      2.13x                    68\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  2                    32   d1 / 4\n"
     "  1                  2                    16   d0 / 4\n"
     "  2                  2                     8   d1 % 4 / 2\n"
     "  3                  4                     2   d0 % 4\n"
     "  4                  2                     1   d1 % 2\n"
     "  5                  1                     1   0\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +---------------+---------------+          0  (0,0) (0,1) (1,0) (1,1) (2,0) (2,1) (3,0) (3,1)\n"
     "  |  0  1 :  8  9 | 32 33 :  .  . |          8  (0,2) (0,3) (1,2) (1,3) (2,2) (2,3) (3,2) (3,3)\n"
     "  |- - - -:- - - -|- - - -:- - - -|         16  (4,0) (4,1)     .     .     .     .     .     .\n"
     "  |  2  3 : 10 11 | 34 35 :  .  . |         24  (4,2) (4,3)     .     .     .     .     .     .\n"
     "  |- - - -:- - - -|- - - -:- - - -|         32  (0,4) (0,5) (1,4) (1,5) (2,4) (2,5) (3,4) (3,5)\n"
     "  |  4  5 : 12 13 | 36 37 :  .  . |         40      .     .     .     .     .     .     .     .\n"
     "  |- - - -:- - - -|- - - -:- - - -|         48  (4,4) (4,5)     .     .     .     .     .     .\n"
     "  |  6  7 : 14 15 | 38 39 :  .  . |         56      .     .     .     .     .     .     .     .\n"
     "  +---------------+---------------+\n"
     "  | 16 17 : 24 25 | 48 49 :  .  . |\n"
     "  |- - - -:- - - -|- - - -:- - - -|\n"
     "  |  .  . :  .  . |  .  . :  .  . |\n"
     "  |- - - -:- - - -|- - - -:- - - -|\n"
     "  |  .  . :  .  . |  .  . :  .  . |\n"
     "  |- - - -:- - - -|- - - -:- - - -|\n"
     "  |  .  . :  .  . |  .  . :  .  . |\n"
     "  +---------------+---------------+\n"
     "  physical index    (3,4) in (6,5)\n"
     "  tile (4,4):\n"
     "    tile index      (3/4,4/4) = (0,1) in (2,2)\n"
     "    within the tile (3%4,4%4) = (3,0) in (4,4)\n"
     "  tile (2,1):\n"
     "    tile index      (3/2,0/1) = (1,0) in (2,4)\n"
     "    within the tile (3%2,0%1) = (1,0) in (2,1)\n"
     "\n"
     "  linear_index((0,1,1,0,1,0), (2,2,2,4,2,1))\n"
     "  = linear_index((0,1,1,0), (2,2,2,4)) * 2 * 1 + linear_index((1,0), (2,1))\n"
     "  = (((0 * 2 + 1) * 2 + 1) * 4 + 0) * 2 * 1 + (1 * 1 + 0)\n"
     "  = 25\n"
     "\n"
     "  bytes 50 to 51\n"},
    {"f32[2,3,4]{0,2,1:T(*,2,2)}",
     {1, 2, 3},
     "f32[2,3,4]{0,2,1:T(*,2,2)}\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       24 logical, 24 with padding\n"
     "  bytes          96 logical, 96 with padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              2                   2      1.00x                     0\n"
     "  1*2                           12                  12      1.00x                     0\n"
     "  all                           24                  24      1.00x                     0\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  6                     4   (d1 * 4 + d2) / 2\n"
     "  1                  1                     4   0\n"
     "  2                  2                     2   (d1 * 4 + d2) % 2\n"
     "  3                  2                     1   d0\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  [0,:,:]                                    0  (0,0,0) (1,0,0)\n"
     "  +-------------+                            2  (0,0,1) (1,0,1)\n"
     "  |  0  2  4  6 |                            4  (0,0,2) (1,0,2)\n"
     "  |  8 10 12 14 |                            6  (0,0,3) (1,0,3)\n"
     "  | 16 18 20 22 |                            8  (0,1,0) (1,1,0)\n"
     "  +-------------+                           10  (0,1,1) (1,1,1)\n"
     "  [1,:,:]                                   12  (0,1,2) (1,1,2)\n"
     "  +-------------+                           14  (0,1,3) (1,1,3)\n"
     "  |  1  3  5  7 |                           16  (0,2,0) (1,2,0)\n"
     "  |  9 11 13 15 |                           18  (0,2,1) (1,2,1)\n"
     "  | 17 19 21 23 |                           20  (0,2,2) (1,2,2)\n"
     "  +-------------+                           22  (0,2,3) (1,2,3)\n"
     "  physical index    (2,3,1) in (3,4,2)\n"
     "  tile (*,2,2):\n"
     "    rewritten       (11,1) in (12,2)\n"
     "    tile index      (11/2,1/2) = (5,0) in (6,1)\n"
     "    within the tile (11%2,1%2) = (1,1) in (2,2)\n"
     "\n"
     "  linear_index((5,0,1,1), (6,1,2,2))\n"
     "  = linear_index((5,0), (6,1)) * 2 * 2 + linear_index((1,1), (2,2))\n"
     "  = (5 * 1 + 0) * 2 * 2 + (1 * 2 + 1)\n"
     "  = 23\n"
     "\n"
     "  bytes 92 to 95\n"},
    {"s4[3,5]{1,0:T(2,8)E(4)}",
     {2, 4},
     "s4[3,5]{1,0:T(2,8)E(4)}\n"
     "\n"
     "  element        s4, 4 bits each\n"
     "  elements       15 logical, 32 with padding\n"
     "  bytes          8 logical, 16 with padding: 50.0 % padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              3                   4      1.33x                     4\n"
     "  1                              5                   8      1.60x                     6\n"
     "  all                           15                  32      2.13x                     8\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  2                    16   d0 / 2\n"
     "  1                  1                    16   0\n"
     "  2                  2                     8   d0 % 2\n"
     "  3                  8                     1   d1\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +-------------------------+                0  (0,0) (0,1) (0,2) (0,3) (0,4)     .     .     .\n"
     "  |  0  1  2  3  4  .  .  . |                8  (1,0) (1,1) (1,2) (1,3) (1,4)     .     .     .\n"
     "  |  8  9 10 11 12  .  .  . |               16  (2,0) (2,1) (2,2) (2,3) (2,4)     .     .     .\n"
     "  +-------------------------+               24      .     .     .     .     .     .     .     .\n"
     "  | 16 17 18 19 20  .  .  . |\n"
     "  |  .  .  .  .  .  .  .  . |\n"
     "  +-------------------------+\n"
     "  physical index    (2,4) in (3,5)\n"
     "  tile (2,8):\n"
     "    tile index      (2/2,4/8) = (1,0) in (2,1)\n"
     "    within the tile (2%2,4%8) = (0,4) in (2,8)\n"
     "\n"
     "  linear_index((1,0,0,4), (2,1,2,8))\n"
     "  = linear_index((1,0), (2,1)) * 2 * 8 + linear_index((0,4), (2,8))\n"
     "  = (1 * 1 + 0) * 2 * 8 + (0 * 8 + 4)\n"
     "  = 20\n"
     "\n"
     "  4 bits from bit 0 of byte 10\n"},
    {"pred[2,3]{1,0:E(32)}",
     {1, 2},
     "pred[2,3]{1,0:E(32)}\n"
     "\n"
     "  element        pred, 32 bits each\n"
     "  elements       6 logical, 6 with padding\n"
     "  bytes          6 logical, 24 with padding: 75.0 % padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              2                   2      1.00x                     0\n"
     "  1                              3                   3      1.00x                     0\n"
     "  all                            6                   6      1.00x                    18\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  2                     3   d0\n"
     "  1                  3                     1   d1\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +-------+                                 0  (0,0) (0,1) (0,2)\n"
     "  | 0 1 2 |                                 3  (1,0) (1,1) (1,2)\n"
     "  | 3 4 5 |\n"
     "  +-------+\n"
     "  physical index    (1,2) in (2,3)\n"
     "\n"
     "  linear_index((1,2), (2,3))\n"
     "  = (1 * 3 + 2)\n"
     "  = 5\n"
     "\n"
     "  bytes 20 to 23\n"},
    {"f32[]",
     {0},
     "f32[]\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       1 logical, 1 with padding\n"
     "  bytes          4 logical, 4 with padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  all                            1                   1      1.00x                     0\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +---+                                     0  ()\n"
     "  | 0 |\n"
     "  +---+\n"
     "  physical index    () in ()\n"
     "\n"
     "  linear_index((), ())\n"
     "  = 0\n"
     "\n"
     "  bytes 0 to 3\n"},
    {"f32[1,7]{1,0}",
     {0, 6},
     "f32[1,7]{1,0}\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       7 logical, 7 with padding\n"
     "  bytes          28 logical, 28 with padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              1                   1      1.00x                     0\n"
     "  1                              7                   7      1.00x                     0\n"
     "  all                            7                   7      1.00x                     0\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  1                     7   d0\n"
     "  1                  7                     1   d1\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +---------------+                         0  (0,0) (0,1) (0,2) (0,3) (0,4) (0,5) (0,6)\n"
     "  | 0 1 2 3 4 5 6 |\n"
     "  +---------------+\n"
     "  physical index    (0,6) in (1,7)\n"
     "\n"
     "  linear_index((0,6), (1,7))\n"
     "  = (0 * 7 + 6)\n"
     "  = 6\n"
     "\n"
     "  bytes 24 to 27\n"},
    {"f32[0,3]{1,0:T(2,2)}",
     {0},
     "f32[0,3]{1,0:T(2,2)}\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       0 logical, 0 with padding\n"
     "  bytes          0 logical, 0 with padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              0                   0          -                     0\n"
     "  1                              3                   4      1.33x                     0\n"
     "  all                            0                   0          -                     0\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  0                     8   0\n"
     "  1                  2                     4   d1 / 2\n"
     "  2                  2                     2   d0\n"
     "  3                  2                     1   d1 % 2\n"},
    {"f32[2048,1000]{1,0:T(8,128)S(1)}",
     {2047, 999},
     "f32[2048,1000]{1,0:T(8,128)S(1)}\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       2,048,000 logical, 2,097,152 with padding\n"
     "  bytes          8,192,000 logical, 8,388,608 with padding: 2.3 % padding\n"
     "  memory space   1 (VMEM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                          2,048               2,048      1.00x                     0\n"
     "  1                          1,000               1,024      1.02x               196,608\n"
     "  all                    2,048,000           2,097,152      1.02x               196,608\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                256                  8192   d0 / 8\n"
     "  1                  8                  1024   d1 / 128\n"
     "  2                  8                   128   d0 % 8\n"
     "  3                128                     1   d1 % 128\n"
     "  physical index    (2047,999) in (2048,1000)\n"
     "  tile (8,128):\n"
     "    tile index      (2047/8,999/128) = (255,7) in (256,8)\n"
     "    within the tile (2047%8,999%128) = (7,103) in (8,128)\n"
     "\n"
     "  linear_index((255,7,7,103), (256,8,8,128))\n"
     "  = linear_index((255,7), (256,8)) * 8 * 128 + linear_index((7,103), (8,128))\n"
     "  = (255 * 8 + 7) * 8 * 128 + (7 * 128 + 103)\n"
     "  = 2097127\n"
     "\n"
     "  bytes 8388508 to 8388511\n"},
    {"f32[4,8] S[(4,8):(1@P,1@F)] + R[(2,3):(16@F,1@Q)] + 5@P",
     {3, 7},
     "f32[4,8] S[(4,8):(1@P,1@F)] + R[(2,3):(16@F,1@Q)] + 5@P\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       32 logical, 648 in memory\n"
     "  bytes          128 logical, 2,592 in memory, 640 of them replicas\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              4                   4      1.00x                     0\n"
     "  1                              8                   8      1.00x                     0\n"
     "  all                           32                  32      1.00x                 1,824\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  4                   1@P   d0\n"
     "  1                  8                   1@F   d1\n"
     "\n"
     "  axis                          offset                from                  to\n"
     "  F                                  0                   0                  23\n"
     "  P                                  5                   5                   8\n"
     "  Q                                  0                   0                   2\n"
     "  replica 0: 2 copies, 16 apart on F\n"
     "  replica 1: 3 copies, 1 apart on Q\n"
     "  F = 0 + 7 * 1 = 7, + 0 to 1 times 16\n"
     "  P = 5 + 3 * 1 = 8\n"
     "  Q = 0 = 0, + 0 to 2 times 1\n"
     "  at {F=7,P=8,Q=0} {F=7,P=8,Q=1} {F=7,P=8,Q=2} {F=23,P=8,Q=0} {F=23,P=8,Q=1} {F=23,P=8,Q=2}\n"},
    {"f32[8,8] SW(0,3,3) o S[(8,8):(8,1)]",
     {3, 7},
     "f32[8,8] SW(0,3,3) o S[(8,8):(8,1)]\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       64 logical, 64 in memory\n"
     "  bytes          256 logical, 256 in memory\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              8                   8      1.00x                     0\n"
     "  1                              8                   8      1.00x                     0\n"
     "  all                           64                  64      1.00x                     0\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  8                     8   d0\n"
     "  1                  8                     1   d1\n"
     "\n"
     "  axis                          offset                from                  to\n"
     "  m                                  0                   0                  63\n"
     "  swizzle: 3 bits from bit 0 on, xor the 3 bits 3 above\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +-------------------------+                0  (0,0) (0,1) (0,2) (0,3) (0,4) (0,5) (0,6) (0,7)\n"
     "  |  0  1  2  3  4  5  6  7 |                8  (1,1) (1,0) (1,3) (1,2) (1,5) (1,4) (1,7) (1,6)\n"
     "  |  9  8 11 10 13 12 15 14 |               16  (2,2) (2,3) (2,0) (2,1) (2,6) (2,7) (2,4) (2,5)\n"
     "  | 18 19 16 17 22 23 20 21 |               24  (3,3) (3,2) (3,1) (3,0) (3,7) (3,6) (3,5) (3,4)\n"
     "  | 27 26 25 24 31 30 29 28 |               32  (4,4) (4,5) (4,6) (4,7) (4,0) (4,1) (4,2) (4,3)\n"
     "  | 36 37 38 39 32 33 34 35 |               40  (5,5) (5,4) (5,7) (5,6) (5,1) (5,0) (5,3) (5,2)\n"
     "  | 45 44 47 46 41 40 43 42 |               48  (6,6) (6,7) (6,4) (6,5) (6,2) (6,3) (6,0) (6,1)\n"
     "  | 54 55 52 53 50 51 48 49 |               56  (7,7) (7,6) (7,5) (7,4) (7,3) (7,2) (7,1) (7,0)\n"
     "  | 63 62 61 60 59 58 57 56 |\n"
     "  +-------------------------+\n"
     "  m = 0 + 3 * 8 + 7 * 1 = 31, swizzled\n"
     "  at {m=28}\n"
     "\n"
     "  bytes 112 to 115\n"},
    {"f32[8] lambda i: [i ^ 5]",
     {3},
     "f32[8] lambda i: [i ^ 5]\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       8 logical, 8 in memory\n"
     "  bytes          32 logical, 32 in memory\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  axis                          offset                from                  to\n"
     "  m                                  0                   0                   7\n"
     "  no sum of digits: each element is computed\n"
     "\n"
     "  loops in the order of memory\n"
     "    for x0 in range(8):  # i ^ 5\n"
     "      # the logical index has no closed form: it is found by searching\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +-----------------+                       0  (5) (4) (7) (6) (1) (0) (3) (2)\n"
     "  | 5 4 7 6 1 0 3 2 |\n"
     "  +-----------------+\n"
     "  at {m=6}\n"
     "\n"
     "  bytes 24 to 27\n"},
    {"f32[4,6] (4,(2,3)):(1,(32,8))",
     {3, 5},
     "f32[4,6] (4,(2,3)):(1,(32,8))\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       24 logical, 52 in memory\n"
     "  bytes          96 logical, 208 in memory\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              4                   4      1.00x                     0\n"
     "  1                              6                   6      1.00x                     0\n"
     "  all                           24                  24      1.00x                   112\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  4                     1   d0\n"
     "  1                  3                     8   d1 / 2\n"
     "  2                  2                    32   d1 % 2\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +-------+-------+-------+                  0  (0,0) (1,0)\n"
     "  |  0 32 |  8 40 | 16 48 |                  2  (2,0) (3,0)\n"
     "  |  1 33 |  9 41 | 17 49 |                  4      .     .\n"
     "  |  2 34 | 10 42 | 18 50 |                  6      .     .\n"
     "  |  3 35 | 11 43 | 19 51 |                  8  (0,2) (1,2)\n"
     "  +-------+-------+-------+                 10  (2,2) (3,2)\n"
     "                                            12      .     .\n"
     "                                            14      .     .\n"
     "                                            16  (0,4) (1,4)\n"
     "                                            18  (2,4) (3,4)\n"
     "                                            20      .     .\n"
     "                                            22      .     .\n"
     "                                            24      .     .\n"
     "                                            26      .     .\n"
     "                                            28      .     .\n"
     "                                            30      .     .\n"
     "                                            32  (0,1) (1,1)\n"
     "                                            34  (2,1) (3,1)\n"
     "                                            36      .     .\n"
     "                                            38      .     .\n"
     "                                            40  (0,3) (1,3)\n"
     "                                            42  (2,3) (3,3)\n"
     "                                            44      .     .\n"
     "                                            46      .     .\n"
     "                                            48  (0,5) (1,5)\n"
     "                                            50  (2,5) (3,5)\n"
     "  m = 0 + 3 * 1 + 2 * 8 + 1 * 32 = 51\n"
     "  at {m=51}\n"
     "\n"
     "  bytes 204 to 207\n"},
    {"f32[3]{0:T(2,4)}",
     {2},
     "f32[3]{0:T(2,4)}\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       3 logical, 8 with padding\n"
     "  bytes          12 logical, 32 with padding: 62.5 % padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  (tile)                         1                   2      2.00x                    16\n"
     "  0                              3                   4      1.33x                     8\n"
     "  all                            3                   8      2.67x                    20\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  1                     8   0\n"
     "  1                  1                     8   0\n"
     "  2                  2                     4   0\n"
     "  3                  4                     1   d0\n"
     "\n"
     "  offset of each element ('.' is padding)   memory order\n"
     "  +---------+                               0  (0) (1) (2)   .   .   .   .   .\n"
     "  | 0 1 2 . |\n"
     "  +---------+\n"
     "  physical index    (2) in (3)\n"
     "  tile (2,4):\n"
     "    rewritten       (0,2) in (1,3)\n"
     "    tile index      (0/2,2/4) = (0,0) in (1,1)\n"
     "    within the tile (0%2,2%4) = (0,2) in (2,4)\n"
     "\n"
     "  linear_index((0,0,0,2), (1,1,2,4))\n"
     "  = linear_index((0,0), (1,1)) * 2 * 4 + linear_index((0,2), (2,4))\n"
     "  = (0 * 1 + 0) * 2 * 4 + (0 * 4 + 2)\n"
     "  = 2\n"
     "\n"
     "  bytes 8 to 11\n"},
    {"f32[2,60]{1,0:T(1,4)}",
     {1, 59},
     "f32[2,60]{1,0:T(1,4)}\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       120 logical, 120 with padding\n"
     "  bytes          480 logical, 480 with padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                              2                   2      1.00x                     0\n"
     "  1                             60                  60      1.00x                     0\n"
     "  all                          120                 120      1.00x                     0\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  2                    60   d0\n"
     "  1                 15                     4   d1 / 4\n"
     "  2                  1                     4   0\n"
     "  3                  4                     1   d1 % 4\n"
     "  physical index    (1,59) in (2,60)\n"
     "  tile (1,4):\n"
     "    tile index      (1/1,59/4) = (1,14) in (2,15)\n"
     "    within the tile (1%1,59%4) = (0,3) in (1,4)\n"
     "\n"
     "  linear_index((1,14,0,3), (2,15,1,4))\n"
     "  = linear_index((1,14), (2,15)) * 1 * 4 + linear_index((0,3), (1,4))\n"
     "  = (1 * 15 + 14) * 1 * 4 + (0 * 4 + 3)\n"
     "  = 119\n"
     "\n"
     "  bytes 476 to 479\n"},
    {"f32[100]{0:T(128)L(256)}",
     {99},
     "f32[100]{0:T(128)L(256)}\n"
     "\n"
     "  element        f32, 32 bits each\n"
     "  elements       100 logical, 256 with padding\n"
     "  bytes          400 logical, 1,024 with padding: 60.9 % padding\n"
     "  memory space   0 (HBM)\n"
     "\n"
     "  dim                       extent              padded  expansion      bytes of padding\n"
     "  0                            100                 128      1.28x                   112\n"
     "  L()                          128                 256      2.00x                   512\n"
     "  all                          100                 256      2.56x                   624\n"
     "\n"
     "  digit         extent                stride   value, of the logical index (d0, d1 ..)\n"
     "  0                  1                   128   0\n"
     "  1                128                     1   d0\n"
     "  physical index    (99) in (100)\n"
     "  tile (128):\n"
     "    tile index      (99/128) = (0) in (1)\n"
     "    within the tile (99%128) = (99) in (128)\n"
     "\n"
     "  linear_index((0,99), (1,128))\n"
     "  = linear_index((0), (1)) * 128 + linear_index((99), (128))\n"
     "  = 0 * 128 + 99\n"
     "  = 99\n"
     "\n"
     "  bytes 396 to 399\n"},
    {"f32[?,4]",
     {0},
     "f32[?,4]{1,0}\n"
     "\n"
     "  an unbounded dimension ('?') has no size\n"},
};

static const char *text_of(const char *text, const int64_t *index) {
    const ts_shape *shape = parse_shape(arena, text);
    ts_text out = ts_text_begin(arena);
    ts_report_shape(arena, shape, &out);
    if (!shape->layout || ts_layout_element_count(shape->layout) == 0) return out.bytes;
    ts_report_offset(shape, index, &out);
    return out.bytes;
}

TEST(explanations) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = text_of(rows[i].shape, rows[i].index);
        assert_string_equal(text, rows[i].text);
    }
}

TEST(elements_of_eight_bytes) {
    assert_true(ts_text_ends(text_of("f64[3]{0}", (int64_t[]){2}), "  bytes 16 to 23\n"));
}

TEST(keys_of_json) {
    static const struct {
        const char *shape, *keys;
    } objects[] = {
        {"f32[4,8] S[(4,8):(1@P,1@F)] + R[(2,3):(16@F,1@Q)] + 5@P",
         "\"canonical\":\"f32[4,8] S[(4,8):(1@P,1@F)] + R[(2,3):(16@F,1@Q)] + "
         "5@P\",\"padded_elements\":648,\"bytes\":2592,\"storage_bytes\":2592,\"unpadded_bytes\":128,"
         "\"padding_percent\":70.3704,\"expansion\":20.25,\"replica_bytes\":640,\"element\":\"f32\","
         "\"element_bits\":32,\"memory_"
         "space\":0,\"dims\":[4,8],\"axes\":[{\"name\":\"F\",\"offset\":0,\"low\":0,\"high\":23},{\"name\":"
         "\"P\",\"offset\":5,\"low\":5,\"high\":8},{\"name\":\"Q\",\"offset\":0,\"low\":0,\"high\":2}],"
         "\"replicas\":[{\"extent\":2,\"stride\":16,\"axis\":\"F\"},{\"extent\":3,\"stride\":1,\"axis\":"
         "\"Q\"}],\"costs\":[{\"dims\":[0],\"extent\":4,\"padded\":4},{\"dims\":[1],\"extent\":8,\"padded\":"
         "8}],\"digits\":[{\"extent\":4,\"stride\":1,\"axis\":\"P\",\"value\":\"d0\"},{\"extent\":8,"
         "\"stride\":1,\"axis\":\"F\",\"value\":\"d1\"}],\"points\":[{\"F\":2,\"P\":6,\"Q\":0},{\"F\":2,"
         "\"P\":6,\"Q\":1},{\"F\":2,\"P\":6,\"Q\":2},{\"F\":18,\"P\":6,\"Q\":0},{\"F\":18,\"P\":6,\"Q\":1},{"
         "\"F\":18,\"P\":6,\"Q\":2}]}"},
        {"bf16[3,5]{0,1:T(2,4)}",
         "\"canonical\":\"bf16[3,5]{0,1:T(2,4)}\",\"padded_elements\":24,\"bytes\":48,\"storage_bytes\":48,"
         "\"unpadded_bytes\":30,\"padding_percent\":37.5,\"expansion\":1.6,\"replica_bytes\":0,\"element\":"
         "\"bf16\",\"element_"
         "bits\":16,\"memory_space\":0,\"dims\":[3,5],\"axes\":[{\"name\":\"m\",\"offset\":0,\"low\":0,"
         "\"high\":23}],\"replicas\":[],\"costs\":[{\"dims\":[0],\"extent\":3,\"padded\":4},{\"dims\":[1],"
         "\"extent\":5,\"padded\":6}],\"digits\":[{\"extent\":3,\"stride\":8,\"axis\":\"m\",\"value\":\"d1 / "
         "2\"},{\"extent\":1,\"stride\":8,\"axis\":\"m\",\"value\":\"0\"},{\"extent\":2,\"stride\":4,"
         "\"axis\":\"m\",\"value\":\"d1 % "
         "2\"},{\"extent\":4,\"stride\":1,\"axis\":\"m\",\"value\":\"d0\"}],\"points\":[{\"m\":9}]}"},
        {"f32[2,3,6]{0,2,1:T(*,2,2)}",
         "\"canonical\":\"f32[2,3,6]{0,2,1:T(*,2,2)}\",\"padded_elements\":36,\"bytes\":144,\"storage_"
         "bytes\":144,\"unpadded_bytes\":144,\"padding_percent\":0,\"expansion\":1,\"replica_bytes\":0,"
         "\"element\":\"f32\","
         "\"element_bits\":32,\"memory_space\":0,\"dims\":[2,3,6],\"axes\":[{\"name\":\"m\",\"offset\":0,"
         "\"low\":0,\"high\":35}],\"replicas\":[],\"costs\":[{\"dims\":[0],\"extent\":2,\"padded\":2},{"
         "\"dims\":[1,2],\"extent\":18,\"padded\":18}],\"digits\":[{\"extent\":9,\"stride\":4,\"axis\":\"m\","
         "\"value\":\"(d1 * 6 + d2) / "
         "2\"},{\"extent\":1,\"stride\":4,\"axis\":\"m\",\"value\":\"0\"},{\"extent\":2,\"stride\":2,"
         "\"axis\":\"m\",\"value\":\"(d1 * 6 + d2) % "
         "2\"},{\"extent\":2,\"stride\":1,\"axis\":\"m\",\"value\":\"d0\"}],\"points\":[{\"m\":31}]}"},
        {"f32[8] lambda i: [i ^ 5]",
         "\"canonical\":\"f32[8] lambda i: [i ^ "
         "5]\",\"padded_elements\":8,\"bytes\":32,\"storage_bytes\":32,\"unpadded_bytes\":32,\"padding_"
         "percent\":0,\"expansion\":1,\"replica_bytes\":0,\"element\":\"f32\",\"element_bits\":32,\"memory_"
         "space\":0,\"dims\":[8]"
         ",\"axes\":[{\"name\":\"m\",\"offset\":0,\"low\":0,\"high\":7}],\"replicas\":[],\"points\":[{\"m\":"
         "4}]}"},
    };
    static const int64_t index[] = {1, 2, 3};
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        const ts_shape *shape = parse_shape(arena, objects[i].shape);
        ts_text out = ts_text_begin(arena);
        ts_json json;
        ts_json_begin(&json, &out, "test");
        ts_report_shape_json(arena, shape, &json);
        ts_report_point_json(shape->layout, index, &json);
        ts_json_end(&json);
        cJSON *all = cJSON_Parse(out.bytes);
        char *text = cJSON_PrintUnformatted(all);
        assert_non_null(text);
        assert_string_equal(strstr(text, "\"canonical\""), objects[i].keys);
        cJSON_free(text);
        cJSON_Delete(all);
    }
}

/* Escapes are shown as "^". */
TEST(colours) {
    ts_text out = ts_text_begin(arena);
    ts_report_ansi(arena, parse_shape(arena, "f32[3,5]{1,0:T(2,4)}"), &out);
    for (char *at = out.bytes; *at; at++)
        if (*at == '\033') *at = '^';
    assert_string_equal(
        out.bytes,
        "f32[3,5]{1,0:T(2,4)}\n"
        "53.1 % padding: 60 of 128 bytes hold elements\n"
        "\n"
        "  ^[38;5;16;48;5;153m  0^[0m^[38;5;16;48;5;153m  1^[0m^[38;5;16;48;5;153m  2^[0m^[38;5;16;48;5;153m "
        " 3^[0m^[38;5;16;48;5;223m  8^[0m^[2m///^[0m^[2m///^[0m^[2m///^[0m\n"
        "  ^[38;5;16;48;5;153m  4^[0m^[38;5;16;48;5;153m  5^[0m^[38;5;16;48;5;153m  6^[0m^[38;5;16;48;5;153m "
        " 7^[0m^[38;5;16;48;5;223m 12^[0m^[2m///^[0m^[2m///^[0m^[2m///^[0m\n"
        "  ^[38;5;16;48;5;225m 16^[0m^[38;5;16;48;5;225m 17^[0m^[38;5;16;48;5;225m 18^[0m^[38;5;16;48;5;225m "
        "19^[0m^[38;5;16;48;5;194m 24^[0m^[2m///^[0m^[2m///^[0m^[2m///^[0m\n"
        "  ^[2m///^[0m^[2m///^[0m^[2m///^[0m^[2m///^[0m^[2m///^[0m^[2m///^[0m^[2m///^[0m^[2m///^[0m\n");
}

/* Without colours; '|' where the part of a cell begins that is padding. */
static const char *in_grey(const char *shape) {
    ts_text coloured = ts_text_begin(arena), out = ts_text_begin(arena);
    ts_report_ansi(arena, parse_shape(arena, shape), &coloured);
    for (const char *at = coloured.bytes; *at; at++) {
        if (*at != '\033') {
            ts_text_add_char(&out, *at);
            continue;
        }
        if (ts_text_starts(at, "\033[0;2m")) ts_text_add_char(&out, '|');
        at = strchr(at, 'm');
    }
    return out.bytes;
}

/* Of a cell's seven characters so many show data as its tile has: 44/128 are two, 4/8 three, both one; one at
 * least. Of the rows that have no room the last is drawn. */
TEST(cells_that_are_tiles) {
    assert_string_equal(in_grey("f32[1004,300]{1,0:T(8,128)}"),
                        "f32[1004,300]{1,0:T(8,128)}\n"
                        "22.2 % padding: 1,204,800 of 1,548,288 bytes hold elements\n"
                        "a cell is a tile of 8 x 128; the beginning, and the last\n"
                        "\n"
                        "        0   1024  |/2048\n"
                        "     3072   4096  |/5120\n"
                        "     6144   7168  |/8192\n"
                        "     9216  10240  |11264\n"
                        "    12288  13312  |14336\n"
                        "    15360  16384  |17408\n"
                        "    18432  19456  |20480\n"
                        "    21504  22528  |23552\n"
                        "    24576  25600  |26624\n"
                        "    27648  28672  |29696\n"
                        "    30720  31744  |32768\n"
                        "    33792  34816  |35840\n"
                        "    36864  37888  |38912\n"
                        "    39936  40960  |41984\n"
                        "    43008  44032  |45056\n"
                        "  ..\n"
                        "   38|4000 38|5024 |386048\n");
    assert_string_equal(
        in_grey("f32[8,4000]{1,0:T(8,128)}"),
        "f32[8,4000]{1,0:T(8,128)}\n"
        "2.3 % padding: 128,000 of 131,072 bytes hold elements\n"
        "a cell is a tile of 8 x 128; the beginning, and the last\n"
        "\n"
        "       0  1024  2048  3072  4096  5120  6144  7168  8192  9216 10240 11264 12288 13312 ..  "
        "|31744\n");
    assert_holds(in_grey("f32[8,129]{1,0:T(8,128)}"), "\n\n      0 |1024\n");
    assert_string_equal(in_grey("f32[0,4]{1,0:T(8,128)}"), "f32[0,4]{1,0:T(8,128)}\n"
                                                           "no elements, 0 bytes\n"
                                                           "a cell is a tile of 8 x 128\n");
}

int main(void) { return run_all_tests(begin_group, end_group); }
