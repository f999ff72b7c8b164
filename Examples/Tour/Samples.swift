internal import HoldfastCommand

/// What the owner of the tour's vault keeps. Invented, and printed in part.
enum Samples {
    static let firstPasscode = "blue-harbour-1789"
    static let wrongPasscode = "blue-harbour-1798"
    static let secondPasscode = "nine-quiet-lanterns"
    static let thirdPasscode = "found-again-in-june"
    static let pin = "2580"
    static let wrongPIN = "1470"

    struct Item: Sendable {
        let collection: String
        let name: String
        let kind: String
        let text: String
    }

    static let items = [
        Item(
            collection: "web logins", name: "mail.harbour-post.example", kind: "a login",
            text: """
                site: https://mail.harbour-post.example/
                user: elin.sandvik
                password: Vq7!kelp-Orbit-29-dune
                totp: otpauth://totp/harbour-post:elin.sandvik?secret=JBSWY3DPEHPK3PXP

                """),
        Item(
            collection: "house notes", name: "Where the spare key is", kind: "a note",
            text: """
                The spare key hangs behind the third board of the boat shed.
                Ask Maren before the winter: she oils the lock.

                """),
        Item(
            collection: "travel todos", name: "Before the journey in May", kind: "a todo",
            text: """
                [x] renew the passport (number N4471902)
                [ ] pay the deposit, reference 88-2107-5
                [ ] leave the sheet with the recovery phrase at home

                """),
        Item(
            collection: "old contacts", name: "Maren Øvergård", kind: "a contact",
            text: """
                name: Maren Øvergård
                phone: +47 22 00 41 89
                address: Brygga 14, 0252 Oslo
                born: 1961-08-30

                """),
    ]

    static let fileCollection = "files"
    static let fileName = "house-survey-2024.bin"
}

/// 10 MB that look random and are the same each time: any part of them can be made again, so none is kept.
struct SampleFile {
    static let size: UInt64 = 10_000_000
    /// Stands at the start of each MiB; 32 bytes.
    static let marker = "HOLDFAST-TOUR-MARKER-IN-10MB-FIL"
    private static let markerWords: [UInt64] = {
        let bytes = Array(marker.utf8)
        return (0..<4).map { word in (0..<8).reduce(0) { $0 | UInt64(bytes[word * 8 + $1]) << UInt64(8 * $1) } }
    }()

    /// Eight bytes, the lowest first (SplitMix64 over the place).
    private static func word(_ index: UInt64) -> UInt64 {
        let place = index % (1 << 17)
        if place < 4 { return markerWords[Int(place)] }
        var z = (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    private static func byte(_ offset: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: word(offset / 8) >> (offset % 8 * 8))
    }

    /// Writes what is at `offset`, as much as there is room for; 0 at the end.
    static func fill(_ output: inout MutableRawSpan, from offset: UInt64) -> Int {
        let count = Int(min(UInt64(output.byteCount), size - min(size, offset)))
        var done = 0
        while done < count {
            let place = offset + UInt64(done)
            if place % 8 == 0 && count - done >= 8 {
                output.storeBytes(of: word(place / 8).littleEndian, toByteOffset: done, as: UInt64.self)
                done += 8
            } else {
                output.storeBytes(of: byte(place), toByteOffset: done, as: UInt8.self)
                done += 1
            }
        }
        return count
    }

    /// Whether these bytes are what is at `offset`.
    static func matches(_ bytes: RawSpan, at offset: UInt64) -> Bool {
        guard offset + UInt64(bytes.byteCount) <= size else { return false }
        var done = 0
        while done < bytes.byteCount {
            let place = offset + UInt64(done)
            if place % 8 == 0 && bytes.byteCount - done >= 8 {
                let found = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: done, as: UInt64.self)
                guard UInt64(littleEndian: found) == word(place / 8) else { return false }
                done += 8
            } else {
                guard bytes.byte(at: done) == byte(place) else { return false }
                done += 1
            }
        }
        return true
    }

    /// A few of its bytes, for the search on disk.
    static func sample(at offset: UInt64) -> [UInt8] { (0..<16).map { byte(offset + $0) } }
}
