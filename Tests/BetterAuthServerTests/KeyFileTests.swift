import BetterAuthMessages
import BetterAuthServer
import Foundation
import SecretMemory
import Synchronization
import Testing

/// Keeps what it seals, under a name. That a real chip does its part is shown by the tests of the command.
private final class Keeper: KeySeal {
    private struct Unknown: Error {}
    private let kept = Mutex<[[UInt8]: [UInt8]]>([:])

    func seal(_ key: borrowing SecretBytes) throws -> [UInt8] {
        let bytes = key.withBytes { bytes in
            (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
        return kept.withLock { kept in
            let name = Array("object \(kept.count)".utf8)
            kept[name] = bytes
            return name
        }
    }

    func unseal(_ object: [UInt8]) throws -> SecretBytes {
        guard let bytes = kept.withLock({ $0[object] }) else { throw Unknown() }
        return try unsafe SecretBytes(copying: bytes.span.bytes)
    }
}

@Suite struct KeyFileTests {
    private let fixture: StoreFixture
    private var path: String { fixture.folder + "/keys" }

    init() throws { fixture = try StoreFixture(.memory) }

    private func load(_ protection: KeyProtection) throws -> String {
        let keys = try KeyFile(path, protection).load(responseLifetime: 1000, accessLifetime: 1000)
        return keys.responseKey(now: TestClock().now).publicKey.description
    }

    private func contents() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    private func write(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        unsafe chmod(path, 0o600)
    }

    /// No byte of a sealed file can be changed or left out.
    @Test func aSealedFileIsTakenWholeOrNotAtAll() throws {
        let seal = Keeper()
        let key = try load(.sealed(seal))
        #expect(try load(.sealed(seal)) == key)
        let file = try contents()
        for index in file.indices {
            var changed = file
            changed[index] ^= 0x10
            try write(changed)
            #expect(throws: KeyFile.Failure.self, "byte \(index)") { try load(.sealed(seal)) }
            try write(Array(file[..<index]))
            #expect(throws: KeyFile.Failure.self, "\(index) bytes") { try load(.sealed(seal)) }
        }
        try write(file + [0])
        #expect(throws: KeyFile.Failure.self) { try load(.sealed(seal)) }
        try write(file)
        #expect(try load(.toBeSealed(seal)) == key)
        #expect(throws: KeyFile.Failure.self) { try load(.file) }
        #expect(throws: KeyFile.Failure.self) { try load(.sealed(Keeper())) }
    }

    @Test func aPlainFileIsTakenWholeOrNotAtAll() throws {
        let key = try load(.file)
        let file = try contents()
        for index in file.indices {
            try write(Array(file[..<index]))
            // The response key without the access key is not enough either.
            #expect(throws: KeyFile.Failure.self, "\(index) bytes") { try load(.file) }
        }
        try write(file)
        #expect(try load(.file) == key && load(.toBeSealed(Keeper())) == key)
        #expect(throws: KeyFile.Failure.self) { try load(.sealed(Keeper())) }
    }
}
