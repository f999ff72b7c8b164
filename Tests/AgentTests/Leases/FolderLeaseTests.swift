import AgentMessages
import HoldfastAgent
import Items
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

/// What the agent does with folders, and whom it asks.
@Suite struct FolderLeaseTests {
    private let agent: TestAgent
    private let pinentry: ScriptedPinentry

    init() throws {
        let scratch = try Scratch()
        pinentry = try ScriptedPinentry(scratch)
        try scratch.addItem("work/free")
        try scratch.addItem("work/one", tags: "ask-each-time")
        try scratch.addItem("work/two", tags: "ask-each-time")
        agent = try TestAgent(scratch, parts: pinentry.part)
        try agent.unlock()
    }

    private func change(_ action: FolderAction) throws -> Int {
        let client = try agent.client()
        return try client.change(action, seen: FolderPlan(action, client.list(nil)).digest)
    }

    private func folder(_ text: String) throws -> EntryFolder { try #require(EntryFolder(parsing: text)) }

    private var names: [String] {
        get throws { try agent.client().list(nil).map { $0.collection + ":" + $0.name } }
    }

    @Test func `each entry that asks is asked for once, and one no keeps all where they are`() throws {
        #expect(try change(.move(folder("work/"), to: folder("to/"))) == 3)
        #expect(pinentry.questions.count == 2, "\(pinentry.questions)")
        #expect(try names == ["to:free", "to:one", "to:two"])
        try pinentry.answer(ScriptedPinentry.no)
        let error = #expect(throws: VaultError.self) { try change(.copy(folder("to/"), to: folder("new/"))) }
        #expect(
            error?.code.description == "notAllowed" && error?.reason.hasPrefix("to/one: ") == true,
            "\(error?.reason ?? "")")
        #expect(try names == ["to:free", "to:one", "to:two"])
        // What hands out nothing is not asked for, as with one entry.
        #expect(try change(.discard(folder("to/"), .seconds(60))) == 3)
        #expect(try agent.client().trash().count == 3 && names.isEmpty)
        #expect(pinentry.questions.count == 3)
    }

    @Test func `records of before are asked for too, and what was not seen is busy`() throws {
        let client = try agent.client()
        let seen = FolderPlan(.adopt, try client.list(nil))
        try agent.put([1], "work/more")
        #expect(errorCode { _ = try client.change(.adopt, seen: seen.digest) } == .busy)
        #expect(pinentry.questions.isEmpty)
        #expect(try change(.adopt) == 4)
        #expect(pinentry.questions.count == 2)
        #expect(try names == ["work:free", "work:more", "work:one", "work:two"])
        #expect(errorCode { _ = try client.change(.adopt, seen: seen.digest) } == .busy)
        #expect(try change(.remove(folder("work/"))) == 4)
        try client.lock()
        #expect(errorCode { _ = try client.change(.adopt, seen: seen.digest) } == .locked)
    }

    @Test func `a new place beside an entry that is written so is refused`() throws {
        let client = try agent.client()
        #expect(errorCode { try agent.put([1], "free", "work") } == .recordExists)
        #expect(errorCode { try agent.put([1], "free", "work", replacing: true) } == .recordExists)
        #expect(errorCode { try client.put(Item(.note), as: path("free", "work"), replacing: nil) } == .recordExists)
        #expect(errorCode { try client.copy(path("work/free"), to: path("free", "work")) } == .recordExists)
        try client.move(path("work/free"), to: path("free", "work"))
        #expect(errorCode { try agent.put([1], "work/free") } == .recordExists)
    }
}
