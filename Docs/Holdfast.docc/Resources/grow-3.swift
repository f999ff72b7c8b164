import Holdfast

func turnOn(_ app: HoldfastApp) async throws {
    try await app.lock.requireOwner()
}

func launched(_ app: HoldfastApp) async throws {
    try await app.lock.unlock()
}

func offerWords(_ app: HoldfastApp, show: (RawSpan) -> Void, wroteThemDown: () async -> Bool) async throws {
    let issue = try await app.lock.issueRecoveryPhrase()
    issue.phrase.withText { words in show(words) }
    if await wroteThemDown() { try await issue.confirm() }
}
