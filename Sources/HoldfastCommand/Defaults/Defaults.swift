internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import Items
internal import SystemCalls

/// An option whose value may stand in the user's configuration file, for the command lines that do not name it.
///
/// Nothing of what the vault's protection rests on may stand there: any program of the user can write the file.
struct DefaultSetting {
    let option: Option
    /// What holds without the file, as it is written.
    let standard: String
    /// As the option's own complaint, for what only the command that uses it can tell.
    var complaint: @Sendable (String) -> String? = { _ in nil }
}

/// The user's configuration file, and what may stand in it.
enum Defaults {
    /// Every one, once, in the order in which they are shown. Their names are those of the options.
    static let all: [DefaultSetting] = [
        DefaultSetting(option: Options.kind.option, standard: ItemTemplate.login.word),
        DefaultSetting(option: Options.idle.option, standard: DurationWord.word(Int(AgentSettings.standardIdle))),
        DefaultSetting(option: Options.timeout.option, standard: DurationWord.word(Int(AgentSettings.standardTimeout))),
        DefaultSetting(option: Options.remember.option, standard: "yes"),
        DefaultSetting(option: Options.clearAfter.option, standard: DurationWord.word(Options.clearAfter.fallback)),
        DefaultSetting(option: Options.days.option, standard: "\(Options.days.fallback)"),
        DefaultSetting(option: Options.length.option, standard: "\(Options.length.fallback)"),
        DefaultSetting(option: Options.kinds.option, standard: Generating.allKinds) {
            Generating.kinds($0) == nil ? "must be a list of: \(Generating.allKinds)" : nil
        },
        DefaultSetting(option: Options.separator.option, standard: Generating.separator) {
            $0.utf8.count <= WordRules.longestSeparator ? nil : "has at most \(WordRules.longestSeparator) bytes"
        },
    ]

    static func named(_ name: String) -> DefaultSetting? { all.first { $0.option.name == name } }

    /// An earlier setting, which said where names without a collection were. While it stands in the file, nothing that
    /// takes a name is done: the name would silently mean another place.
    static let retired = Options.collection.option.name

    /// What the file says; nil where it says nothing of it.
    /// - Throws: A usage error with the line that is wrong, a failure for a file that cannot be read.
    static func value(of option: Option) throws(CommandError) -> String? {
        guard let path = try path(), let file = try ConfigurationFile(at: path) else { return nil }
        return file.value(of: option.name)
    }

    /// For a shell's completion.
    static let beginnings = all.map { $0.option.name + "=" }

    /// Bytes of the file, at most.
    static let limit = 65_536

    /// Where the file is: `$XDG_CONFIG_HOME/holdfast/config`, else below the user's `.config` (XDG Base Directory
    /// Specification: a relative `$XDG_CONFIG_HOME` does not count). Nil where there is no home folder.
    static func path() throws(CommandError) -> String? {
        try HomeFolder.configuration().map { $0 + "/holdfast/config" }
    }

    /// The arguments, with what the file says for options of this command that the line does not name. The file is read
    /// where the command has such an option: a mistake in it keeps nobody from locking.
    /// - Throws: A usage error with the file and the line.
    static func completing(
        _ arguments: Arguments, of syntax: CommandSyntax
    ) throws(CommandError) -> Arguments {
        let options = syntax.options
        let takesNames = options.contains(Options.collection.option)
        // Looked at last: most commands have none of them, and most users no file.
        func wanted() -> [DefaultSetting] { all.filter { options.contains($0.option) } }
        guard takesNames || !wanted().isEmpty, let path = try path() else { return arguments }
        let file: ConfigurationFile?
        do throws(CommandError) { file = try ConfigurationFile(at: path) } catch {
            // Nothing of what this command takes stands in it.
            guard wanted().isEmpty else { throw error }
            return arguments
        }
        guard let file else { return arguments }
        if takesNames, let collection = file.value(of: retired) {
            throw .usage(
                "\(Escaping.name(path)) has the setting \(retired), which is gone: a folder is part of the name now, as in "
                    + "\(EntryPath(collection: collection, name: "NAME").text); take it out with holdfast config set \(retired)="
            )
        }
        return arguments.falling(
            back: wanted().compactMap { setting in file.value(of: setting.option.name).map { (setting.option, $0) } })
    }
}
