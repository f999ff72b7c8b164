#pragma once
// The same words as on Linux, over the headers that the package brings. Its name is not CLMDB.h: where case makes no difference, as
// on most Macs, that would be the package's own clmdb.h, and hide it.
#include "../../../../Sources/CLMDB/shim.h"
