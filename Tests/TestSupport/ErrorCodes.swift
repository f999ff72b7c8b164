package import Testing
internal import VaultCore
package import VaultStorage

/// The error of a type that `body` throws; nil when it throws nothing. An error of another type fails the test.
package func thrown<Failure: Error>(
    _ type: Failure.Type, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> Failure? {
    do {
        try body()
        return nil
    } catch let error as Failure {
        return error
    } catch {
        Issue.record("another error: \(error)", sourceLocation: sourceLocation)
        return nil
    }
}

/// Runs `body` and returns the code of the vault error it must throw.
package func errorCode(
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> VaultError.Code? {
    let error = thrown(VaultError.self, sourceLocation: sourceLocation) {
        try body()
        Issue.record(comment ?? "no error was thrown", sourceLocation: sourceLocation)
    }
    return error?.code
}
