import BetterAuthMessages
import TestSupport
import Testing

private struct KeyChainVectors: Decodable {
    struct Event: Decodable {
        let payloadText: String
        let entry: String
    }
    struct Authorization: Decodable {
        let generation: Int
        let record: String
        let signedBytes: String
    }
    let hsmIdentity: String
    let chain: [Event]
    let authorizations: [Authorization]
}

@Suite struct KeyChainTests {
    @Test func eventsOfTheVectors() throws {
        let file = try vectors("hsm-keychain", as: KeyChainVectors.self)
        #expect(file.chain.count == 4)
        var previous: KeyEvent?
        for (number, vector) in file.chain.enumerated() {
            let event = try SignedKeyEvent(parsing: Array(vector.entry.utf8))
            #expect(event.withSignedBytes { $0.array }.text == vector.payloadText)
            #expect(SignedKeyEvent(event.payload, signature: event.signature).bytes.text == vector.entry)
            #expect(event.digestInput.lend(blake3) == event.payload.id)
            #expect(verifies(event, event.payload.publicKey))
            #expect(event.payload.prefix.description == file.hsmIdentity)
            #expect(event.payload.sequenceNumber == UInt64(number) && event.payload.purpose == KeyEvent.authorization)
            #expect(event.payload.taintPrevious == (number == 2) && event.payload.previous == previous?.id)
            if let previous {
                #expect(derivations.rotationHash(of: event.payload.publicKey) == previous.rotationHash)
                #expect(event.payload.createdAt > previous.createdAt)
            }
            previous = event.payload
        }
    }

    @Test func endorsementsOfTheVectors() throws {
        let file = try vectors("hsm-keychain", as: KeyChainVectors.self)
        let events = try file.chain.map { try SignedKeyEvent(parsing: Array($0.entry.utf8)).payload }
        #expect(file.authorizations.count == 5)
        for vector in file.authorizations {
            let record = try SignedEndorsement(parsing: Array(vector.record.utf8))
            #expect(record.withSignedBytes { $0.array }.text == vector.signedBytes)
            #expect(SignedEndorsement(record.payload, signature: record.signature).bytes.text == vector.record)
            #expect(record.payload.generation == events[vector.generation].id)
            #expect(verifies(record, events[vector.generation].publicKey))
            // As POST /sign answers it.
            #expect(try Array((vector.record + "\n").utf8).lend { try SignedEndorsement(record: $0) } == record)
            #expect(
                refusal { try Array((vector.record + "\n\n").utf8).lend { try SignedEndorsement(record: $0) } } != nil)
        }
    }

    @Test func lists() throws {
        let file = try vectors("hsm-keychain", as: KeyChainVectors.self)
        let array = "[" + file.chain.map(\.entry).joined(separator: ",") + "]\n"
        #expect(try events(array).map(\.payload.sequenceNumber) == [0, 1, 2, 3])
        #expect(try events("[]").isEmpty)
        for count in 0..<array.utf8.count - 1 {
            #expect(refusal { try events(String(array.prefix(count))) }?.reason == .truncated, "\(count)")
        }
        for wrong in ["{}", "[,]", "[{}]", "[] ", "[]]", array.replacing("]\n", with: ",]"), array + "\n", "["] {
            #expect(refusal { try events(wrong) } != nil)
        }
        // A deployment that has rotated its keys for years.
        let entry = file.chain[1].entry
        let long = "[" + Array(repeating: entry, count: 5000).joined(separator: ",") + "]"
        #expect(try events(long).count == 5000)
        #expect(refusal { try events(String(repeating: long, count: 7)) }?.reason == .tooLarge)

        let record = file.authorizations[0].record
        let key = try SignedEndorsement(parsing: Array(record.utf8)).payload.publicKey
        #expect(try records("{}").isEmpty)
        #expect(try records("{\"\(key)\":\(record)}\n").keys.first == key)
        let object = "{\"\(key)\":\(record)}"
        for count in 0..<object.utf8.count {
            #expect(refusal { try records(String(object.prefix(count))) }?.reason == .truncated, "\(count)")
        }
        let other = object.replacing("{\"\(key)", with: "{\"\(Samples.key)")
        #expect(refusal { try records(other) }?.reason == .inconsistent)
        let twice = "{\"\(key)\":\(record),\"\(key)\":\(record)}"
        #expect(refusal { try records(twice) }?.reason == .duplicateMember)
        for wrong in ["[]", "{\"x\":\(record)}", "{\"\(key)\":null}", "{,}", object + "}", object.dropLast() + ",}"] {
            #expect(refusal { try records(wrong) } != nil)
        }
    }

    private func events(_ text: String) throws -> [SignedKeyEvent] {
        try Array(text.utf8).lend { try KeyEventList(parsing: $0) }.events
    }

    private func records(_ text: String) throws -> [PublicKeyText: SignedEndorsement] {
        try Array(text.utf8).lend { try EndorsementList(parsing: $0) }.records
    }
}
