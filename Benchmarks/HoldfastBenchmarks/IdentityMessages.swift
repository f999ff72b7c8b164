import BetterAuthMessages
import CRawLoops
import Foundation

/// Messages of Better Auth: their fixed texts, and the largest of them read and written again.
struct IdentityMessages: Suite {
    static let figures = ["cesr-decode", "cesr-encode", "message-largest"]

    static func measure(_ bench: Bench) throws -> [Figure] {
        let rounds = bench.options.count(31, quick: 11)
        let signature = Array(
            "0IA4UTM8hskrY42wR1BiDhpxJoHNC9WoAwSt9LE4x5Hzl0eTluD7O8rPnuY-iNN3Sv3Ms5ZoZH_eosTqAl6DMtXU".utf8)
        let message = try largest()
        let decoding = try Rounds(
            rounds, [{ _ in decode(signature, times: 50_000) }, { _ in rawDecode(times: 50_000) }])
        let encoding = try Rounds(
            rounds, [{ _ in try encode(signature, times: 50_000) }, { _ in rawEncode(times: 50_000) }])
        let whole = try Rounds(
            rounds,
            [
                { _ in try readAndWrite(message, times: 2000) },
                { _ in time { keep(unsafe raw_message(message, message.count, 2000)) } / 2000 },
            ])
        return [
            Figure(
                name: "cesr-decode", value: decoding.ratio(0, to: 1), unit: "x",
                absolute: .init(decoding.median(0), "ns"), bound: .atMost(6),
                detail: "a signature, the longest of the four texts; OpenSSL's base64 of as many bytes "
                    + "\(number(decoding.median(1))) ns"),
            Figure(
                name: "cesr-encode", value: encoding.ratio(0, to: 1), unit: "x",
                absolute: .init(encoding.median(0), "ns"), bound: .atMost(4),
                detail: "a signature; OpenSSL's base64 \(number(encoding.median(1))) ns"),
            Figure(
                name: "message-largest", value: whole.ratio(0, to: 1), unit: "x",
                absolute: .init(whole.median(0) / 1000, "us"), bound: .atMost(20),
                detail: "\(message.count) bytes read and written, a link request; copying them and looking for their "
                    + "quotation marks takes \(number(whole.median(1))) ns"),
        ]
    }

    private static func rawDecode(times: Int) -> Double {
        var text = Array(
            "4UTM8hskrY42wR1BiDhpxJoHNC9WoAwSt9LE4x5Hzl0eTluD7O8rPnuY+iNN3Sv3Ms5ZoZH/eosTqAl6DMtXAAAU".utf8)
        return time { keep(unsafe raw_base64_decode(&text, Int32(times))) } / Double(times)
    }

    private static func rawEncode(times: Int) -> Double {
        var bytes = [UInt8](repeating: 7, count: 64)
        return time { keep(unsafe raw_base64_encode(&bytes, Int32(times))) } / Double(times)
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
