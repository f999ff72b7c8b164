import Testing

@testable import VaultCore

/// What a folder is to the header in it.
@Suite struct HomeStandingTests {
    @Test func onlyTheHeadersOwnKeyMakesItTheHome() {
        let own = [UInt8](repeating: 1, count: 32)
        let other = [UInt8](repeating: 2, count: 32)
        for names in [false, true] {
            #expect(HomeStanding(header: own, stored: own, namesHardware: names) == .own)
            for stored in [other, nil, [], [UInt8](repeating: 0, count: 32)] {
                #expect(HomeStanding(header: own, stored: stored, namesHardware: names) == (names ? .unsettled : .copy))
            }
        }
    }
}
