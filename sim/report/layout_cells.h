/* Private to reports: the tiles of a shape, and its logical grid as pictures draw it. */
#ifndef TILESIM_REPORT_LAYOUT_CELLS_H
#define TILESIM_REPORT_LAYOUT_CELLS_H

#include "base/text.h"
#include "layout/shape.h"

enum { TILING_MAX_RUN = 16 };

/* The tile sizes of each logical dim: of the first tile, and of the second where it divides the first; 0:
 * none. */
typedef struct {
    int64_t first[TS_LAYOUT_MAX_DIMS], second[TS_LAYOUT_MAX_DIMS];
    int64_t drawn[TS_LAYOUT_MAX_DIMS]; /* extents in the picture: rounded up to the first tile */
    int64_t run;                       /* elements on a line of the memory order */
} tiling;

void tiling_find(ts_arena *arena, const ts_shape *shape, tiling *t);

/* The cells along one side of the grid. */
typedef struct {
    int dim;              /* -1: the array has too few dims */
    int64_t step;         /* elements a cell stands for: 1, or a tile */
    int64_t total, drawn; /* cells; where fewer are drawn, the last one is kept */
} cell_side;

/* How much may be drawn: rows and columns of an array whose cells are elements; of others, in tiles;
 * slices. */
typedef struct {
    int64_t rows, columns, tile_rows, tile_columns, slices;
} cell_limits;

typedef struct {
    const ts_shape *shape;
    const ts_layout *layout;
    tiling t;
    cell_side rows, columns;
    int64_t slices; /* drawn */
    bool cut;       /* there are more than are drawn */
    int fast_axis;  /* of several: the one of the last digit, which no colour shows */
    int64_t index[TS_LAYOUT_MAX_DIMS];
} cell_grid;

void cells_choose(ts_arena *arena, const ts_shape *shape, const cell_limits *most, cell_grid *grid);

/* The extent of a dim with the padding of its tiles; 1 of dim -1. */
int64_t cells_extent(const cell_grid *grid, int dim);
bool cells_are_tiles(const cell_grid *grid);
bool cells_are_left_out(const cell_side *side);
/* The cell that is drawn at a position. */
int64_t cells_at(const cell_side *side, int64_t position);
/* Of the elements that a cell stands for, those inside the array. */
int64_t cells_filled(const cell_grid *grid, const cell_side *side, int64_t cell);

/* Puts grid->index on the first element of a cell, and the leading dims on the next slice; false: that was
 * the last. */
void cells_go(cell_grid *grid, int64_t row, int64_t column);
bool cells_next_slice(cell_grid *grid);
/* Of the element of grid->index: "17", or "6,8,1" on several axes. */
const char *cells_coordinates(ts_arena *arena, const cell_grid *grid);

typedef struct {
    int64_t number;
    int shade; /* of a few */
} cell_hue;

/* The tile of the index; where memory is swizzled, what moves as one; with several axes, its coordinate on
 * one, and shades for all others but the fast one. */
cell_hue cells_hue(const cell_grid *grid, const int64_t *index);
/* Of several axes the first that colours show. */
int cells_colour_axis(const cell_grid *grid);

#endif
