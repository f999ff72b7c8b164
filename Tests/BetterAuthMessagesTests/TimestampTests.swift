import BetterAuthMessages
import Foundation
import TestSupport
import Testing

private struct TimestampVectors: Decodable {
    struct Parse: Decodable {
        let text: String
        let unixMillis: Int64?
        let expect: String
    }
    struct Window: Decodable {
        struct Case: Decodable {
            let requestMillis: Int64
            let nowMillis: Int64
            let expect: String
        }
        let lifetimeSeconds: Int64
        let cases: [Case]
    }
    struct Token: Decodable {
        struct Case: Decodable {
            let issuedAt: Int64
            let expiry: Int64
            let now: Int64
            let expect: String
        }
        let cases: [Case]
    }
    let parse: [Parse]
    let accessWindow: Window
    let token: Token
}

@Suite struct TimestampTests {
    @Test func textsOfTheVectors() throws {
        let all = try vectors("timestamps", as: TimestampVectors.self).parse
        #expect(all.count == 11)
        for vector in all {
            let time = Timestamp(vector.text)
            if vector.expect == "accept" {
                #expect(time != nil && time?.milliseconds == vector.unixMillis, "\(vector.text)")
            } else {
                // Where implementations may differ, ours takes the two forms and nothing else.
                #expect(time == nil, "\(vector.text)")
            }
        }
    }

    @Test func windowOfTheVectors() throws {
        let window = try vectors("timestamps", as: TimestampVectors.self).accessWindow
        #expect(window.cases.count == 4)
        for vector in window.cases {
            let request = try Access.Request(
                nonce: Samples.nonce, timestamp: #require(Timestamp(milliseconds: vector.requestMillis)),
                token: Samples.token, body: ApplicationData(json: "{}"))
            let now = try #require(Timestamp(milliseconds: vector.nowMillis))
            let outcome = code { try request.checkAge(now: now, window: window.lifetimeSeconds * 1000) }
            #expect(outcome == vector.expect)
        }
    }

    @Test func toleranceLetsClocksRunAhead() throws {
        let request = try Access.Request(
            nonce: Samples.nonce, timestamp: #require(Timestamp(milliseconds: 5000)), token: Samples.token,
            body: ApplicationData(json: "{}"))
        let now = try #require(Timestamp(milliseconds: 3000))
        #expect(code { try request.checkAge(now: now, tolerance: 2000) } == "accept")
        #expect(code { try request.checkAge(now: now, tolerance: 1999) } == "BA502")
    }

    @Test func tokenTimesOfTheVectors() throws {
        let all = try vectors("timestamps", as: TimestampVectors.self).token.cases
        #expect(all.count == 4)
        for vector in all {
            let claims = try Samples.claims(
                issuedAt: vector.issuedAt, expiry: vector.expiry, refreshExpiry: vector.expiry + 1)
            let now = try #require(Timestamp(milliseconds: vector.now))
            #expect(code { try claims.checkAccess(now: now) } == vector.expect)
        }
        let claims = try Samples.claims(issuedAt: 5, expiry: 10, refreshExpiry: 20)
        // A refresh does not look at the last moment of access, and lets the clocks of servers differ.
        for (now, expected) in [(0, "accept"), (11, "accept"), (20, "accept"), (21, "BA401")] as [(Int64, String)] {
            let now = try #require(Timestamp(milliseconds: now))
            #expect(code { try claims.checkRefresh(now: now) } == expected)
        }
        let ahead = try Samples.claims(issuedAt: 61_001, expiry: 70_000, refreshExpiry: 80_000)
        for (now, expected) in [(1000, "BA403"), (1001, "accept")] as [(Int64, String)] {
            let now = try #require(Timestamp(milliseconds: now))
            #expect(code { try ahead.checkRefresh(now: now) } == expected)
        }
    }

    private func code(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "accept"
        } catch {
            return (error as? ProtocolError)?.code.rawValue ?? "\(error)"
        }
    }

    /// Against Foundation's calendar, the first and last millisecond of days over all years.
    @Test func everyDayIsWrittenAndReadAgain() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime]
        var day: Int64 = 0
        while day * 86_400_000 <= 253_402_300_799_999 {
            for milliseconds in [day * 86_400_000, day * 86_400_000 + 86_399_999] {
                let time = try #require(Timestamp(milliseconds: milliseconds))
                let text = time.description
                #expect(Timestamp(text) == time)
                let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
                let fraction = String(format: ".%03dZ", Int(milliseconds % 1000))
                #expect(text == formatter.string(from: date).dropLast() + fraction)
            }
            day += 397
        }
    }

    @Test func timesThatDoNotExistAreRefused() {
        let refused = [
            "2023-02-29T00:00:00.000Z", "1900-02-29T00:00:00.000Z", "2100-02-29T00:00:00.000Z",
            "2025-00-01T00:00:00.000Z", "2025-13-01T00:00:00.000Z", "2025-01-00T00:00:00.000Z",
            "2025-04-31T00:00:00.000Z", "2025-01-32T00:00:00.000Z", "2025-01-01T00:60:00.000Z",
            "2025-01-01T00:00:60.000Z", "1969-12-31T23:59:59.999Z", "2025-01-01t00:00:00.000Z",
            "2025-01-01T00:00:00.000z", "2025-01-01T00:00:00.00Z", "2025-01-01T00:00:00.0000Z",
            "2025-01-01T00:00:00,000Z", "2025-01-01T00:00:00.000000Z", "2025-01-01T00:00:00.12345678xZ",
            "+025-01-01T00:00:00.000Z", "2025-01-01T00:00:00.-00Z", " 2025-01-01T00:00:00.00Z",
            "٢٠٢٥-01-01T00:00:00.000Z", "2025-01-01T00:00:00.000\u{0}",
        ]
        for text in refused { #expect(Timestamp(text) == nil, "\(text)") }
        #expect(Timestamp("2000-02-29T00:00:00.000Z") != nil)
        #expect(Timestamp("2025-10-10T07:00:29.423999999Z") == Timestamp("2025-10-10T07:00:29.423Z"))
        #expect(Timestamp(milliseconds: -1) == nil && Timestamp(milliseconds: 253_402_300_800_000) == nil)
        #expect(Timestamp(milliseconds: 0)?.adding(milliseconds: .max) == nil)
        #expect(Timestamp(milliseconds: 0)?.adding(milliseconds: 900_000)?.milliseconds == 900_000)
    }
}
