import Holdfast

func start(folder: String) async throws -> HoldfastApp {
    try await HoldfastApp.open(folder)
}

func keep(_ token: borrowing SecretBytes, in app: HoldfastApp) throws {
    try app.vault.put(token, for: "api token")
}
