internal import Holdfast

/// Records in sentences. The vault's own errors never name them; here the owner has just typed the name.
enum Naming {
    /// `"name"`, and its collection where it is not the usual one.
    static func record(_ name: String, _ collection: String) -> String {
        let shown = "\"\(Escaping.name(name))\""
        return collection == Options.defaultCollection ? shown : "\(shown) in \"\(Escaping.name(collection))\""
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
                error.what = "there is a record \(record(name, collection)) already"
            default: break
            }
            throw error
        }
    }
}
