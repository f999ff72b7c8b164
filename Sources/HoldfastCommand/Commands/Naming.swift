internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast

/// Names of records in sentences. The vault's own errors never contain them; here the user has just typed the name.
enum Naming {
    /// `"name"`, and its collection if it is not the default one.
    static func record(_ name: String, _ collection: String) -> String {
        let shown = "\"\(Escaping.name(name))\""
        return collection == Options.defaultCollection ? shown : "\(shown) in \"\(Escaping.name(collection))\""
    }

    /// The path of a record, before anything is asked for.
    /// - Throws: `invalidName` for what no record can be called.
    @discardableResult
    static func check(_ name: String, _ collection: String) throws(CommandError) -> RecordPath {
        if let path = RecordPath(collection: collection, name: name) { return path }
        throw .failure("invalidName", "a name has 1 to 1,024 bytes, a collection's name at most 255; nothing was done")
    }

    /// Adds the name to the errors that are about it.
    static func explaining<R>(
        _ name: String, _ collection: String, _ body: () throws(CommandError) -> R
    ) throws(CommandError) -> R {
        do throws(CommandError) { return try body() } catch {
            var error = error
            switch error.code {
            case VaultError.Code.recordNotFound.description:
                error.what = "there is no record \(record(name, collection))"
            case VaultError.Code.recordExists.description:
                error.what = "there is already a record \(record(name, collection))"
            default: break
            }
            throw error
        }
    }
}
