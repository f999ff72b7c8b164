// Never installed. dpkg-shlibdeps reads of it which packages hold what programs load at the first call
// (Sources/LateLibraries), and their versions: it calls the same functions.
#define LATE(name) __asm__(".pushsection .data\n .dc.a " #name "\n.popsection");
#include "../Sources/CArgon2/functions.h"
#include "../Sources/COpenSSL/functions.h"
#include "../Sources/CSodium/functions.h"
#include "../Sources/CTSS2/esys.h"
#include "../Sources/CTSS2/mu.h"
#include "../Sources/CTSS2/rc.h"
#include "../Sources/CTSS2/tctildr.h"
#ifndef SERVER
#include "../Sources/CLMDB/functions.h"
#endif
