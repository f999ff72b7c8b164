import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import Imports

/// Exports that are protected with a password: made with Python's libraries by the formats' descriptions.
@Suite struct ProtectedExportTests {
    static let exports: [String] = [
        #"""
        {"encrypted": true, "passwordProtected": true, "salt": "MDEyMzQ1Njc4OWFiY2RlZg==", "kdfType": 0, "kdfIterations": 1000, "encKeyValidation_DO_NOT_EDIT": "2.AAAAAAAAAAAAAAAAAAAAAA==|oTEsIif3qKMWXVXUtHR0XQ==|ElwDO+c3PFBcuyifN4U5f/H7CAEiGvO/Kweg8gW4+SY=", "data": "2.AAECAwQFBgcICQoLDA0ODw==|zowIGp8O59IeqXGme7BH+Kr4e7fwZQ/6wJV+JcFNAqVhUDNevXsaIqY0Un4t1Uvvc8FBTGo9DCzXoAlyw9FUattlEpA9Qt2yK+9z6xBUZb/pF3x9KetRLVP++hvd+foX|Q9R0l/mUucSO980+4V3/a9uhLCQKAvi4q8pnP3545Tc="}
        """#,
        #"""
        {"encrypted": true, "passwordProtected": true, "salt": "MDEyMzQ1Njc4OWFiY2RlZg==", "kdfType": 1, "kdfIterations": 2, "encKeyValidation_DO_NOT_EDIT": "2.AAAAAAAAAAAAAAAAAAAAAA==|f/c4SR0BNFcJto+gbKfutw==|76tm+CqgGa1Cj/thNzsITmahr3UA3GxVu7xapYwcp3M=", "data": "2.AAECAwQFBgcICQoLDA0ODw==|ssa1yAAJsJNmB1Q54ZAgQ1EeOEiC6SGmVSR+eiaT51q5tww7CfLY7+4b40EewT1j4bY2/Bm5dkaWLBj2WEEbZ4O8PEKdjYdxffBqPL+WwAOA+jRNH2JY2fgq/8UvZfW+|9FNH9VTMRbvUSLa2INPEl/B9o5i+g/JzXGjrdOehUCE=", "kdfMemory": 1, "kdfParallelism": 2}
        """#,
    ]

    static let aegis = #"""
        {"version": 1, "header": {"slots": [{"type": 2, "uuid": "b"}, {"type": 1, "uuid": "a", "key": "7dc902a389becee132e0cfb1dd57d6eaab345e1d1741e24ff578f055b097379a", "key_params": {"nonce": "000000000000000000000000", "tag": "3a5e9eee75ff381c24dfa75cf1e1586f"}, "n": 16, "r": 8, "p": 1, "salt": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}], "params": {"nonce": "000102030405060708090a0b", "tag": "5875a42b0e5befa9381bb19cb841d9da"}}, "db": "5IlOKc8+qIbzMaTopLaokIx5SeJEZqMH/TKycHGYOJDVFPb0D15tvvLzzM00gSclsWLlkUCCDWO2kiKMqxpvhbpwmeVJrzRl5MajxgfGHb/uHnzReeGGqboSJRk1KOySsNVgDJvczC2lqQAwbd35aMWh+sQI3aRz4IHDBLU6FGewk7HN8gpUJZvB3RTEmtOW8MOTrclkHWUH24Q2Alc="}
        """#

    private func bitwarden(_ text: String, _ password: String) throws -> Imported {
        try BitwardenImport.read(secret(text), password: secret(password))
    }

    private func aegis(_ text: String, _ password: String) throws -> Imported {
        try AegisImport.read(secret(text), password: secret(password))
    }

    @Test(arguments: [0, 1])
    func `a protected export of Bitwarden opens with its password only`(_ index: Int) throws {
        let text = ProtectedExportTests.exports[index]
        let read = try bitwarden(text, "p\u{f6}w")
        #expect(read.items.map(\.name) == ["N"] && read.items[0].notes == "hidden")
        #expect(throws: ImportError.self) { _ = try bitwarden(text, "pow") }
        #expect(throws: ImportError.self) { _ = try BitwardenImport.read(secret(text), password: nil) }
        let changed = text.replacing("\"data\": \"2.A", with: "\"data\": \"2.B")
        #expect(changed != text)
        #expect(throws: ImportError.self) { _ = try bitwarden(changed, "p\u{f6}w") }
    }

    @Test func `an encrypted export of Aegis opens with its password only`() throws {
        let read = try aegis(ProtectedExportTests.aegis, "pw")
        #expect(read.items.map(\.name) == ["X/ada"] && read.items[0].has(.oneTimeCode))
        #expect(throws: ImportError.self) { _ = try aegis(ProtectedExportTests.aegis, "px") }
        #expect(throws: ImportError.self) {
            _ = try AegisImport.read(secret(ProtectedExportTests.aegis), password: nil)
        }
    }

    @Test func `costs beyond the limits are refused`() throws {
        for (old, new) in [
            ("\"kdfIterations\": 1000", "\"kdfIterations\": 100000000"), ("\"kdfType\": 0", "\"kdfType\": 9"),
        ] {
            let text = ProtectedExportTests.exports[0].replacing(old, with: new)
            #expect(throws: ImportError.self) { _ = try bitwarden(text, "p\u{f6}w") }
        }
        let text = ProtectedExportTests.aegis.replacing("\"n\": 16", with: "\"n\": 1073741824")
        #expect(throws: ImportError.self) { _ = try aegis(text, "pw") }
    }
}
