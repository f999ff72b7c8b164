internal import Holdfast

/// Records in sentences. The vault's own errors never name them; here the owner has just typed the name.
enum Naming {
    /// `"name"`, and its collection where it is not the usual one.
    static func record(_ name: String, _ collection: String) -> String {
        let shown = "\"\(Escaping.name(name))\""
        return collection == Options.defaultCollection ? shown : "\(shown) in \"\(Escaping.name(collection))\""
    }

    /// Adds the name to the error that a record is not there.
    static func explain(_ error: CommandError, _ name: String, _ collection: String) -> CommandError {
        guard error.code == VaultError.Code.recordNotFound.description else { return error }
        var error = error
        error.message = "there is no record \(record(name, collection)); holdfast list shows what there is"
        return error
    }
}
