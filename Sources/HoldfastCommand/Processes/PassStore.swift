internal import Holdfast
internal import Imports
internal import SecretMemory
internal import SystemCalls

/// The folder of `pass`: each entry is a file that gpg decrypts, with the user's own agent and keys.
enum PassStore {
    private static let deepest = 32

    /// The mark of such a folder: whose keys its entries are for. Without it gpg is given nothing.
    private static let mark = ".gpg-id"

    /// - Throws: A usage error for a folder that is no store, before gpg is looked for.
    static func read(_ root: String) throws(CommandError) -> Imported {
        guard kind(root + "/" + mark) == S_IFREG else {
            throw .usage("\(Escaping.name(root)) is no folder of pass: it has no file \(mark); nothing was imported")
        }
        guard ChildProcess.isInstalled("gpg") else { throw .failure(.program, "gpg is not installed; pass needs it") }
        var imported = Imported()
        let paths = try entries(root, [], 0, &imported)
        guard !paths.isEmpty else {
            throw CommandError(.notFound, code: .noFile, "there is no entry of pass in \(Escaping.name(root))")
        }
        try Progress.show("Decrypting") { progress throws(CommandError) in
            for (done, path) in paths.enumerated() {
                let text = try decrypt(root + "/" + path.joined(separator: "/") + ".gpg")
                do throws(ImportError) { try PassImport.read(path, text, into: &imported) } catch {
                    throw CommandError(error)
                }
                progress.update(done + 1, of: paths.count)
            }
        }
        return imported
    }

    /// What is at a path, by the bits of its mode; nil for nothing. A link is not followed.
    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Paths of the entries without `.gpg`; links are not followed, and noted.
    private static func entries(
        _ root: String, _ path: [String], _ depth: Int, _ imported: inout Imported
    ) throws(CommandError) -> [[String]] {
        guard depth < deepest else { throw .failure(.tooLarge, "the folders are too deep in each other") }
        var found: [[String]] = []
        for name in Folder.names(([root] + path).joined(separator: "/")).sorted() where !name.hasPrefix(".") {
            switch kind(([root] + path + [name]).joined(separator: "/")) {
            case S_IFDIR: found += try entries(root, path + [name], depth + 1, &imported)
            case S_IFLNK: imported.note(.leftOut, "a link, which is not followed", entry: (path + [name]).joined(separator: "/"))
            case S_IFREG where name.hasSuffix(".gpg"): found.append(path + [String(name.dropLast(4))])
            default: continue
            }
            guard found.count <= ImportLimits.items else { throw .failure(.tooLarge, "there are too many entries") }
        }
        return found
    }

    private static func decrypt(_ path: String) throws(CommandError) -> SecretBytes {
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
        guard gpg.wait() == 0 else {
            throw .failure(.program, "gpg cannot decrypt \(Escaping.name(path)); nothing was imported")
        }
        return text
    }
}
