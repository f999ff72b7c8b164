internal import Cryptography
internal import SecretMemory

/// An error of a backend's own, which says what it comes to.
protocol KeyStoreErrorSource: Error {
    var error: KeyStoreError { get }
}

extension KeyStoreError {
    /// Whatever code without typed errors threw.
    package init(any error: any Error) {
        switch error {
        case let error as KeyStoreError: self = error
        case let error as any KeyStoreErrorSource: self = error.error
        case let error as SecretMemoryError: self.init(error)
        case CryptographyError.memory(let error): self.init(error)
        case is CryptographyError: self.init(.failure, "a cryptographic operation failed (\(error))")
        default: self.init(.unexpected, "something failed in a way that was not expected (\(type(of: error)))")
        }
    }
}

/// Runs a backend and turns what it throws into our errors. Another's error may say anything, so only its type is told.
func keyStoreErrors<R: ~Copyable>(_ body: () throws -> R) throws(KeyStoreError) -> R {
    do { return try body() } catch { throw KeyStoreError(any: error) }
}
