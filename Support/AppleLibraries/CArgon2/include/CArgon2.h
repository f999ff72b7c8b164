#pragma once
// The same words as on Linux, over the headers that the package brings.
#include "../../../../Sources/CArgon2/shim.h"
