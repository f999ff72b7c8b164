internal import SecretMemory
internal import VaultFormat

#if canImport(COpenSSL) && !canImport(CryptoKit)
internal import ProgramAccess
internal import VaultStorage
#endif

extension ImportedItem {
    /// Adds a private key of SSH and its public one. A key that the agent can offer is stored as OpenSSH writes it; any
    /// other one is kept as it is, and noted.
    /// - Parameter told: The public key as the file has it.
    func addKey(_ text: consuming SecretBytes?, told: String?) throws(ImportError) {
        let told = told ?? ""
        guard let text, text.count > 0 else { return try add(.text, "public key", text: told) }
        #if canImport(COpenSSL) && !canImport(CryptoKit)
        if let line = try addOffered(text) {
            // The comment behind a public key says nothing of it.
            let isSame = told.split(separator: " ").prefix(2).elementsEqual(line.split(separator: " ").prefix(2))
            if !isSame, !told.isEmpty { note(.changed, "an SSH key whose public key belongs to another one") }
            return try add(.text, "public key", text: told.isEmpty ? line : told)
        }
        #endif
        try add(.secret, "private key", text)
        try add(.text, "public key", text: told)
    }

    #if canImport(COpenSSL) && !canImport(CryptoKit)
    /// Adds a private key that the agent can offer, as OpenSSH writes it.
    /// - Returns: Its public key in one line; nil for a text that was noted instead.
    private func addOffered(_ text: borrowing SecretBytes) throws(ImportError) -> String? {
        let read: SSHKeyText
        do throws(VaultError) {
            read = try text.withBytes { text throws(VaultError) in try SSHKeyText(parsing: text) }
        } catch {
            guard error.code == .invalidItem else { throw ImportError(error, place) }
            note(.changed, "an SSH key that the agent does not offer: \(error.reason)")
            return nil
        }
        let line = read.key.line
        switch read.ownForm() {
        case .some(let own):
            try add(.secret, "private key", own)
            note(.changed, "an SSH key in another form than OpenSSH's, which has that form now")
        case .none: try add(.secret, "private key", text)
        }
        return line
    }
    #endif
}
