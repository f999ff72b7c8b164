/// Something that holds a key between operations and gives it up when the vault is locked.
package protocol KeyHolder: AnyObject, Sendable {
    /// Called when the vault is being locked, after every operation that used the keys.
    func dropKeys()
}

/// Lets the steps of a stream in while the vault is unlocked.
package protocol StreamGate: AnyObject, Sendable {
    /// Ends a long operation early once the vault is being locked.
    /// - Throws: `locked`.
    func checkOpen() throws(VaultError)

    /// Runs one step of a stream.
    /// - Throws: `locked`, and what `body` throws.
    func step<R: ~Copyable>(of stream: any KeyHolder, _ body: () throws(VaultError) -> R) throws(VaultError) -> R

    /// The stream has ended; locking need not take its keys any more.
    func unregister(_ stream: any KeyHolder)
}
