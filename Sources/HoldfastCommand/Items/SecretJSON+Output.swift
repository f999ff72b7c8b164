internal import Imports
internal import SystemCalls

extension SecretJSON {
    /// Writes all of it and a line's end to standard output.
    borrowing func write() throws(CommandError) {
        try withBytes { bytes throws(CommandError) in try Descriptors.write(bytes, to: STDOUT_FILENO) }
        try Output.write("\n")
    }
}
