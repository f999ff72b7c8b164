import BetterAuthMessages
import Testing

@Suite struct DurationTests {
    @Test(
        arguments: [
            (Duration.zero, 0), (.milliseconds(1), 1), (.nanoseconds(999_999), 0), (.seconds(30), 30_000),
            (.milliseconds(-1500), -1500), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
        ] as [(Duration, Int64)])
    func `a duration is a number of whole milliseconds, however long it is`(_ duration: Duration, _ expected: Int64) {
        #expect(duration.clampedMilliseconds == expected)
    }

    @Test func `a timestamp that a duration would take beyond the form is none`() throws {
        let start = try #require(Timestamp("2026-01-01T00:00:00.000Z"))
        #expect(start.adding(.seconds(90))?.description == "2026-01-01T00:01:30.000Z")
        #expect(start.adding(.seconds(Int64.max)) == nil)
    }
}
