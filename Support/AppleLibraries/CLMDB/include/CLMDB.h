#pragma once
// The same words as on Linux, over the headers that the package brings.
#include "../../../../Sources/CLMDB/shim.h"
