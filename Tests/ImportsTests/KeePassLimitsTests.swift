import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// What a file of KeePass may ask for, and what it may say of us.
@Suite struct KeePassLimitsTests {
    private static let more = "more tags than an entry can have"

    @Test func `of a long text of tags so many are read as an item could have, and it is said`() throws {
        let tags = KeePassTags(String(repeating: "a;", count: 1500))
        #expect(tags.all.count == 1000 && tags.isCut)
        let long = KeePassTags("b, c  d;" + String(repeating: " ", count: 5000) + ";;")
        #expect(long.all == ["b", "c d"] && long.isCut && !KeePassTags("b;c").isCut)
        let read = try KeePassSample.entries(
            "<Entry>\(KeePassSample.string("Title", "t"))<Tags>\(String(repeating: "a;", count: 1500))</Tags></Entry>")
        #expect(read.items[0].tags == ["a"] && read.notes.map(\.text) == ["t: \(KeePassLimitsTests.more)"])
    }

    @Test func `groups hand on as many tags as an item can have`() throws {
        func tags(_ range: Range<Int>) -> String { range.map { "t\($0)" }.joined(separator: ";") }
        let read = try KeePassSample.entries(
            "<Group><Name>a</Name><Tags>\(tags(0..<40))</Tags><Group><Name>b</Name><Tags>\(tags(30..<90))</Tags>"
                + "<Entry>\(KeePassSample.string("Title", "t"))</Entry></Group></Group>")
        #expect(read.items.count == 1 && read.items[0].tags.count == ItemLimits.tags)
        #expect(read.notes.map(\.text) == ["a/b/b: \(KeePassLimitsTests.more)"], "\(read.notes)")
    }

    @Test func `an entry has as many attachments as an item has fields`() throws {
        let binary = "<Binary><Key>k</Key><Value Ref=\"0\"/></Binary>"
        let read = try KeePassSample.entries(
            "<Entry>\(KeePassSample.string("Title", "t"))\(String(repeating: binary, count: 300))</Entry>",
            meta: "<Binaries><Binary ID=\"0\">QUFB</Binary></Binaries>")
        #expect(read.items[0].count(.file) == ItemLimits.fields && read.items[0].attachments.count == 44)
        #expect(
            read.notes.map(\.text) == [
                "t: an attachment that an entry cannot hold, which is a value of its own below it"
            ])
    }

    private func entry(_ layout: String, _ body: String) throws -> Imported {
        try KeePassSample.entries(
            "<Entry>\(KeePassSample.string("Title", "t"))\(body)<CustomData><Item><Key>holdfast.item</Key><Value>kind 1\n"
                + "times 0 0\n\(layout)</Value></Item></CustomData></Entry>")
    }

    @Test func `what cannot be read of us is said`() throws {
        let read = try entry("field 1 string %zz k", KeePassSample.string("k", "v"))
        #expect(read.items[0].text("k") == "v")
        #expect(
            read.notes.map(\.text) == ["t: what Holdfast wrote about it in the file, which cannot be read"])
    }

    @Test func `notes of a group that an entry cannot hold are a value below its note`() throws {
        let long = String(repeating: "n", count: ItemLimits.size)
        let read = try KeePassSample.entries("<Group><Name>g</Name><Notes>\(long)</Notes></Group>")
        #expect(read.items.map(\.name) == ["g/g"] && read.items[0].attachments.count == 1)
        #expect(read.notes.map(\.entry) == ["g/g"])
    }

    @Test func `a file of ours that was replaced by a larger one keeps its name, and nothing else loses room`() throws {
        let large = String(repeating: "QUFB", count: 400_000)
        let read = try entry(
            "field 3 file paper scan.pdf",
            KeePassSample.string("Password", "p") + "<Binary><Key>scan.pdf</Key><Value>\(large)</Value></Binary>")
        #expect(read.items[0].text("password") == "p")
        let file = try #require(read.items[0].attachments.first)
        #expect(file.name == "scan.pdf" && file.content.count == 1_200_000 && file.content.withBytes { $0[0] } == 0x41)
    }

    @Test func `an attachment that was added to a value of its own makes it an entry`() throws {
        func binary(_ name: String) -> String {
            "<Binary><Key>\(name)</Key><Value>\(String(repeating: "QUFB", count: 200_000))</Value></Binary>"
        }
        let read = try entry("record", binary("scan.pdf") + binary("second.bin"))
        #expect(read.items[0].record == nil)
        #expect(read.items[0].count(.file) + read.items[0].attachments.count == 2)
        let damaged = "<Binary><Key>a</Key><Value>!</Value></Binary>"
        let text =
            "<KeePassFile><Root><Group><Entry>\(KeePassSample.string("Title", "t"))\(damaged)<CustomData><Item>"
            + "<Key>holdfast.item</Key><Value>record</Value></Item></CustomData></Entry></Group></Root></KeePassFile>"
        let skipped = try KeePassTree.read(export: secret(text), ImportOptions(skipsFaulty: true))
        #expect(skipped.items.isEmpty && skipped.notes.map(\.entry) == ["t"])
    }

    @Test func `a damaged attachment of an earlier version is a fault of itself alone`() throws {
        let history =
            "<History><Entry>\(KeePassSample.string("Title", "t"))<Binary><Key>f</Key><Value>!</Value></Binary>"
            + "<CustomData><Item><Key>holdfast.earlier</Key><Value>3 file x f</Value></Item></CustomData></Entry></History>"
        let text =
            "<KeePassFile><Root><Group><Entry>\(KeePassSample.string("Title", "t"))\(history)</Entry></Group></Root></KeePassFile>"
        let read = try KeePassTree.read(export: secret(text), ImportOptions(skipsFaulty: true))
        #expect(read.items.map(\.name) == ["t"] && read.notes.map(\.entry) == ["t"])
    }

    @Test func `attachments of one name are taken in their order`() throws {
        let binaries = ["QQ==", "Qg==", "Qw=="].map { "<Binary><Key>k</Key><Value>\($0)</Value></Binary>" }.joined()
        let read = try entry("field 1 content x k\nfield 1 content y k\nfield 1 content z none", binaries)
        #expect(read.items[0].text("x") == "A" && read.items[0].text("y") == "B" && read.items[0].count(.file) == 1)
    }

    @Test func `what KeePass hides is in no open field, whatever the file says of us`() throws {
        let read = try entry(
            "field 1 literal x k\nfield 1 content y f",
            KeePassSample.string("k", "hidden", isProtected: true)
                + "<Binary><Key>f</Key><Value ProtectInMemory=\"True\">QUFB</Value></Binary><History><Entry>"
                + KeePassSample.string("k", "older", isProtected: true)
                + "<CustomData><Item><Key>holdfast.earlier</Key><Value>1 literal x k</Value></Item></CustomData></Entry>"
                + "</History>")
        let item = read.items[0]
        #expect(item.kind("x") == .secret && item.kind("y") == .secret && item.text("x") == "hidden")
        #expect(item.item.history.map(\.kind) == [.secret])
    }

    @Test func `only what we write is ours`() throws {
        let read = try KeePassSample.entries(
            "<Entry>\(KeePassSample.string("Title", "a"))\(KeePassSample.string("holdfast.path", "mine", isProtected: true))"
                + "<CustomData><Item><Key>holdfast.mine</Key><Value>data</Value></Item></CustomData></Entry>"
                + "<Entry>\(KeePassSample.string("Title", "b"))\(KeePassSample.string("holdfast.path", "c"))</Entry>"
                + "<Entry>\(KeePassSample.string("Title", "d"))\(KeePassSample.string("holdfast.path", "d"))</Entry>")
        #expect(read.items[0].text("holdfast.path") == "mine" && read.items[0].text("holdfast.mine") == "data")
        #expect(read.notes.map(\.entry) == ["a", "b"] && read.notes.last?.what.contains("where it was") == true)
        #expect(read.items[2].origin != nil)
    }

    @Test func `a time that cannot be read and a title that is not there are said`() throws {
        let times = "<Times><Expires>True</Expires><ExpiryTime>soon</ExpiryTime></Times>"
        let read = try KeePassSample.entries("<Entry>\(times)</Entry><Group><Name>g</Name>\(times)</Group>")
        #expect(read.notes.map(\.entry) == ["unnamed", "unnamed", "g/g"], "\(read.notes)")
        #expect(read.notes.map(\.what).contains("an entry without a title"))
        #expect(read.notes.count { $0.what.contains("when it expires") } == 2)
    }
}
