/* The packer: fills bundles within dependences. */
#include "assembler.h"

void pack_region(assembler *as) { as->region = as->items.count; }
