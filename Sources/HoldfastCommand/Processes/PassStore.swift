internal import Holdfast
internal import Imports
internal import SecretMemory
internal import SystemCalls

/// The folder of `pass`: each entry is a file that gpg decrypts, with the user's own agent and keys.
enum PassStore {
    private static let deepest = 32

    static func read(_ root: String) throws(CommandError) -> Imported {
        guard ChildProcess.isInstalled("gpg") else { throw .failure("program", "gpg is not installed; pass needs it") }
        let paths = try entries(root, [], 0)
        guard !paths.isEmpty else {
            throw CommandError(.notFound, code: "noFile", "there is no entry of pass in \(Escaping.name(root))")
        }
        var imported = Imported()
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

    /// Paths of the entries without `.gpg`; links are not followed.
    private static func entries(_ root: String, _ path: [String], _ depth: Int) throws(CommandError) -> [[String]] {
        guard depth < deepest else { throw .failure("tooLarge", "the folders are too deep in each other") }
        var found: [[String]] = []
        for name in Folder.names(([root] + path).joined(separator: "/")).sorted() where !name.hasPrefix(".") {
            var status = stat()
            guard unsafe lstat(([root] + path + [name]).joined(separator: "/"), &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: found += try entries(root, path + [name], depth + 1)
            case S_IFREG where name.hasSuffix(".gpg"): found.append(path + [String(name.dropLast(4))])
            default: continue
            }
            guard found.count <= ImportLimits.items else { throw .failure("tooLarge", "there are too many entries") }
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
            throw .failure("program", "gpg cannot decrypt \(Escaping.name(path)); nothing was imported")
        }
        return text
    }
}
