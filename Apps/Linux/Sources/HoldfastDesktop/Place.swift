import CAdw

/// Where the vault and the app's own files are.
struct Place {
    /// The vault's folder.
    let home: String
    /// Whether nobody named another one.
    let isUsual: Bool
    /// Whether the command line names a folder, in place of the one that there is without it.
    let isOther: Bool
    /// Whether it asks for another program, and shows no vault.
    let isAsking: Bool
    /// Where translations lie.
    let translations: String
    /// Where the app's icon lies.
    let icons: String

    static let id = "org.holdfast.Holdfast"

    /// Nil after a word about how to use it.
    init?() {
        var named: String?
        // A program that wants something asked starts it under this name, with options that it knows from other
        // programs.
        var asks = CommandLine.arguments.first?.split(separator: "/").last == "pinentry"
        var arguments = asks ? [] : CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--home":
                guard let path = arguments.popFirst() else {
                    Place.explain()
                    return nil
                }
                named = path
            case "--ask": asks = true
            case "--version":
                print("holdfast-desktop \(Version.text)")
                exit(0)
            default:
                Place.explain()
                return nil
            }
        }
        isOther = named != nil
        named = named ?? Place.variable("HOLDFAST_HOME")
        isUsual = named == nil
        isAsking = asks
        home = named ?? Place.dataFolder + "/holdfast"
        let share = Place.programFolder + "/../share"
        translations = Place.variable("HOLDFAST_LOCALE_DIR") ?? share + "/locale"
        icons = share + "/icons"
    }

    /// Begins the app anew in its process: memory, keys and files of the vault that it shows are gone then.
    /// - Parameter home: The folder of the next vault; nil for the one that there is without a word.
    /// - Returns: Only where that could not be done.
    static func beginAnew(with home: String?) {
        let name = CommandLine.arguments.first ?? "holdfast-desktop"
        let arguments = [name] + (home.map { ["--home", $0] } ?? [])
        var list = arguments.map { strdup($0) } + [nil]
        cadw_begin_anew(&list)
        list.forEach { free($0) }
    }

    private static func explain() {
        let text = Array("usage: holdfast-desktop [--home FOLDER | --ask]\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
    }

    /// `$XDG_DATA_HOME`, or what stands for it (XDG Base Directory Specification).
    private static var dataFolder: String { String(cString: g_get_user_data_dir()) }

    private static var programFolder: String {
        guard let path = g_file_read_link("/proc/self/exe", nil) else { return "/usr/bin" }
        defer { g_free(path) }
        let folder = g_path_get_dirname(path)!
        defer { g_free(folder) }
        return String(cString: folder)
    }

    /// Without the white space around it that copying brings along.
    static func trimmed(_ text: String) -> String {
        let isSpace = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }

    static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

/// Of the app; the vault's format has a version of its own.
enum Version {
    static let text = "0.1.0"
}
