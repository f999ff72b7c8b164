#include "raw_loops.h"

#include <malloc.h>

void raw_give_memory_back(void) { malloc_trim(0); }
