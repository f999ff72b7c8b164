import Items
import Testing

/// Which entries a part of a name means.
@Suite struct ItemNamesTests {
    private static let all = EntryNames(
        [
            ("default", "logins/mail"), ("default", "logins/Bank"), ("default", "mailing list"), ("work", "vpn"),
            ("default", "vpn-old"), ("default", "MAIL server"), ("Stra\u{DF}e", "haus"),
            ("work", "\u{C4}pfel/gr\u{FC}n"),
        ].map { EntryPath(collection: $0.0, name: $0.1) })

    private func near(_ text: String, _ limit: EntryNames.Nearness = .beginning) -> [String] {
        ItemNamesTests.all.near(text, upTo: limit).map(\.spelled)
    }

    @Test func `an entry is named by its path, its last parts or a beginning, in any case`() {
        #expect(near("LOGINS/MAIL") == ["logins/mail"])
        #expect(near("mail") == ["logins/mail"])  // the whole last part goes before beginnings
        #expect(near("ban") == ["logins/Bank"] && near("mail s") == ["MAIL server"])
        #expect(near("vpn") == ["work/vpn"] && near("work/v") == ["work/vpn"])
        #expect(
            near("\u{E4}PFEL/gr\u{DC}n") == ["work/\u{C4}pfel/gr\u{FC}n"]
                && near("STRA\u{DF}E/h") == ["Stra\u{DF}e/haus"])
        #expect(near("\u{E4}pfel") == ["work/\u{C4}pfel/gr\u{FC}n"])
    }

    @Test func `several that are as near are all named`() {
        #expect(near("mai") == ["logins/mail", "mailing list", "MAIL server"])
        #expect(near("logins/") == ["logins/mail", "logins/Bank"])
    }

    @Test func `how much is enough is a matter of who asks`() {
        #expect(near("mail", .anyCase).isEmpty && near("mail", .lastPart) == ["logins/mail"])
        #expect(near("mai", .lastPart).isEmpty && near("ing", .beginning).isEmpty)
        #expect(near("ing", .middle) == ["mailing list"] && near("zzz", .middle).isEmpty && near("", .middle).isEmpty)
    }
}
