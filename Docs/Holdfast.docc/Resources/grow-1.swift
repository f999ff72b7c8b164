import Holdfast

func turnOn(_ app: HoldfastApp) async throws {
    try await app.lock.requireOwner()
}
