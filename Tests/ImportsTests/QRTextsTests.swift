import QRReading
import SecretMemory
import TestSupport
import Testing

/// What the process that reads an image answers. It decoded a stranger's file, and is believed in nothing.
@Suite struct QRTextsTests {
    private func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

    private func reply(_ texts: [String]) -> [UInt8] {
        let body = texts.flatMap { number($0.utf8.count) + $0.utf8 }
        return [0] + number(body.count) + body
    }

    private func read(_ reply: [UInt8]) throws -> [String] {
        let texts = try QRTexts(reply: secret(reply))
        return (0..<texts.count).map { number in texts.withText(number) { $0.array.text } }
    }

    private func error(_ reply: [UInt8]) -> QRReadingError? {
        do { _ = try read(reply) } catch { return error as? QRReadingError }
        return nil
    }

    @Test func `texts are taken apart`() throws {
        let all = ["otpauth://totp/x?secret=JBSWY3DPEHPK3PXP", "b", String(repeating: "c", count: 3000)]
        #expect(try read(reply(all)) == all)
        #expect(error(reply([])) == .noCode)
    }

    @Test func `each outcome has its error`() {
        for (byte, expected) in [
            (1, .missing(.zbar)), (2, .missing(.png)), (3, .missing(.jpeg)), (4, .unreadable), (5, .tooLarge),
        ] as [(UInt8, QRReadingError)] {
            #expect(error([byte]) == expected)
            #expect(error([byte, 0]) == .unreadable)
        }
    }

    @Test func `a reply that is cut, longer, or says other lengths is none`() {
        let whole = reply(["first", "second"])
        for end in whole.indices { #expect(error(Array(whole[..<end])) == .unreadable, "\(end)") }
        #expect(error(whole + [0]) == .unreadable)
        for index in 0..<9 {
            for bit in 0..<8 {
                var changed = whole
                changed[index] ^= 1 << UInt8(bit)
                #expect(error(changed) == .unreadable, "byte \(index), bit \(bit)")
            }
        }
        #expect(error(reply(["a", ""])) == .unreadable)
        #expect(error(reply(Array(repeating: "a", count: QRLimits.codes + 1))) == .unreadable)
        #expect(error([0] + number(8) + number(-1) + [0, 0, 0, 0]) == .unreadable)
    }
}
