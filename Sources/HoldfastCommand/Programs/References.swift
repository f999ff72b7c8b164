internal import CommandLineArguments
internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent
internal import Items
internal import OneTimeCodes
internal import ProgramProtocols
internal import SystemCalls
internal import VaultFormat

/// The value of a reference, shared by all places where it stands.
final class ReferencedValue: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// Reads the values of references: through the agent while it is unlocked, from the vault otherwise.
struct References {
    private let access: ItemAccess

    private init(_ access: ItemAccess) { self.access = access }

    /// Each reference's value; nothing is asked for where there are no references. A vault that was opened for it is
    /// locked again.
    /// - Throws: The error of the first value that cannot be read, with its reference.
    static func values(
        of references: [SecretReference], _ arguments: Arguments
    ) throws(CommandError) -> [SecretReference: ReferencedValue] {
        try reading(arguments) { (all) throws(CommandError) in
            try all.values(of: references) { (_, error) throws(CommandError) in throw error }
        }
    }

    /// Runs what reads values; a vault that was opened for it is locked again.
    static func reading<R>(
        _ arguments: Arguments, _ body: (References) throws(CommandError) -> R
    ) throws(CommandError) -> R {
        let access = ItemAccess(arguments)
        defer { access.end() }
        return try body(References(access))
    }

    /// - Parameter large: Told of what is too large for a message; it throws the error, or takes the value in pieces.
    func values(
        of references: [SecretReference], large: (SecretReference, CommandError) throws(CommandError) -> Void
    ) throws(CommandError) -> [SecretReference: ReferencedValue] {
        var values: [SecretReference: ReferencedValue] = [:]
        for reference in Array(Set(references)).sorted(by: { $0.text < $1.text }) {
            do throws(CommandError) { values[reference] = try value(of: reference) } catch {
                let error = References.named(error, reference)
                guard error.code == .tooLarge else { throw error }
                try large(reference, error)
            }
        }
        return values
    }

    private func value(of reference: SecretReference) throws(CommandError) -> ReferencedValue {
        let found = try access.use { agent, _ in ReferencedValue(try agent.value(of: reference)) }
        let value: ReferencedValue
        if let found {
            value = found
        } else {
            let items = try access.open().store
            value = ReferencedValue(try vaultCall { try items.value(of: reference) })
        }
        return reference.isCode ? ReferencedValue(try References.code(value.bytes)) : value
    }

    /// The code of now. One by counter would be used up by every start of a program.
    private static func code(_ text: borrowing SecretBytes) throws(CommandError) -> SecretBytes {
        do throws(OneTimeCodeError) {
            let code = try OneTimeCode(parsing: text)
            if case .time = code.moment { return try code.code(at: UInt64(max(0, WallClock.milliseconds / 1000))) }
        } catch { throw CommandError(error) }
        throw CommandError(
            .notFound, code: .noOneTimeCode, "a code by counter has no present code",
            advice: "holdfast otp shows the next one")
    }

    /// Lends the value of a reference piece by piece, of any size. After an error the pieces before are genuine, but
    /// not all there is.
    func stream(
        _ reference: SecretReference, _ body: (RawSpan) throws(CommandError) -> Void
    ) throws(CommandError) {
        let named = EntryPath(collection: reference.collection, name: reference.item)
        do throws(CommandError) {
            // As for small values: where no record has this name, another one that is written the same.
            do throws(CommandError) { try stream(reference, at: named, body) } catch {
                guard error.code == .recordNotFound, let other = named.other else { throw error }
                try stream(reference, at: other, body)
            }
        } catch { throw References.named(error, reference) }
    }

    private func stream(
        _ reference: SecretReference, at entry: EntryPath, _ body: (RawSpan) throws(CommandError) -> Void
    ) throws(CommandError) {
        guard let path = entry.record else { throw ItemNames.noSuchPath }
        if reference.field.map({ $0.lowercased() == ItemStore.plainLabel }) ?? true, !reference.isCode {
            do throws(CommandError) { return try access.read(path, body) } catch {
                guard error.code == .isItem else { throw error }
            }
        }
        let item = try access.item(path)
        let part = try vaultCall {
            try item.requireOwn()
            let part = try item.part(reference)
            try item.requireHere(part)
            return part
        }
        try item.withPart(part) { bytes throws(CommandError) in try body(bytes) }
    }

    private static func named(_ error: CommandError, _ reference: SecretReference) -> CommandError {
        var error = error
        switch error.code {
        case .tooLarge: error.advice = "holdfast get reads it"
        case .recordNotFound: error.advice = "holdfast list shows what there is"
        default: break
        }
        error.what = "\(reference.text): \(error.what)"
        return error
    }

    /// - Throws: A usage error that names the place, for what begins as a reference and is none.
    static func parse(_ bytes: RawSpan, at place: String) throws(CommandError) -> SecretReference {
        do throws(ReferenceError) { return try SecretReference(parsing: bytes) } catch {
            throw .usage("\(place): \(error.words)")
        }
    }
}

extension ItemAccess {
    /// Lends a plain value piece by piece, as ``References/stream(_:_:)``.
    /// - Throws: `isItem` for an item.
    func read(_ path: RecordName, _ body: (RawSpan) throws(CommandError) -> Void) throws(CommandError) {
        let isDone: Void? = try use { agent, session in
            try agent.get(path) { bytes in
                session.hasBegun = true
                try body(bytes)
            }
        }
        if isDone != nil { return }
        let vault = try open().vault
        try vaultCall { try vault.read(path.name, in: path.collection) { try body($0) } }
    }
}
