import TestSupport

@testable import Imports

/// Exports of KeePass without encryption, for tests.
enum KeePassSample {
    /// The entries are in the first group.
    static func entries(_ entries: String, meta: String = "") throws(ImportError) -> Imported {
        try KeePassTree.read(
            export: try! secret(
                "<KeePassFile><Meta>\(meta)</Meta><Root><Group><Name>R</Name>\(entries)</Group></Root></KeePassFile>"))
    }

    static func entry(_ fields: [(String, String)]) throws(ImportError) -> Imported {
        try entries("<Entry>\(fields.map { string($0, $1) }.joined())</Entry>")
    }

    static func string(_ key: String, _ value: String, isProtected: Bool = false) -> String {
        let mark = isProtected ? " ProtectInMemory=\"True\"" : ""
        return "<String><Key>\(key)</Key><Value\(mark)>\(value)</Value></String>"
    }

    /// A whole entry with a number of one digit.
    static func entry(_ number: Int, _ fields: (String, String)...) -> String {
        "<Entry><UUID>\(uuids[number])</UUID>\(fields.map { string($0, $1, isProtected: $0 == "Password") }.joined())</Entry>"
    }

    /// 0 to 9 as 16 bytes, in base 64.
    private static let uuids = ["AA", "AQ", "Ag", "Aw", "BA", "BQ", "Bg", "Bw", "CA", "CQ"].map {
        "AAAAAAAAAAAAAAAAAAAA" + $0 + "=="
    }
}
