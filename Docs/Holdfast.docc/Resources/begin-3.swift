import Holdfast

func start(folder: String) async throws -> HoldfastApp {
    try await HoldfastApp.open(folder)
}

func keep(_ token: borrowing SecretBytes, in app: HoldfastApp) throws {
    try app.vault.put(token, for: "api token")
}

func send(_ request: (RawSpan) -> Void, from app: HoldfastApp) throws {
    try app.vault.withValue(for: "api token") { bytes in request(bytes) }
}
