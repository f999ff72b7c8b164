internal import VaultFormat

extension ShareName {
    /// What stores call it that take texts: 64 hexadecimal digits.
    var text: String { Hexadecimal.encode(bytes) }
}
