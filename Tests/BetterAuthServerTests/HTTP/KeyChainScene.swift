import BetterAuthMessages
import BetterAuthServer
import Foundation
import RealParts
import Testing

/// A key chain in a folder, its two tokens, and the processes around it.
struct KeyChainScene {
    let folder: String
    let sign = String(repeating: "s", count: 40)
    let admin = String(repeating: "a", count: 40)
    /// Those of `hsm`, but where it listens.
    let options: [String]

    init(_ folder: String) throws {
        self.folder = folder
        options = [
            "--folder", folder + "/chain", "--sign-token-file", folder + "/sign", "--admin-token-file",
            folder + "/admin",
        ]
        try writeSecret(sign, to: folder + "/sign")
        try writeSecret(admin, to: folder + "/admin")
        let made = try runServerCommand(["init-chain", "--folder", folder + "/chain"], folder)
        #expect(made.status == 0 && made.output.hasPrefix("Made the key chain in "), "\(made.output)")
    }

    func keeper(_ listen: String = "127.0.0.1:0", _ more: [String] = []) throws -> ServerProcess {
        try ServerProcess(["hsm", "--listen", listen] + options + more, folder: folder)
    }

    func keys(
        of hsm: ServerProcess, _ listen: String = "127.0.0.1:0", _ more: [String] = []
    ) throws -> ServerProcess {
        try ServerProcess(
            ["keys", "--listen", listen, "--hsm", "http://\(hsm.address)", "--trust", hsm.key] + more, folder: folder)
    }

    /// Options with which `serve` publishes its keys.
    func publishing(_ hsm: ServerProcess, _ keys: ServerProcess) -> [String] {
        [
            "--hsm", "http://\(hsm.address)", "--hsm-token-file", folder + "/sign", "--key-service",
            "http://\(keys.address)",
        ]
    }

    /// Asks the keeper for what only the admin token allows.
    func order(_ path: String, generation: Int, of hsm: ServerProcess) throws -> HTTPClient.Reply {
        try HTTPClient(hsm.address).post(
            path, Array(#"{"generation":\#(generation)}"#.utf8), headers: "Authorization: Bearer \(admin)\r\n")
    }
}

extension TestSession {
    /// Opened by a device over HTTP.
    static func opened(_ device: TestDevice, over client: HTTPClient) throws -> TestSession {
        let asked = try client.post(
            "/session/request",
            UnsignedMessage(RequestSession.Request(nonce: freshNonce(), identity: device.identity)).bytes)
        let challenge = try SignedMessage<Response<RequestSession>>(parsing: asked.body).payload.body.challenge
        let (opening, current, next) = try TestSession.opening(device, challenge)
        let opened = try client.post("/session/create", opening.bytes)
        let token = try SignedMessage<Response<CreateSession>>(parsing: opened.body).payload.body.token
        return TestSession(current: current, next: next, token: token)
    }
}

extension TestDevice {
    /// The first one of a new account, made over HTTP.
    static func registered(over client: HTTPClient) throws -> TestDevice {
        let hash = RecoveryHash(try freshDigest())
        let device = try TestDevice(recovery: hash)
        let made = try client.post("/account/create", device.creation(hash).bytes)
        #expect(made.status == 200, "\(made.text)")
        return device
    }
}
