import Holdfast

func start(folder: String) async throws -> HoldfastApp {
    try await HoldfastApp.open(folder)
}
