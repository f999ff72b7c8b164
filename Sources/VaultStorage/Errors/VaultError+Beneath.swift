internal import SystemCalls

extension VaultError {
    /// What lies under a name of the home and was not opened, as one of our codes.
    init(opening name: String, _ error: BeneathError) {
        switch error {
        case .notThere: self = .system(ENOENT, "opening \(name)")
        case .link: self = .damaged("\(name) is a link; a file of a vault lies in its own folder")
        case .notRegular: self = .damaged("\(name) is not a regular file")
        case .notFolder: self = .damaged("\(name) does not lie in a folder of its own")
        case .hardLinked: self = .hardLinked(name)
        case .system(let number): self = .system(number, "opening \(name)")
        }
    }

    /// A file that another name elsewhere leads to as well.
    package static func hardLinked(_ name: String) -> VaultError {
        VaultError(
            .hardLinked,
            "\(name) has a second name on this disk (a hard link), through which another program could change it; "
                + "nothing was changed")
    }
}
