/// An error of a backend's own, which says what it comes to.
protocol KeyStoreErrorSource: Error {
    var error: KeyStoreError { get }
}

/// Runs a backend and turns what it throws into our errors; what is neither is a lack of memory.
func keyStoreErrors<R: ~Copyable>(_ body: () throws -> R) throws(KeyStoreError) -> R {
    do { return try body() } catch let error as KeyStoreError { throw error } catch {
        throw (error as? any KeyStoreErrorSource)?.error ?? KeyStoreError(.outOfMemory, "\(error)")
    }
}
