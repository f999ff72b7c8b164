import Items
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Whatever KeePass and KeePassXC keep is kept, or said to be lost.
@Suite struct KeePassFidelityTests {
    /// Each element of the format with a text of its own (`M` and a number), but for those that say nothing outside of
    /// KeePass.
    private static let database = """
        <KeePassFile><Meta><Generator>KeePassXC</Generator><HeaderHash/><SettingsChanged>2020-01-02T03:04:05Z</SettingsChanged>
        <DatabaseName>M01</DatabaseName><DatabaseDescription>M02</DatabaseDescription><DefaultUserName>M03</DefaultUserName>
        <Color>#FF0000</Color><MemoryProtection><ProtectNotes>False</ProtectNotes></MemoryProtection>
        <CustomIcons><Icon><UUID>AAAAAAAAAAAAAAAAAAAAAg==</UUID><Data>AA==</Data><Name>icon</Name></Icon></CustomIcons>
        <CustomData><Item><Key>KPXC_RANDOM_SLUG</Key><Value>x</Value></Item><Item><Key>M04</Key><Value>M05</Value></Item></CustomData>
        <RecycleBinEnabled>True</RecycleBinEnabled><RecycleBinUUID>AAAAAAAAAAAAAAAAAAAACQ==</RecycleBinUUID><Novel>M06</Novel>
        <Binaries><Binary ID="0">TTA3</Binary><Binary ID="1" Compressed="True"/></Binaries></Meta><Root><Group>
        <UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>root</Name><Notes>M08</Notes><IconID>48</IconID>
        <Group><Name>Team</Name><Notes>M09</Notes><Tags>M10</Tags><Novel><Inner>M11</Inner></Novel>
        <DefaultAutoTypeSequence>M12</DefaultAutoTypeSequence><EnableAutoType>null</EnableAutoType>
        <Times><Expires>True</Expires><ExpiryTime>2031-12-24T01:02:03Z</ExpiryTime><UsageCount>7</UsageCount></Times>
        <CustomData><Item><Key>M13</Key><Value>M14</Value></Item></CustomData>
        <Entry><UUID>AAAAAAAAAAAAAAAAAAAAAw==</UUID><IconID>1</IconID><CustomIconUUID>AAAAAAAAAAAAAAAAAAAAAg==</CustomIconUUID>
        <ForegroundColor>#010203</ForegroundColor><OverrideURL>cmd://M15</OverrideURL><QualityCheck>False</QualityCheck>
        <Tags>M16;M17</Tags><Times><CreationTime>2020-01-02T03:04:05Z</CreationTime>
        <LastModificationTime>2022-01-02T03:04:05Z</LastModificationTime><LastAccessTime>2023-01-02T03:04:05Z</LastAccessTime>
        <Expires>True</Expires><ExpiryTime>2031-12-25T01:02:03Z</ExpiryTime></Times>
        <AutoType><Enabled>True</Enabled><DefaultSequence>M18</DefaultSequence>
        <Association><Window>M19</Window><KeystrokeSequence>M20</KeystrokeSequence></Association>
        <Association><Window>M21</Window><KeystrokeSequence/></Association></AutoType>
        <String><Key>Title</Key><Value>M22</Value></String><String><Key>UserName</Key><Value>M23</Value></String>
        <String><Key>Password</Key><Value ProtectInMemory="True">M24</Value></String><String><Key>URL</Key><Value>M25</Value></String>
        <String><Key>Notes</Key><Value>M26</Value></String><String><Key>M27</Key><Value/></String>
        <String><Key>Password</Key><Value>M28</Value></String><String><Key>KP2A_URL_1</Key><Value>M29</Value></String>
        <String><Key>KPEX_PASSKEY_USERNAME</Key><Value>M30</Value></String>
        <Binary><Key>M31</Key><Value Ref="0"/></Binary><Binary><Key>M32</Key><Value Ref="1"/></Binary>
        <Binary><Key>M33</Key><Value Ref="7"/></Binary><Binary><Key>M34</Key><Value>TTM1</Value></Binary>
        <CustomData><Item><Key>KeePassXC-Browser Settings</Key><Value>{}</Value></Item>
        <Item><Key>M36</Key><Value>M37</Value></Item></CustomData><Novel>M38</Novel>
        <History><Entry><Times><LastModificationTime>2020-01-02T03:04:05Z</LastModificationTime></Times><Tags>M39;M16;M17</Tags>
        <String><Key>Title</Key><Value>M40</Value></String><String><Key>UserName</Key><Value>M41</Value></String>
        <String><Key>Password</Key><Value ProtectInMemory="True">M42</Value></String><String><Key>URL</Key><Value>M43</Value></String>
        <String><Key>Notes</Key><Value>M44</Value></String><String><Key>M45</Key><Value>M46</Value></String>
        <OverrideURL>M47</OverrideURL><Binary><Key>M48</Key><Value Ref="0"/></Binary><Novel>M49</Novel></Entry></History></Entry>
        </Group><Group><UUID>AAAAAAAAAAAAAAAAAAAACQ==</UUID><Name>Bin</Name><Entry><String><Key>Title</Key><Value>M50</Value></String>
        </Entry></Group></Group><DeletedObjects><DeletedObject><UUID>AAAAAAAAAAAAAAAAAAAACA==</UUID></DeletedObject></DeletedObjects>
        <Novel>M51</Novel></Root></KeePassFile>
        """

    @Test func `every element of the format is in an item or in a note`() throws {
        let read = try KeePassTree.read(export: secret(KeePassFidelityTests.database))
        let markers = (1...51).map { ($0 < 10 ? "M0" : "M") + "\($0)" }
        let lost = read.lost(
            markers,
            noted: [
                "M06": "Novel", "M11": "Novel.Inner", "M33": "attachment that is not in the file", "M38": "Novel",
                "M39": "tags of earlier", "M47": "addresses that stand in", "M48": "attachments of earlier",
                "M49": "History.Novel", "M50": "1 entry in the recycle bin",
            ])
        // A file's names are in no item where the file is not.
        #expect(lost == ["M51"], "\(lost)")
        #expect(read.notes.contains { $0.what.contains("Novel") && $0.entry.isEmpty })
        #expect(read.notes.contains { $0.what.contains("icons") })
        let expiring = read.notes.filter { $0.what.contains("the day is kept") }.map(\.entry)
        #expect(expiring == ["Team/Team", "Team/M22"])
        // No note has a value.
        #expect(read.notes.allSatisfy { $0.what.firstMatch(of: /M[0-9][0-9]/) == nil })
        let item = try #require(read.items.first { $0.name == "Team/M22" })
        #expect(item.item.tags == ["M10", "M16", "M17"] && item.text("expires") == "2031-12-25")
        #expect(item.item.created == 1_577_934_245_000 && item.item.modified == 1_641_092_645_000)
        #expect(item.kind("override URL") == .text && item.kind("auto-type") == .secret)
        #expect(Set(item.item.history.map(\.label)) == ["title", "username", "password", "website", "notes", "M45"])
        // Replaced when the next version was written.
        #expect(item.item.history.allSatisfy { $0.replaced == item.item.modified })
        #expect(item.item.fields.filter { $0.kind == .file }.map(\.label) == ["file", "file 2", "file 3"])
        let kinds = read.items.filter { $0.name != "Team/M22" }.map { ($0.name, $0.item.kind) }
        #expect(kinds.map(\.0) == ["M01", "root", "Team/Team"] && kinds.allSatisfy { $0.1 == .note })
    }

    @Test func `what says nothing outside of KeePass is not said`() throws {
        let read = try KeePassSample.entries(
            "<IconID>1</IconID><IsExpanded>True</IsExpanded><Notes/><Entry><UUID>AA==</UUID><IconID>0</IconID><Tags/>"
                + "<Times><UsageCount>3</UsageCount><LocationChanged>2020-01-02T03:04:05Z</LocationChanged><Expires>False</Expires>"
                + "<ExpiryTime>2020-01-02T03:04:05Z</ExpiryTime></Times><AutoType><Enabled>False</Enabled></AutoType>"
                + KeePassSample.string("Title", "A") + KeePassSample.string("URL", "") + "</Entry>")
        #expect(read.notes.isEmpty && read.items.map(\.name) == ["A"] && read.items[0].item.fields.isEmpty)
    }

    /// keepassxc-cli writes references to files that it leaves out.
    @Test func `an empty attachment is an empty file, and one that is not there is said`() throws {
        let read = try KeePassSample.entries(
            "<Entry>\(KeePassSample.string("Title", "one"))<Binary><Key>e</Key><Value Ref=\"0\"/></Binary></Entry>"
                + "<Entry>\(KeePassSample.string("Title", "two"))<Binary><Key>e</Key><Value Ref=\"5\"/></Binary></Entry>",
            meta: "<Binaries><Binary ID=\"0\" Compressed=\"True\"/></Binaries>")
        #expect(read.items[0].file == [] && !read.items[1].has(.file))
        #expect(read.notes.map(\.text) == ["two: an attachment that is not in the file"])
    }

    @Test func `a damaged attachment is a fault of itself alone`() throws {
        let text =
            "<KeePassFile><Meta><Binaries><Binary ID=\"0\">!</Binary></Binaries></Meta><Root><Group>"
            + "<Entry>\(KeePassSample.string("Title", "one"))<Binary><Key>e</Key><Value Ref=\"0\"/></Binary></Entry>"
            + "<Entry>\(KeePassSample.string("Title", "two"))</Entry></Group></Root></KeePassFile>"
        let error = #expect(throws: ImportError.self) { try KeePassTree.read(export: secret(text)) }
        #expect(error?.entry == "one")
        let read = try KeePassTree.read(export: secret(text), ImportOptions(skipsFaulty: true))
        #expect(read.items.map(\.name) == ["one", "two"])
        #expect(read.notes.map(\.text) == ["one (line 1): a part that cannot be read: a file is not base 64"])
    }

    @Test func `names of groups are parts of a path, whatever they are`() throws {
        let read = try KeePassSample.entries(
            "<Group><Name>..</Name><Group><Name>a/b</Name><Entry>\(KeePassSample.string("Title", ""))<Novel>x</Novel></Entry></Group></Group>"
        )
        #expect(
            read.items.map(\.name) == ["(..)/a b/unnamed"] && read.notes.allSatisfy { $0.entry == "(..)/a b/unnamed" },
            "\(read.notes)")
    }

    @Test func `a line of the file ends in one way`() throws {
        let read = try KeePassSample.entry([("Title", "T"), ("Notes", "one\r\ntwo\rthree&#xD;\nfour")])
        #expect(read.items[0].notes == "one\ntwo\nthree\r\nfour")
    }

    @Test func `an attachment that very many entries have is refused before it fills the memory`() throws {
        let content = String(repeating: "QUFB", count: 250_000)
        let entry = "<Entry><Binary><Key>a</Key><Value Ref=\"0\"/></Binary></Entry>"
        let error = #expect(throws: ImportError.self) {
            try KeePassSample.entries(
                String(repeating: entry, count: 1000),
                meta: "<Binaries><Binary ID=\"0\">\(content)</Binary></Binaries>")
        }
        #expect(error?.kind == .tooLarge)
    }
}
