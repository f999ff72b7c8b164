// The C library, for every other module: none of them imports it itself (checked by scripts/check-layout).
#if canImport(Darwin)
@_exported public import Darwin
#elseif canImport(Glibc) && !canImport(Darwin)
@_exported public import Glibc
#endif
