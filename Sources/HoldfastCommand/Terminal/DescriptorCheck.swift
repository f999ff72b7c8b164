internal import CommandLineArguments
internal import SystemCalls

extension Descriptors {
    /// Checks every descriptor that was named, before any file is opened that could get its number: a phrase must not be
    /// written into the vault's own files because a shell redirection was forgotten.
    /// - Throws: A usage error.
    static func check(_ arguments: Arguments, of command: CommandSyntax) throws(CommandError) {
        for option in command.options where option.kind == .descriptor {
            guard let descriptor = arguments.descriptor(option) else { continue }
            let isWritten = [
                Options.phraseOutDescriptor.option, Options.keyOutDescriptor.option,
                Options.recoveryOutDescriptor.option,
            ].contains(option)
            let flags = fcntl(descriptor, F_GETFL)
            let refused = isWritten ? O_RDONLY : O_WRONLY
            guard flags != -1, flags & O_ACCMODE != refused else {
                let use = isWritten ? "writing" : "reading"
                throw .usage("\(option.spelled) \(descriptor): this descriptor is not open for \(use)")
            }
            guard isWritten || !isTerminal(descriptor) else {
                throw .usage(
                    "\(option.spelled) \(descriptor): this is a terminal and would show what is typed; omit the option"
                )
            }
        }
        guard !arguments[Options.phrase] || arguments[Options.phraseDescriptor] == nil else {
            throw .usage("--phrase asks on the terminal and --phrase-fd does not; use only one of them")
        }
    }
}
