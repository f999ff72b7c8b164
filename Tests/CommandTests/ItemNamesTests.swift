import AgentMessages
import Testing

@testable import HoldfastCommand

/// Which item a text names.
@Suite struct ItemNamesTests {
    private static let all = [
        ("default", "logins/mail"), ("default", "logins/Bank"), ("default", "mailing list"), ("work", "vpn"),
        ("default", "vpn-old"), ("default", "MAIL server"),
    ].map { RecordPath(collection: $0.0, name: $0.1)! }

    private func one(_ text: String, in collection: String? = nil) -> String? {
        guard case .one(let path) = ItemNames.find(text, in: collection, among: ItemNamesTests.all) else { return nil }
        return ItemNames.path(path)
    }

    @Test func `an item is named by its path, its last part or a beginning, in any case`() {
        #expect(one("logins/mail") == "logins/mail" && one("LOGINS/MAIL") == "logins/mail")
        #expect(one("mail") == "logins/mail")  // the whole last part goes before beginnings
        #expect(one("ban") == "logins/Bank" && one("mail s") == "MAIL server")
        #expect(one("vpn") == "work/vpn" && one("work/vpn") == "work/vpn")
        #expect(one("vpn", in: "default") == "vpn-old" && one("mail", in: "work") == nil)
    }

    @Test func `several that are as near are all named, and none is taken`() {
        let found = ItemNames.find("mai", in: nil, among: ItemNamesTests.all)
        guard case .several(let paths) = found else {
            Issue.record("\(found)")
            return
        }
        #expect(paths.map(\.name) == ["logins/mail", "mailing list", "MAIL server"])
        #expect(ItemNames.find("logins/", in: nil, among: ItemNamesTests.all) != .one(ItemNamesTests.all[0]))
    }

    @Test func `a typing error is answered with what is spelled nearly so`() {
        #expect(ItemNames.find("mial", in: nil, among: ItemNamesTests.all) == .none(["logins/mail"]))
        #expect(ItemNames.find("quite different", in: nil, among: ItemNamesTests.all) == .none([]))
        #expect(ItemNames.find("x", in: nil, among: []) == .none([]))
    }
}
