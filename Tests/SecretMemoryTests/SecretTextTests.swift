import SecretMemory
import TestSupport
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

    private func decoded(_ text: String, skipsBlanks: Bool = false) throws -> [UInt8]? {
        var buffer = SecretBuffer()
        let isValid = try unsafe Base64.decode(Array(text.utf8).span.bytes, skipsBlanks: skipsBlanks, into: &buffer)
        return isValid ? try buffer.bytes().revealed() : nil
    }

    @Test func `base 64 has one text for each value`() throws {
        for count in 0...66 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 61 &+ 200) }
            let text = Base64.text(bytes)
            var buffer = SecretBuffer()
            try unsafe Base64.append(bytes.span.bytes, to: &buffer)
            let isTheSame = try buffer.bytes().holds(Array(text.utf8))
            #expect(isTheSame)
            #expect(try decoded(text) == bytes)
            #expect(try decoded(" \(text.prefix(1))\r\n\t\(text.dropFirst())\n", skipsBlanks: true) == bytes)
        }
        // RFC 4648, section 10.
        #expect(Base64.text(Array("fooba".utf8)) == "Zm9vYmE=" && Base64.text(Array("foob".utf8)) == "Zm9vYg==")
        for text in ["Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zg=a", "Zm9v\n", "Zm-v", "Zg==="] {
            #expect(try decoded(text) == nil, "\(text)")
        }
        #expect(try decoded("Zm9\u{B}v", skipsBlanks: true) == nil)
    }
}
