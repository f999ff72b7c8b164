/// Why something beneath a folder was not opened.
package enum BeneathError: Error, Sendable, Hashable {
    /// There is nothing of this name, or not the folder that it would lie in.
    case notThere
    /// It is a symbolic link, or lies behind one.
    case link
    /// It is a pipe, a socket, a device or a folder, in the place of a file.
    case notRegular
    /// It is something else, in the place of a folder.
    case notFolder
    /// The file has another name elsewhere, which could be someone else's file.
    case hardLinked
    /// The system refused, with this `errno`.
    case system(Int32)
}
