import SecretMemory
import Testing

@Suite struct SecretTextTests {
    @Test(arguments: ["", "a", "correct horse battery staple", "Zürich ✓ 🗝", String(repeating: "é", count: 5000)])
    func `a text becomes the bytes of its UTF-8`(_ text: String) throws {
        let secret = try SecretBytes(utf8: text)
        let isTheSame = secret.holds(Array(text.utf8))
        #expect(isTheSame)
    }

    @Test(arguments: [0, 1, 15, 4096, 5000])
    func `an array that was moved into a secret is empty afterwards`(_ count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
        var bytes = content.map { $0 }
        let secret = try SecretBytes(wiping: &bytes)
        let isTheSame = secret.holds(content)
        #expect(isTheSame)
        #expect(bytes.isEmpty)
    }

    @Test func `an array is wiped where it lies`() {
        var bytes = [UInt8](repeating: 0xA5, count: 64)
        let before = unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        bytes.wipe()
        #expect(unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } == before)
        #expect(bytes == zeros(64))
    }

    @Test func `an array whose secret cannot be had is emptied all the same`() {
        var bytes = [UInt8](repeating: 0xA5, count: (1 << 30) + 1)
        #expect(throws: SecretMemoryError.invalidSize((1 << 30) + 1)) { _ = try SecretBytes(wiping: &bytes) }
        #expect(bytes.isEmpty)
    }
}
