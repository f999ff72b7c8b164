internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast

/// What an app server is asked, checked before anything is opened or sent.
struct AppRequest {
    private let path: String
    private let target: ServerAddress?
    private let trust: ResponseTrust?
    private let data: ApplicationData

    init(
        _ path: String, target: String?, key: String?, _ allowsPlain: Bool, _ json: [UInt8]
    ) throws(CommandError) {
        guard ServerAddress.isPath(path) else {
            throw .usage("\(Escaping.sentence(path)) is not a path such as /foo/bar")
        }
        self.path = path
        if let target {
            self.target = try IdentityWork.address(target, allowsPlain: allowsPlain)
        } else {
            self.target = nil
        }
        trust = try key.map(IdentityWork.key).map { .pinned([$0]) }
        do throws(MessageError) {
            data = try json.withRawSpan { json throws(MessageError) in try ApplicationData(json: json) }
        } catch {
            throw .usage("this is not compact JSON (\(error))")
        }
    }

    /// - Returns: The response, whose signature was verified.
    func send(by client: VaultIdentity) async throws -> [UInt8] {
        try await client.request(path, at: target, data, answer: ApplicationData.self, trust: trust).bytes
    }
}
