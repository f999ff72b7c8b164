internal import CommandLineArguments
internal import ProgramProtocols
internal import Holdfast
internal import SystemCalls

extension Command {
    static let inject = Command(
        "inject", synonyms: ["template", "render"], summary: "fill secrets into a template",
        details: [
            "Copies a template and puts values in place of {{ holdfast://COLLECTION/ITEM/FIELD }}. Other text in braces stays "
                + "as it is, and a value is not looked through again. The template comes from standard input or --in and "
                + "has at most 1 MiB, the result 16 MiB; nothing is written unless every value was found.",
            "With --out the result is a file that only you can read. It gets its name when it is complete. Without "
                + "--on-disk, its folder must be in memory (tmpfs), such as $XDG_RUNTIME_DIR or /dev/shm: what was on a "
                + "disk once can be found there later. A value of more than 64 KiB, such as a whole file, is inserted only there.",
        ],
        example: "holdfast inject --in app.conf.tpl --out /run/user/1000/app.conf",
        options: [
            Options.templateIn.option, Options.resultOut.option, Options.onDisk.option, Options.replaceFile.option,
            Options.raw.option,
        ] + Options.unlocking,
        run: injectValues)
}

private func injectValues(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let path = arguments[Options.resultOut]
    for flag in [Options.onDisk, Options.replaceFile] where arguments[flag] && path == nil {
        throw .usage("\(flag.option.spelled) requires --out")
    }
    // Before anything is read or asked for.
    let file = try path.map { path throws(CommandError) in
        try ResultFile(path, allowsDisk: arguments[Options.onDisk], replaces: arguments[Options.replaceFile])
    }
    let text = try readTemplate(arguments[Options.templateIn])
    let template = try text.withBytes { text throws(CommandError) in
        do throws(ProgramProtocolError) { return try Template(parsing: text) } catch {
            throw CommandError.usage("the template cannot be used: \(error.words)")
        }
    }
    var result = InjectedResult(file, isRaw: arguments[Options.raw])
    try References.reading(arguments) { all throws(CommandError) in
        // What was left out of the values is read in pieces where it stands: it can be larger than locked memory.
        let values = try all.values(of: template.references) { (_, error) throws(CommandError) in
            guard file == nil else { return }
            var error = error
            error.advice = "--out writes it into a file"
            throw error
        }
        let known = template.parts.reduce(0) { sum, part in
            switch part {
            case .text(let range): sum + range.count
            case .insertion(let number): sum + (values[template.references[number]]?.bytes.count ?? 0)
            }
        }
        try InjectedResult.check(known)
        for part in template.parts {
            switch part {
            case .text(let range):
                try text.withBytes { text throws(CommandError) in try result.write(text.extracting(range)) }
            case .insertion(let number):
                let reference = template.references[number]
                guard let value = values[reference] else {
                    try all.stream(reference) { bytes throws(CommandError) in try result.write(bytes) }
                    continue
                }
                try value.bytes.withBytes { value throws(CommandError) in try result.write(value) }
            }
        }
    }
    try result.finish()
    return .done
}

/// Where the result is written, and how long it is.
private struct InjectedResult {
    private let file: ResultFile?
    private var shown: ShownValue
    private var size = 0

    init(_ file: ResultFile?, isRaw: Bool) {
        self.file = file
        shown = ShownValue(isRaw: isRaw)
    }

    static func check(_ size: Int) throws(CommandError) {
        guard size <= Template.longestResult else {
            throw .failure(.tooLarge, "the result would have more than \(Template.longestResult >> 20) MiB")
        }
    }

    mutating func write(_ bytes: RawSpan) throws(CommandError) {
        size += bytes.byteCount
        try InjectedResult.check(size)
        if let file { try file.write(bytes) } else { try shown.write(bytes) }
    }

    mutating func finish() throws(CommandError) {
        if let file { try file.finish() } else { try shown.end() }
    }
}

/// All of it: it may hold secrets of its own, so it lies in locked memory.
private func readTemplate(_ path: String?) throws(CommandError) -> SecretBytes {
    var descriptor = STDIN_FILENO
    if let path {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failure(.input, "\(Escaping.name(path)): \(SystemError.last)") }
    } else if Descriptors.isTerminal(STDIN_FILENO) {
        throw .usage("name a template with --in, or pass one on standard input")
    }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var buffer = try secret(Template.longest + 1)
    var size = 0
    while size < buffer.count {
        let got = try buffer.withMutableBytes { bytes throws(CommandError) in
            try bytes.withPart(size..<bytes.byteCount) { part throws(CommandError) in
                try Descriptors.read(descriptor, into: &part)
            }
        }
        if got == 0 { break }
        size += got
    }
    return try buffer.prefix(size)
}
