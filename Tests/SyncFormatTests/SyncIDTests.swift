import SyncFormat
import TestSupport
import Testing

@Suite struct SyncIDTests {
    @Test func anIDIsSixteenBytesInTheirOrder() throws {
        let bytes = (1...16).map(UInt8.init)
        let id = try #require(StreamID(bytes))
        #expect(id.bytes == bytes)
        #expect(id.description == "0102030405060708090a0b0c0d0e0f10")
        #expect(StreamID(bytes.dropLast()) == nil)
        #expect(StreamID(bytes + [0]) == nil)
        let later = try #require(StreamID([1, 2] + [UInt8](repeating: 255, count: 14)))
        #expect(id < later && !(later < id))
    }

    @Test func `an id is made of the first 16 bytes of a hash`() throws {
        let bytes = (1...32).map(UInt8.init)
        let id = bytes.lend { StreamID(truncating: $0) }
        #expect(id == StreamID(bytes.prefix(16)) && id.bytes == Array(bytes.prefix(16)))
        #expect(id.bytes.lend { StreamID(truncating: $0) } == id)
        #expect(StreamID.none.bytes == [UInt8](repeating: 0, count: 16))
    }

    @Test func `an id of fewer than 16 bytes ends the process`() async {
        await #expect(processExitsWith: .failure) {
            _ = [UInt8](repeating: 1, count: 15).lend { StreamID(truncating: $0) }
        }
    }
}
