import SyncFormat
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
}
