import Holdfast

/// The lines between the markers stand in the README word for word; a test compares them.
func readmeExample(folder: String, passcode: borrowing SecretBytes, token: borrowing SecretBytes) async throws -> Int {
    var size = 0
    func use(_ bytes: RawSpan) { size = bytes.byteCount }
    // README begins
    let phrase = try HoldfastApp.create(at: folder, passcode: passcode)  // 24 words, shown once:
    phrase.withText { words in showToOwner(words) }  // not stored anywhere

    let app = try HoldfastApp(at: folder)  // starts locked
    try await app.lock.unlock(.passcode, passcode)  // burns an attempt, derives the key
    try await app.lock.setEnabled(true, passcode: passcode)  // the app lock is off by default
    try app.vault.put(token, for: "api token", in: "work")  // durable when it returns
    try app.vault.withValue(for: "api token", in: "work") { bytes in  // decrypted in locked memory, wiped after
        use(bytes)
    }
    await app.lock.handle(.didEnterBackground)  // locks and wipes the keys
    // README ends
    return size
}

private func showToOwner(_ words: RawSpan) {}
