#pragma once

// In a shim, before the headers of a library and between the list of what is used of it: each call of a function in the
// list goes to `late_NAME` (late.c).
#define LATE_TEXT(text) _Pragma(#text)
#define LATE_NAME(name) LATE_TEXT(redefine_extname name late_##name)
