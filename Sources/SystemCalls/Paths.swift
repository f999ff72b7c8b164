/// What a path's text tells.
package enum Paths {
    /// The folder that a file lies in, as a path: "." for a name alone.
    package static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}

/// Gives the file at `temporary` the name `path`, whatever had it before, and returns when the name is on the disk.
package func renameDurably(_ temporary: String, to path: String) throws(SystemError) {
    try uninterrupted { unsafe rename(temporary, path) }
    try OwnedDescriptor(Paths.parent(of: path), O_RDONLY | O_DIRECTORY).synchronize()
}
