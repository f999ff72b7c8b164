internal import CommandLineArguments
internal import SystemCalls

/// Where the vault is: `--home`, else `$HOLDFAST_HOME`, else the user's data folder (XDG Base Directory
/// Specification: a relative `$XDG_DATA_HOME` does not count).
enum HomeFolder {
    /// - Throws: A usage error when none of these names a folder.
    static func path(_ arguments: Arguments) throws(CommandError) -> String {
        if let path = arguments[Options.home] { return path }
        if let path = try variable("HOLDFAST_HOME") { return path }
        guard let data = try data() else {
            throw .usage("no home folder was found; name the vault's folder with --home")
        }
        return data + "/holdfast"
    }

    /// The folder of the user's data; nil where there is no home folder.
    static func data() throws(CommandError) -> String? {
        if let data = try variable("XDG_DATA_HOME"), data.hasPrefix("/") { return data }
        return try user().map { $0 + "/.local/share" }
    }

    /// The user's home folder.
    private static func user() throws(CommandError) -> String? {
        if let home = try variable("HOME"), home.hasPrefix("/") { return home }
        guard let entry = unsafe getpwuid(getuid()), let folder = unsafe entry.pointee.pw_dir,
            let home = unsafe String(validatingCString: folder), home.hasPrefix("/")
        else { return nil }
        return home
    }

    /// The folder of the user's settings; nil where there is no home folder.
    static func configuration() throws(CommandError) -> String? {
        if let folder = try variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return folder }
        return try user().map { $0 + "/.config" }
    }

    /// The path from the root folder, for a process that works elsewhere.
    static func absolutePath(_ arguments: Arguments) throws(CommandError) -> String {
        let path = try path(arguments)
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        guard let folder = unsafe String(validatingCString: folder) else {
            throw .usage("the path of the current folder is not valid UTF-8")
        }
        return folder + "/" + path
    }

    /// The user's runtime folder, where the agent's socket belongs; nil where there is none.
    static func runtime() throws(CommandError) -> String? {
        guard let path = try variable("XDG_RUNTIME_DIR"), path.hasPrefix("/") else { return nil }
        return path
    }

    /// Nil when it is not set or empty.
    private static func variable(_ name: String) throws(CommandError) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        guard let text = unsafe String(validatingCString: value) else {
            throw .usage("$\(name) is not valid UTF-8")
        }
        return text
    }
}
