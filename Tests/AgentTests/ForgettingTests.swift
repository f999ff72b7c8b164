import AgentMessages
import Cryptography
import Foundation
import HoldfastAgent
import MemorySearch
import RealParts
import SecretMemory
import Testing
import VaultCore

/// After a lock nothing of the vault is left anywhere in the process: every page and every register is looked at.
@Suite(.serialized) struct ForgettingTests {
    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_SOAK"] == nil ? 3 : 50

    @Test("with", arguments: [Request.Factor.passcode, .recoveryPhrase])
    func anAgentForgetsAll(_ factor: Request.Factor) throws {
        let scene = try Scene()
        let agent = try TestAgent(scene.scratch)
        for round in 0..<ForgettingTests.rounds {
            try scene.open(agent, factor)
            if round % 2 == 0 { try scene.use(agent) }
            if round == 0 {
                let (found, _) = try scene.needles.search(agent.pid)
                #expect(!found.isEmpty, "names are in use while it is open: the search finds what is there")
            }
            try agent.lock()
            let (found, extent) = try scene.needles.search(agent.pid)
            #expect(found.isEmpty, "round \(round):\n\(found.joined(separator: "\n"))")
            #expect(extent.bytes > 1 << 20 && extent.threads > 0)
        }
    }
}

/// A vault whose secrets are all known, and what is done with it.
final class Scene {
    let scratch: Scratch
    let phrase: String
    let passcode: String
    private(set) var needles = Needles()
    private var number = 0

    init() throws {
        scratch = try Scratch(vault: false)
        passcode = Scene.letters(40)
        let made = try Vault.create(at: scratch.home, passcode: secret(passcode), settings: scratch.settings)
        phrase = made.withText { String(decoding: $0.array, as: UTF8.self) }
        for (name, bytes) in try KeysOfHome(scratch.home, passcode: passcode, phrase: phrase).keys {
            needles.add(key: bytes, name)
        }
        needles.add(Array(passcode.utf8), "the passcode")
        // No word has more than eight letters: each part has a space in it, unlike the list of words in the program.
        needles.add(Array(phrase.utf8), "the phrase", part: 16)
    }

    static func letters(_ count: Int) -> String {
        String((0..<count).map { _ in "abcdefghijkmnopqrstuvwxyz".randomElement()! })
    }

    /// An item waits that was sealed while the vault was locked.
    func open(_ agent: TestAgent, _ factor: Request.Factor) throws {
        number += 1
        let (name, value) = fresh("sealed item", 30, 100)
        let vault = try scratch.vault()
        try vault.open.drop(secret(value), for: name)
        let client = try agent.client()
        _ = try client.unlock(factor, secret(factor == .passcode ? passcode : phrase))
    }

    private func fresh(_ what: String, _ nameSize: Int, _ size: Int) -> (name: String, value: String) {
        let (name, value) = (Scene.letters(nameSize), Scene.letters(size))
        needles.add(Array(name.utf8), "name of \(what) in round \(number)")
        needles.add(Array(value.utf8), "value of \(what) in round \(number)")
        return (name, value)
    }

    func use(_ agent: TestAgent) throws {
        let collection = Scene.letters(21)
        needles.add(Array(collection.utf8), "collection in round \(number)")
        for (what, nameSize, size) in [
            ("short", 9, 24), ("fifteen", 15, 60), ("long", 50, 700), ("longest", 1000, 4000), ("file", 33, 150_000),
        ] {
            let (name, value) = fresh(what, nameSize, size)
            try agent.put(Array(value.utf8), name, collection)
            _ = try agent.get(name, collection)
        }
        let client = try agent.client()
        let all = try client.list(nil)
        _ = try client.list(collection)
        if let first = all.first { try client.remove(path(first.name, first.collection)) }
        #expect(errorCode { _ = try agent.get(fresh("none", 40, 8).name, collection) } == .recordNotFound)
    }
}
