import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultFormat

@testable import VaultSync

/// Numbers that were used already.
@Suite struct StampTests {
    @Test func `a number that a state has seen is refused, and ends no process`() throws {
        let stream: StreamID = id(5)
        let space = MergeSpace()
        var state = ItemState()
        state.write(at: Stamp(Dot(stream, 9), time: 1))
        let bytes = try space.encoded(state, of: id(1), form: .item, values: space.table(of: []))
        let seen = Stamp(Dot(stream, 8), time: 2)
        #expect(throws: SyncError.format(.invalid(field: "state stamp"))) {
            _ = try bytes.withBytes { try StateJoin.restated($0, at: seen) }
        }
        #expect(throws: SyncError.format(.invalid(field: "state stamp"))) {
            _ = try bytes.withBytes { try StateAmendment(adopting: $0, after: [stream: 8], at: seen) }
        }
        #expect(throws: SyncError.format(.invalid(field: "state stamp"))) {
            _ = try bytes.withBytes { try StateAmendment(rebasing: $0, of: stream, after: 8, at: seen) }
        }
    }
}
