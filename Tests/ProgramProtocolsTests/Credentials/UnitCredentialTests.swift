import ProgramProtocols
import Testing

/// What a service manager asks for, as its address says.
@Suite struct UnitCredentialTests {
    @Test(arguments: [
        ("\0adf9a3e6f4d5c6b7/unit/web.service/db", "web.service", "db"),
        ("\0" + "0/unit/worker@3.service/tls key", "worker@3.service", "tls key"),
        ("\0f/unit/dev-disk-by\\x2dlabel.swap/k", "dev-disk-by\\x2dlabel.swap", "k"),
        ("\0" + "72293f613c379f0/unit/a:b_c.service/~.-", "a:b_c.service", "~.-"),
    ])
    func `an address of systemd's names unit and credential`(_ address: String, _ unit: String, _ id: String) throws {
        let wanted = try #require(UnitCredential(parsing: Array(address.utf8)))
        #expect(wanted.unit == unit && wanted.id == id && wanted.entry == "\(unit)/\(id)")
        #expect(UnitCredential(entry: wanted.entry) == wanted)
    }

    @Test(arguments: [
        "", "\0", "\0/unit/web.service/db", "0/unit/web.service/db", "/unit/web.service/db",
        "\0\00/unit/web.service/db",
        "\0g/unit/web.service/db", "\0A/unit/web.service/db", "\000000000000000001/unit/web.service/db",
        "\00/units/web.service/db", "\00/web-fido2/db", "\00/unit/web.service", "\00/unit/web.service/", "\00/unit//db",
        "\00/unit/../db", "\00/unit/./db", "\00/unit/web.service/..", "\00/unit/web.service/.",
        "\00/unit/web.service/a/b", "\00/unit/web.service/db/", "\00/unit/web.service/a:b", "\00/unit/web.service/a\n",
        "\00/unit/web.service/ä", "\00/unit/wéb.service/db", "\00/unit/web service/db", "\00/unit/web.service/db\0",
        "\00/unit/web%2Fservice/db",
    ])
    func `every other address names nothing`(_ address: String) {
        #expect(UnitCredential(parsing: Array(address.utf8)) == nil)
    }

    /// One that fills the address may be the beginning of a longer one, and so another entry's name.
    @Test func `an address that may be cut off names nothing`() {
        let whole = "\00/unit/web.service/" + String(repeating: "d", count: 87)
        #expect(whole.utf8.count == UnitCredential.longestAddress)
        #expect(UnitCredential(parsing: Array(whole.utf8)) != nil)
        #expect(UnitCredential(parsing: Array((whole + "d").utf8)) == nil)
    }

    @Test(arguments: ["", "/", "web.service", "web.service/", "/db", "web.service/db/more", "web service/db", "../db"])
    func `an entry with another name is nobody's`(_ name: String) {
        #expect(UnitCredential(entry: name) == nil)
    }
}
