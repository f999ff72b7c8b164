internal import Cryptography
internal import SecretMemory
internal import VaultFormat

func format<R: ~Copyable>(_ body: () throws(FormatError) -> R) throws(SyncError) -> R {
    do throws(FormatError) { return try body() } catch { throw .format(error) }
}

func crypto<R: ~Copyable>(_ body: () throws(CryptographyError) -> R) throws(SyncError) -> R {
    do throws(CryptographyError) { return try body() } catch { throw .cryptography(error) }
}

func secretMemory<R: ~Copyable>(_ body: () throws(SecretMemoryError) -> R) throws(SyncError) -> R {
    do throws(SecretMemoryError) { return try body() } catch { throw .cryptography(.memory(error)) }
}

/// For what an attacker may have written: whatever is wrong with it, it is not authentic. What the machine lacks is
/// said as it is.
func authentic<R: ~Copyable>(
    _ field: StaticField, _ body: () throws(CryptographyError) -> R
) throws(SyncError) -> R {
    do throws(CryptographyError) { return try body() } catch {
        switch error {
        case .memory, .library: throw .cryptography(error)
        case .authenticationFailed, .invalidSize, .scalarOutOfRange, .invalidPoint: throw .notAuthentic(field)
        }
    }
}

extension [UInt8] {
    /// Lends the bytes.
    func lend<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R { try unsafe body(span.bytes) }
}
