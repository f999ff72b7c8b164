internal import QRReading
package import SecretMemory
internal import VaultFormat

/// What can be imported.
package enum ImportFormat: String, Sendable, Hashable, CaseIterable {
    case kdbx = "kdbx", keepassXML = "keepass-xml", bitwarden = "bitwarden", onePassword = "1pux"
    case aegis = "aegis", twoFAS = "2fas", oneTimeList = "otpauth", csv = "csv", pass = "pass", holdfast = "holdfast"
    case proton = "proton-pass"
    case keyring = "gnome-keyring"
    case qr = "qr"

    /// Whether it is what a program is asked for, and no file.
    package var isOfProgram: Bool { self == .keyring }

    /// Whether a file of it may be encrypted.
    package var mayHavePassword: Bool { [.kdbx, .bitwarden, .aegis, .twoFAS].contains(self) }

    /// What a file looks like.
    package static func detected(_ bytes: RawSpan) -> ImportFormat? {
        if bytes.byteCount >= 4, [0x03, 0xD9, 0xA2, 0x9A].elementsEqual((0..<4).map { bytes[$0] }) {
            return .kdbx
        }
        if QRReading.isImage(bytes) { return .qr }
        if bytes.begins(with: "PK\u{3}\u{4}") {
            return ProtonImport.isExport(bytes) ? .proton : BitwardenImport.isExport(bytes) ? .bitwarden : .onePassword
        }
        if bytes.begins(with: "-----BEGIN PGP MESSAGE-----") { return .proton }
        var start = bytes.begins(with: "\u{FEFF}") ? 3 : 0
        while start < bytes.byteCount, [9, 10, 13, 32].contains(bytes[start]) { start += 1 }
        guard start < bytes.byteCount else { return nil }
        switch bytes[start] {
        case UInt8(ascii: "<"): return .keepassXML
        case UInt8(ascii: "{") where bytes.contains("\"\(HoldfastImport.format)\""): return .holdfast
        case UInt8(ascii: "{") where bytes.contains("\"vaults\"") && bytes.contains("\"userId\""): return .proton
        case UInt8(ascii: "{") where bytes.contains("\"db\"") && bytes.contains("\"slots\""): return .aegis
        case UInt8(ascii: "{") where bytes.contains("\"services\":") || bytes.contains("\"services\" :"): return .twoFAS
        case UInt8(ascii: "{"): return .bitwarden
        case 0..<32: return nil
        default: return OneTimeListImport.isList(bytes) ? .oneTimeList : .csv
        }
    }

    /// Reads a file of this format. The folder of `pass` is none, whose entries are decrypted one by one
    /// (``PassImport``), and neither is the session's keyring, which is asked.
    /// - Parameters:
    ///   - password: The file's own password; nil until the user was asked for it.
    ///   - keyFile: What is in the key file of a database of KeePass; nil without one.
    /// - Throws: ``ImportError``; `passwordNeeded` for an encrypted file without a password.
    package func read(
        _ bytes: consuming SecretBytes, password: borrowing SecretBytes?, keyFile: borrowing SecretBytes?,
        _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let outer = BulkMemory.begin(isAllowed: true)
        defer { BulkMemory.end(outer) }
        return switch self {
        case .kdbx: try KDBXImport.read(bytes, password: password, keyFile: keyFile, options)
        case .keepassXML: try KeePassTree.read(export: bytes, options)
        case .bitwarden:
            try BitwardenImport.read(bytes, password: password, options)
        case .onePassword: try OnePasswordImport.read(bytes, options)
        case .aegis:
            try AegisImport.read(bytes, password: password, options)
        case .twoFAS: try TwoFASImport.read(bytes, password: password, options)
        case .oneTimeList: try OneTimeListImport.read(bytes, options)
        case .proton: try ProtonImport.read(bytes, options)
        case .holdfast: try HoldfastImport.read(bytes, options)
        case .csv: try TableImport.read(bytes, options)
        case .qr: try QRImport.read(bytes, options)
        case .pass, .keyring: Imported()
        }
    }
}

extension ImportError {
    /// A JSON text of no program that is known.
    static let unknownJSON = ImportError(
        .malformed, "",
        "this JSON text is of no program that is known; known are 2FAS, Aegis, Bitwarden, Holdfast and Proton Pass")
}

extension RawSpan {
    /// Whether a text is among the first bytes.
    fileprivate func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        let end = Swift.min(byteCount, 65_536) - wanted.count
        guard end >= 0 else { return false }
        return (0...end).contains { start in wanted.indices.allSatisfy { self[start + $0] == wanted[$0] } }
    }
}
