internal import DeviceOwner
internal import ProgramProtocols
internal import ProgramAccess
internal import Holdfast
internal import HoldfastAgent
package import Imports
internal import SecretMemory
internal import SystemCalls

/// The keyrings of the user's session: the program that has them is asked for each item, over an encrypted session of
/// the Secret Service.
package enum KeyringStore {
    /// Milliseconds that the user has to unlock a keyring.
    private static let patience: UInt64 = 120_000
    /// Bytes of all secrets, and collections.
    private static let mostBytes = ImportLimits.expanded, mostCollections = 64
    /// What `libsecret` calls the kind of an item, and what the shares of vaults are called.
    private static let schema = "xdg:schema", share = "org.holdfast.Share"

    /// - Parameters:
    ///   - address: Of the bus; nil for the one that the environment names.
    ///   - longest: Milliseconds for all that a keyring answers together; each answer and each prompt has a limit of
    ///     its own besides.
    package static func read(at address: String? = nil, longest: UInt64 = 600_000) throws(CommandError) -> Imported {
        let deadline = MonotonicClock.milliseconds + longest
        let keyring = try keyringCall { () throws(KeyringBus.Problem) in
            try KeyringBus(at: address.map(BusAddress.init), until: deadline)
        }
        guard ProcessStat(of: keyring.process)?.name != AgentCommand.processName else {
            throw CommandError(
                .failure, code: .keyring, "the Secret Service of this session is Holdfast itself",
                advice: "give that up with holdfast secrets stop, start the other keyring, and import again")
        }
        let (paths, standard) = try keyringCall { () throws(KeyringBus.Problem) in
            (try keyring.collections(), try keyring.standard())
        }
        guard paths.count <= mostCollections else {
            throw .failure(.tooLarge, "the keyring has more than \(mostCollections) collections; nothing was imported")
        }
        guard let offer = SecretServiceCipher.Offer.make() else {
            throw .failure(.cryptography, "a key for the keyring's session could not be made")
        }
        let session = try keyringCall { () throws(KeyringBus.Problem) in
            try keyring.openSession(SecretServiceCipher.agreed, offer.publicNumber)
        }
        guard let cipher = unsafe offer.agree(with: session.publicNumber.span.bytes) else {
            throw .failure(.keyring, "the keyring's public number is not valid")
        }
        let path = session.path
        var imported = Imported()
        var bytes = 0
        for collection in paths {
            let found = try open(keyring, collection, &imported)
            guard let found else { continue }
            let group = collection == standard ? [] : [found.label]
            try Progress.show("Reading \(Escaping.name(found.label))") { progress throws(CommandError) in
                for (done, item) in found.items.enumerated() {
                    bytes += try read(keyring, item, (path, cipher), group, found.label, into: &imported)
                    guard bytes <= mostBytes else {
                        throw .failure(.tooLarge, "the keyring holds more than can be imported")
                    }
                    progress.update(done + 1, of: found.items.count)
                }
            }
        }
        return imported
    }

    /// A collection, unlocked; nil for one that is left out.
    private static func open(
        _ keyring: KeyringBus, _ path: String, _ imported: inout Imported
    ) throws(CommandError) -> KeyringBus.Collection? {
        let collection = try keyringCall { () throws(KeyringBus.Problem) in try keyring.collection(path) }
        let name = Escaping.name(collection.label.isEmpty ? path : collection.label)
        if path.hasSuffix("/session") {
            if !collection.items.isEmpty { imported.note(.leftOut, "what is kept until the logout only", entry: name) }
            return nil
        }
        guard collection.isLocked else { return collection }
        Output.remark("\(name) is locked; your keyring asks for its password.")
        let isOpen = try keyringCall { () throws(KeyringBus.Problem) in
            try keyring.unlock(path, patience: patience)
        }
        guard isOpen else {
            imported.note(.leftOut, "a keyring that is locked", entry: name)
            return nil
        }
        return try keyringCall { () throws(KeyringBus.Problem) in try keyring.collection(path) }
    }

    /// - Returns: Bytes of the secret.
    private static func read(
        _ keyring: KeyringBus, _ path: String, _ session: (path: String, cipher: SecretServiceCipher),
        _ group: [String], _ collection: String, into imported: inout Imported
    ) throws(CommandError) -> Int {
        let item = try keyringCall { () throws(KeyringBus.Problem) in try keyring.item(path) }
        let place = "\(collection)/\(item.label)"
        func leaveOut(_ why: String) -> Int {
            imported.note(.leftOut, why, entry: Escaping.name(place))
            return 0
        }
        var attributes = SecretServiceAttributes()
        guard let told = item.attributes else { return leaveOut("its attributes are too many or too long") }
        for (name, value) in told {
            if name == schema, value == share { return leaveOut("it is a share of a vault's key") }
            guard attributes.add(Array(name.utf8), Array(value.utf8)) else {
                return leaveOut("its attributes are too many or too long")
            }
        }
        guard !item.isLocked else { return leaveOut("it is locked") }
        let found = try keyringCall { () throws(KeyringBus.Problem) in try secret(keyring, path, session) }
        guard let found else { return leaveOut("its secret cannot be decrypted, or is too large") }
        let draft = SecretServiceStore.Draft(
            label: item.label, attributes: attributes, contentType: found.contentType, replaces: false)
        let created = item.created.flatMap { Int64(exactly: $0) }.flatMap { $0 > 0 && $0 < 1 << 40 ? $0 * 1000 : nil }
        let made = try vaultCall {
            try found.value.withBytes { value throws(VaultError) in
                try SecretServiceStore.item(draft, value, created: created)
            }
        }
        do throws(ImportError) {
            try imported.append(ImportedItem(made, path: group + [item.label], place: place))
        } catch { throw CommandError(error) }
        return found.value.count
    }

    /// Nil for one that is too large, and for one that was not encrypted with the key of the session.
    private static func secret(
        _ keyring: KeyringBus, _ path: String, _ session: (path: String, cipher: SecretServiceCipher)
    ) throws(KeyringBus.Problem) -> SecretServiceSecret? {
        let longest = SecretServiceStore.longestInItem + SecretServiceCipher.padding
        return try keyring.secret(path, session: session.path, atMost: longest) { value, parameters, type in
            try? SecretServiceSecret(size: value.byteCount, contentType: type) { () throws(VaultError) in
                guard let opened = try? session.cipher.open(value, parameters: parameters),
                    opened.count <= SecretServiceStore.longestInItem
                else { throw .tooLargeSecret }
                return opened
            }
        }
    }

    private static func keyringCall<R: ~Copyable>(
        _ body: () throws(KeyringBus.Problem) -> R
    ) throws(CommandError) -> R {
        do throws(KeyringBus.Problem) { return try body() } catch { throw CommandError(error) }
    }
}

extension CommandError {
    fileprivate init(_ problem: KeyringBus.Problem) {
        switch problem {
        case .unavailable(let number):
            self.init(.failure, code: .keyring, "the session bus cannot be used (error \(number))")
        case .noService:
            self.init(.notFound, code: .keyring, "no keyring runs in this session (gnome-keyring)")
        case .slow:
            self.init(.failure, code: .keyring, "the keyring answers too slowly; nothing was imported")
        case .failed(let name):
            self.init(.failure, code: .keyring, "the keyring failed (\(Escaping.name(name))); nothing was imported")
        }
    }
}
