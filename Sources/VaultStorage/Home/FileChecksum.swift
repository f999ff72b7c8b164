internal import Cryptography

/// What the small files of a home are checked by for damage; it proves nothing about who wrote them.
package enum FileChecksum {
    package static func of(_ bytes: RawSpan) -> [UInt8] { BLAKE3.hash(bytes).bytes }
}
