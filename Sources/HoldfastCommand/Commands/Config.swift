internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

extension Command {
    static let config = Command(
        "config", summary: "show your settings",
        details: [
            "Shows each default that you can set, its value, and whether that comes from your configuration file "
                + "($XDG_CONFIG_HOME/holdfast/config, or ~/.config/holdfast/config). An option on the command line comes "
                + "before it.",
            "The file has NAME = VALUE in each line, with the names of the options; # begins a comment. What protects the "
                + "vault cannot be set there, because every program that you run can write the file.",
            "holdfast config set changes settings.",
        ],
        example: "holdfast config", options: [Options.json.option], run: showConfiguration)

    static let configShow = config.earlier("config", "show", successor: "holdfast config")

    static let configSet = Command(
        "config", "set", synonyms: ["change"], summary: "change your settings",
        details: [
            "Writes settings to your configuration file; its other lines stay as they are. NAME= without a value takes a "
                + "setting out, so that the default holds again. See holdfast config."
        ],
        example: "holdfast config set clear-after=15s length=24",
        places: [
            Place(
                name: "NAME=VALUE", kind: .setting(Defaults.beginnings), help: "A setting and its new value.",
                isRest: true)
        ],
        options: [], run: changeConfiguration)
}

private func showConfiguration(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let path = try Defaults.path()
    let file = try path.map { path throws(CommandError) in try ConfigurationFile(at: path) } ?? nil
    if arguments[Options.json] {
        let settings = Defaults.all.map { setting in
            let own = file?.value(of: setting.option.name)
            return JSON.object([
                "name": .text(setting.option.name), "value": .text(own ?? setting.standard),
                "isDefault": .boolean(own == nil),
            ])
        }
        try Output.write(.object(["path": path.map { .text($0) } ?? .null, "settings": .array(settings)]))
        return .done
    }
    var table = Table(["SETTING", "VALUE", "FROM"])
    for setting in Defaults.all {
        let own = file?.value(of: setting.option.name)
        table.append([
            setting.option.name, Escaping.name(own ?? setting.standard), own == nil ? "default" : "file",
        ])
    }
    try Output.write(table.text)
    if let path { Output.remark(file == nil ? "There is no \(path)." : "The file is \(path).") }
    return .done
}

private func changeConfiguration(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    var changes: [(name: String, value: String?)] = []
    for word in arguments.places {
        guard let sign = word.firstIndex(of: "=") else {
            throw .usage("\(Escaping.name(word)): a setting is NAME=VALUE; holdfast config lists the names")
        }
        let (name, value) = (String(word[..<sign]), String(word[word.index(after: sign)...]))
        guard !changes.contains(where: { $0.name == name }) else { throw .usage("\(Escaping.name(name)) is repeated") }
        guard !value.contains(where: \.isNewline) else { throw .usage("\(name): a value is one line") }
        let isReset = value.isEmpty && (name == Defaults.retired || Defaults.named(name) != nil)
        if !isReset { try ConfigurationFile.check(name, value, at: "config set") }
        changes.append((name, isReset ? nil : value))
    }
    guard !changes.isEmpty else { throw .usage("NAME=VALUE is missing; holdfast config lists the names") }
    guard let path = try Defaults.path() else { throw .usage("no home folder was found for the configuration file") }
    var file = try ConfigurationFile(at: path) ?? ConfigurationFile()
    for change in changes {
        let isQuoted = change.value.map { $0.first == " " || $0.last == " " || $0.hasPrefix("\"") } ?? false
        file.set(change.name, isQuoted ? change.value.map { "\"\($0)\"" } : change.value)
    }
    try ConfigurationFile.write(file, to: path)
    Output.remark("Changed \(Escaping.name(path)). What a vault's own policy says comes before it.")
    return .done
}

extension ConfigurationFile {
    /// In place of the one that is there, whole or not at all; a link stays a link.
    fileprivate static func write(_ file: ConfigurationFile, to path: String) throws(CommandError) {
        let bytes = Array(file.text.utf8)
        guard bytes.count <= Defaults.limit else { throw .failure(.tooLong, "the configuration file is too long") }
        var folder = ""
        for part in Paths.parent(of: path).split(separator: "/") {
            folder += "/" + part
            guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES else {
                throw .failure(.output, "\(Escaping.name(folder)): \(SystemError.last)")
            }
        }
        var target = path
        if let real = unsafe realpath(path, nil) {
            defer { unsafe free(real) }
            target = unsafe String(validatingCString: real) ?? path
        }
        let result = try ResultFile(target, allowsDisk: true, replaces: true)
        try bytes.withRawSpan { bytes throws(CommandError) in try result.write(bytes) }
        try result.finish()
    }
}
