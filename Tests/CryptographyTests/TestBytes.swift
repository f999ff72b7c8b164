import Cryptography
import SecretMemory
import TestSupport

extension Nonce96 {
    init?(_ bytes: [UInt8]) { unsafe self.init(copying: bytes.span.bytes) }

    var array: [UInt8] {
        withBytes { $0.array }
    }
}
