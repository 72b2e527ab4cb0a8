/* The library: tensor layouts, what moving between them costs on a machine, and programs that run on it. */
#ifndef TILESIM_H
#define TILESIM_H

#include "tilesim/arena.h"
#include "tilesim/array.h"
#include "tilesim/audit.h"
#include "tilesim/builder.h"
#include "tilesim/choose.h"
#include "tilesim/error.h"
#include "tilesim/layout.h"
#include "tilesim/machine.h"
#include "tilesim/move.h"
#include "tilesim/notation.h"
#include "tilesim/plan.h"
#include "tilesim/price.h"
#include "tilesim/program.h"
#include "tilesim/relayout.h"
#include "tilesim/reshard.h"
#include "tilesim/run.h"
#include "tilesim/sweep.h"
#include "tilesim/version.h"

#endif
