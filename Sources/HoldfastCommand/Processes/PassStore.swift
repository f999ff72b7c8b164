internal import Holdfast
internal import Imports
internal import SecretMemory
internal import SystemCalls

/// The folder of `pass` or gopass: each entry is a file that gpg decrypts, with the user's own agent and keys.
struct PassStore {
    private static let deepest = 32

    /// The mark of such a folder: whose keys its entries are for. Without it gpg is given nothing.
    private static let mark = ".gpg-id"

    private let root: String
    private var imported: Imported
    private var paths: [[String]] = []

    /// - Throws: A usage error for a folder that is no store, before gpg is looked for; an error for an entry that
    ///   cannot be decrypted or read, unless such entries are left out.
    static func read(_ root: String, _ options: ImportOptions) throws(CommandError) -> Imported {
        guard kind(root + "/" + mark) == S_IFREG else {
            throw .usage("\(Escaping.name(root)) is no folder of pass: it has no file \(mark); nothing was imported")
        }
        guard ChildProcess.isInstalled("gpg") else { throw .failure(.program, "gpg is not installed; pass needs it") }
        var store = PassStore(root: root, imported: Imported(options))
        try store.find([])
        guard !store.paths.isEmpty else {
            throw CommandError(.notFound, code: .noFile, "there is no entry of pass in \(Escaping.name(root))")
        }
        try Progress.show("Decrypting") { progress throws(CommandError) in
            for (done, path) in store.paths.enumerated() {
                try store.read(path)
                progress.update(done + 1, of: store.paths.count)
            }
        }
        return store.imported
    }

    private mutating func read(_ path: [String]) throws(CommandError) {
        var text: SecretBytes?
        var fault = "gpg cannot decrypt it"
        do throws(CommandError) { text = try PassStore.decrypt(place(path) + ".gpg") } catch {
            guard error.code == .tooLong else { throw error }
            fault = "it is larger than an entry can be"
        }
        do throws(ImportError) {
            do throws(ImportError) {
                switch text {
                case .some(let text): try PassImport.read(path, text, into: &imported)
                case .none: throw ImportError(.malformed, "", fault)
                }
            } catch { try imported.leaveOut(error, entry: path.joined(separator: "/"), place: "") }
        } catch { throw CommandError(error) }
    }

    /// What is at a path, by the bits of its mode; nil for nothing. A link is not followed.
    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private func place(_ path: [String]) -> String { ([root] + path).joined(separator: "/") }

    /// Finds the entries in a folder and below. Names that begin with a full stop are those programs' own.
    private mutating func find(_ path: [String]) throws(CommandError) {
        guard path.count < PassStore.deepest else {
            throw .failure(.tooLarge, "the folders are too deep in each other")
        }
        let folder = place(path)
        guard unsafe access(folder, R_OK | X_OK) == 0 else {
            throw .failure(.input, "\(Escaping.name(folder)): \(SystemError.last)")
        }
        let content = Folder.content(folder)
        for _ in 0..<content.others {
            imported.note(
                .leftOut, "a file or a folder whose name is not UTF-8", entry: path.joined(separator: "/"))
        }
        for name in content.names.sorted() where !name.hasPrefix(".") {
            let isEntry = name.hasSuffix(".gpg")
            let entry = path + [isEntry ? String(name.dropLast(4)) : name]
            switch PassStore.kind(folder + "/" + name) {
            case S_IFDIR: try find(path + [name])
            case S_IFLNK: noteLink(path + [name], entry)
            case S_IFREG where isEntry: paths.append(entry)
            default: imported.note(.leftOut, "a file that is no entry of pass", entry: entry.joined(separator: "/"))
            }
            guard paths.count <= ImportLimits.items else { throw .failure(.tooLarge, "there are too many entries") }
        }
    }

    /// A link within the store is another name of something that is imported; what is elsewhere is not read.
    private mutating func noteLink(_ path: [String], _ entry: [String]) {
        let store = PassStore.real(root)
        let target = PassStore.real(place(path))
        var shown = ""
        if let store, let target, target.hasPrefix(store + "/") {
            shown = String(target.dropFirst(store.count + 1))
            if shown.hasSuffix(".gpg") { shown.removeLast(4) }
        }
        imported.note(
            .leftOut, shown.isEmpty ? "a link to what is not in the store" : "another name of what is imported",
            entry: entry.joined(separator: "/"), place: Escaping.name(shown))
    }

    /// Where a path leads, all links followed; nil where it leads nowhere.
    private static func real(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(validatingCString: resolved)
    }

    /// - Returns: Nil where gpg fails; it says why itself.
    private static func decrypt(_ path: String) throws(CommandError) -> SecretBytes? {
        let pipe = try Pipe()
        var isOpen = true
        defer {
            close(pipe.reading)
            if isOpen { close(pipe.writing) }
        }
        var gpg = try ChildProcess(
            ["gpg", "--quiet", "--batch", "--yes", "--decrypt", "--", path], output: pipe.writing, errors: STDERR_FILENO
        )
        close(pipe.writing)
        isOpen = false
        let text = try ValueInput.rest(of: pipe.reading)
        guard gpg.wait() == 0 else { return nil }
        return text
    }
}
