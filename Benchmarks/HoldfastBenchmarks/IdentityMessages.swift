import BetterAuthMessages
import Foundation

/// Messages of Better Auth: their fixed texts, and the largest of them read and written again.
struct IdentityMessages: Suite {
    static let figures = ["cesr-decode", "cesr-encode", "message-largest"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let rounds = bench.options.count(31, quick: 11)
        let signature = Array(
            "0IA4UTM8hskrY42wR1BiDhpxJoHNC9WoAwSt9LE4x5Hzl0eTluD7O8rPnuY-iNN3Sv3Ms5ZoZH_eosTqAl6DMtXU".utf8)
        let message = try largest()
        let decoding = try Rounds(rounds, [{ _ in decode(signature, times: 50_000) }]).median(0)
        let encoding = try Rounds(rounds, [{ _ in try encode(signature, times: 50_000) }]).median(0)
        let whole = try Rounds(rounds, [{ _ in try readAndWrite(message, times: 2000) }]).median(0)
        return [
            Figure(
                name: "cesr-decode", value: decoding, unit: "ns", bound: .atMost(100),
                detail: "a signature, the longest of the four texts"),
            Figure(name: "cesr-encode", value: encoding, unit: "ns", bound: .atMost(100), detail: "a signature"),
            Figure(
                name: "message-largest", value: whole / 1000, unit: "us", bound: .atMost(15),
                detail:
                    "\(message.count) bytes read and written: a link request, the largest without an application's data"
            ),
        ]
    }

    private static func decode(_ text: [UInt8], times: Int) -> Double {
        var text = text
        var sum: UInt64 = 0
        let taken = time {
            for _ in 0..<times {
                guard let value = unsafe SignatureText(text: text.span.bytes) else { continue }
                // Each input depends on the last output, so that no call can be left out.
                let last = value.withRawBytes { unsafe $0.unsafeLoad(fromByteOffset: 63, as: UInt8.self) }
                sum &+= UInt64(last)
                text[87] = sum & 1 == 0 ? UInt8(ascii: "U") : UInt8(ascii: "V")
            }
        }
        keep(sum)
        return taken / Double(times)
    }

    private static func encode(_ text: [UInt8], times: Int) throws -> Double {
        guard let first = unsafe SignatureText(text: text.span.bytes) else { throw BenchmarkError("no signature") }
        var raw = first.rawBytes
        var sum: UInt64 = 0
        let taken = time {
            for _ in 0..<times {
                guard let value = unsafe SignatureText(raw: raw.span.bytes) else { continue }
                let last = value.withText { unsafe $0.unsafeLoad(fromByteOffset: 87, as: UInt8.self) }
                sum &+= UInt64(last)
                raw[40] = UInt8(truncatingIfNeeded: sum)
            }
        }
        keep(sum)
        return taken / Double(times)
    }

    /// A link request holds a message inside of a message.
    private static func largest() throws -> [UInt8] {
        guard let digest = DigestText("EGQ3s6w4RlEz_7Y7dSc6jbVIxVhGXXnbA_01nGzVvZ2F"),
            let key = PublicKeyText("1AAIA2sX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKW"),
            let nonce = NonceText("0AAAAQIDBAUGBwgJCgsMDQ4P"),
            let signature = SignatureText(
                "0IA4UTM8hskrY42wR1BiDhpxJoHNC9WoAwSt9LE4x5Hzl0eTluD7O8rPnuY-iNN3Sv3Ms5ZoZH_eosTqAl6DMtXU")
        else { throw BenchmarkError("no message") }
        let authentication = RotationAuthentication(
            device: DeviceID(digest), identity: IdentityID(digest), publicKey: key, rotationHash: RotationHash(digest))
        let container = LinkContainer(LinkContainerPayload(authentication: authentication), signature: signature)
        let request = LinkDevice.Request(nonce: nonce, authentication: authentication, container: container)
        return SignedMessage(request, signature: signature).bytes
    }

    private static func readAndWrite(_ message: [UInt8], times: Int) throws -> Double {
        var message = message
        var sum: UInt64 = 0
        let taken = try time {
            for _ in 0..<times {
                let read = try SignedMessage<LinkDevice.Request>(parsing: message)
                message = SignedMessage(read.payload, signature: read.signature).bytes
                sum &+= UInt64(message.count)
            }
        }
        keep(sum)
        return taken / Double(times)
    }
}
