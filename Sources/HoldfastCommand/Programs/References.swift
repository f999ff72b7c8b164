internal import CommandLineArguments
internal import ProgramProtocols
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

/// The value of a reference, shared by all places where it stands.
final class ReferencedValue: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// Reads the values of references: through the agent while it is unlocked, from the vault otherwise, which is locked
/// again before this returns.
enum References {
    /// Each reference's value; nothing is asked for where there are no references.
    /// - Throws: The error of the first value that cannot be read, with its reference.
    static func values(
        of references: [SecretReference], _ arguments: Arguments
    ) throws(CommandError) -> [SecretReference: ReferencedValue] {
        let references = Array(Set(references)).sorted { $0.text < $1.text }
        guard !references.isEmpty else { return [:] }
        let access = ItemAccess(arguments)
        let found = try access.use { agent, _ in try read(references) { try agent.value(of: $0) } }
        if let found { return found }
        let (items, vault) = try access.open()
        defer { vault.lock(because: .ended) }
        return try read(references) { try items.value(of: $0) }
    }

    private static func read(
        _ references: [SecretReference], _ value: (SecretReference) throws -> SecretBytes
    ) throws(CommandError) -> [SecretReference: ReferencedValue] {
        var values: [SecretReference: ReferencedValue] = [:]
        for reference in references {
            do { values[reference] = ReferencedValue(try value(reference)) } catch {
                var error = CommandError(error)
                if error.code == .tooLarge { error.advice = "holdfast get reads it" }
                if error.code == .recordNotFound {
                    error.advice = "holdfast list shows what there is"
                }
                error.what = "\(reference.text): \(error.what)"
                throw error
            }
        }
        return values
    }

    /// - Throws: A usage error that names the place, for what begins as a reference and is none.
    static func parse(_ bytes: RawSpan, at place: String) throws(CommandError) -> SecretReference {
        do throws(ReferenceError) { return try SecretReference(parsing: bytes) } catch {
            throw .usage("\(place): \(error.words)")
        }
    }
}
