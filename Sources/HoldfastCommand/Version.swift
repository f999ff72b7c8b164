/// Of the command and the library; the vault's format has a version of its own.
enum Version {
    static let text = "0.1.0"
}
