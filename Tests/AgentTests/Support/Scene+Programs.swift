import AgentMessages
import Cryptography
import ProgramProtocols
import Foundation
import HoldfastAgent
import Items
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultFormat
import VaultStorage

// What other programs have the agent do.
extension Scene {
    /// Passwords of servers, values by reference, and keys of SSH: imported, added, and used.
    func useFaces(_ agent: TestAgent) throws {
        let client = try agent.client()
        let host = "h\(Scene.letters(9)).example"
        let password = value(41)
        let attributes = "protocol=https\nhost=\(host)\nusername=ada\npassword=\(password)\n"
        _ = try client.credential(.store, collection: "git", secret(attributes))
        let answer = try client.credential(.get, collection: "git", secret("protocol=https\nhost=\(host)\n"))
        #expect(answer.count > password.count)
        let reference = try SecretReference(collection: "git", item: "https://ada@\(host)")
        #expect(try client.value(of: reference).count == password.count)

        let socket = try client.serveSSH()
        for key in try SSHKeyKind.allCases.map(sshKey) {
            let text = pem(key.file)
            remember(text.utf8.split(separator: UInt8(ascii: "\n")).dropFirst().dropLast().flatMap { $0 })
            let path = try path("ssh \(Scene.letters(8))", "keys")
            _ = try client.importSSH(path, key: secret(text))
            try sign(key.blob, socket)
        }
        for key in try SSHKeyKind.allCases.map(sshKey) {
            #expect(try ask([17] + key.privatePart, socket).first == 6)
            try sign(key.blob, socket)
        }
        #expect(try ask([22] + string(Array(value(30).utf8)), socket).first == 6)
    }

    /// Items that are asked for: allowed, refused, and still open when the lock comes.
    /// - Returns: The client that still waits, and what keeps its question open.
    func useAsked(_ agent: TestAgent, _ pinentry: ScriptedPinentry) throws -> (RawConnection, question: Int32) {
        let client = try agent.client()
        var paths: [RecordName] = []
        for tag in ["ask-until-lock", "ask-each-time", "ask-each-time"] {
            var item = try Item(.login)
            try item.add(.secret, "password", secret(value(44)))
            try item.addTag(tag)
            try item.addTag(value(31))
            paths.append(try path(name(19)))
            try client.put(item, as: paths[paths.count - 1], replacing: nil)
        }
        try? FileManager.default.removeItem(atPath: pinentry.folder + "/answer")
        try pinentry.answer("OK")
        for _ in 0..<2 { _ = try client.item(paths[0]) }
        try pinentry.answer(ScriptedPinentry.no)
        #expect(errorCode { _ = try client.item(paths[1]) } == .notAllowed)
        try pinentry.hold()
        let asking = try agent.raw()
        asking.send(Request.items(.item(paths[2])).head())
        return (asking, try pinentry.waitForQuestion())
    }

    private struct Key {
        let blob: [UInt8]
        /// As an agent is given it.
        let privatePart: [UInt8]
        /// As a file has it.
        let file: [UInt8]
    }

    private func sshKey(_ kind: SSHKeyKind) throws -> Key {
        var part = SSHWriter()
        part.string(kind.rawValue)
        let blob: [UInt8]
        if kind == .rsa {
            blob = SSHKeyKind.blob(modulus: RSANumbers.modulus, exponent: [1, 0, 1])
            for number in [RSANumbers.privateExponent, RSANumbers.inverse, RSANumbers.first, RSANumbers.second]
                + RSANumbers.computed
            {
                rememberKey(number, "a number of an RSA key")
            }
            for number in [
                RSANumbers.modulus, [1, 0, 1], RSANumbers.privateExponent, RSANumbers.inverse, RSANumbers.first,
                RSANumbers.second,
            ] { part.magnitude(number) }
        } else {
            // As 66 bytes it has to be less than the order, which begins with 01FF.
            let seed = [kind == .p521 ? 1 : 9] + (1..<kind.secretSize).map { _ in UInt8.random(in: 1...254) }
            rememberKey(Array(seed.suffix(64)), "a key of SSH")
            let point: [UInt8]
            switch kind {
            case .ed25519: point = try unsafe Ed25519PrivateKey(seed: seed.span.bytes).publicKey()
            case .p384: point = try ECDSAPrivateKey(.p384, scalar: secret(seed)).publicPoint
            case .p521: point = try ECDSAPrivateKey(.p521, scalar: secret(seed)).publicPoint
            default: point = try P256PrivateKey(scalar: secret(seed)).publicKey.uncompressed
            }
            if let curve = kind.curve { part.string(curve) }
            part.string(point)
            if kind == .ed25519 { part.string(seed + point) } else { part.magnitude(seed) }
            blob = kind.blob(point)
        }
        part.string("comment")
        var file = SSHWriter()
        for text in ["none", "none", ""] { file.string(text) }
        file.number(1)
        file.string(blob)
        let padding = (1...8).prefix((8 - (8 + part.bytes.count) % 8) % 8).map { UInt8($0) }
        file.string([0, 0, 0, 7, 0, 0, 0, 7] + part.bytes + padding)
        return Key(blob: blob, privatePart: part.bytes, file: Array("openssh-key-v1\0".utf8) + file.bytes)
    }

    private func pem(_ file: [UInt8]) -> String {
        let body = Data(file).base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
        return "-----BEGIN OPENSSH PRIVATE KEY-----\n\(body)\n-----END OPENSSH PRIVATE KEY-----\n"
    }

    /// An item with a key of a TPM.
    /// - Returns: Its public key.
    func addChipKey(_ chip: SoftwareTPM, _ agent: TestAgent) throws -> [UInt8] {
        let authorisation = (0..<32).map { _ in UInt8.random(in: 1...254) }
        rememberKey(authorisation, "what the TPM wants to hear")
        let key = try TPMSigningKeys(at: TPMLocation(chip.location)).makeKey(authorisation: secret(authorisation))
        var item = try Item(.sshKey)
        try item.add(.secret, "TPM key", secret([1] + key.publicKey + authorisation + key.data))
        try agent.client().put(item, as: path("ssh \(Scene.letters(8))", "keys"), replacing: nil)
        return try unsafe SSHKeyKind.p256.blob(P256PublicKey(compressed: key.publicKey.span.bytes).uncompressed)
    }

    /// Signatures that are under way, and whose answers nobody awaits.
    /// - Returns: The connections.
    func beginSigning(_ blob: [UInt8], _ socket: String, _ count: Int) throws -> [Int32] {
        try (0..<count).map { _ in
            let connection = try connection(socket)
            let message = string([13] + string(blob) + string(Array("data".utf8)) + [0, 0, 0, 0])
            try #require(unsafe write(connection, message, message.count) == message.count)
            return connection
        }
    }

    func sign(_ blob: [UInt8], _ socket: String) throws {
        #expect(try ask([13] + string(blob) + string(Array("data".utf8)) + [0, 0, 0, 2], socket).first == 14)
    }

    /// Locks or unlocks what SSH programs get.
    /// - Returns: Whether the agent did.
    func ssh(locks: Bool, _ passphrase: String, _ socket: String) throws -> Bool {
        try ask([locks ? 22 : 23] + string(Array(passphrase.utf8)), socket) == [6]
    }

    private func string(_ bytes: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.string(bytes)
        return writer.bytes
    }

    /// One message and its answer.
    private func ask(_ message: [UInt8], _ path: String) throws -> [UInt8] {
        let connection = try connection(path)
        defer { close(connection) }
        let framed = string(message)
        try #require(unsafe write(connection, framed, framed.count) == framed.count)
        var answer: [UInt8] = []
        while answer.count < 4 || answer.count < 4 + answer[..<4].reduce(0, { $0 << 8 | Int($1) }) {
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(connection, &piece, piece.count)
            try #require(count > 0)
            answer += piece[..<count]
        }
        return Array(answer.dropFirst(4))
    }

    private func connection(_ path: String) throws -> Int32 {
        let connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(connection, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isConnected)
        return connection
    }
}
