/// The parts of a manual page that are made from the table. What else it says is written by hand around them.
extension ProgramTable where Command: TableCommand {
    /// The parts, each between two lines that name it; the page has the same lines.
    package var manual: String {
        let parts = [
            ("commands", sections.map { section($0) }.joined()),
            ("options", Roff.definitions((front?.common ?? []).map { (Roff.option($0), $0.help) })),
            ("exit codes", Roff.definitions(exitCodes.map { (Roff.bold("\($0.0)"), $0.1) })),
        ]
        return parts.map { ".\\\" begin \($0.0)\n\($0.1).\\\" end \($0.0)\n" }.joined()
    }

    private func section(_ section: Section) -> String {
        ".SS \(Roff.escaped(section.title))\n" + section.commands.map { entry($0.syntax) }.joined()
    }

    private func entry(_ command: CommandSyntax) -> String {
        let places = command.places.map { place in
            " \\fI\(Roff.escaped(place.name))\\fR" + (place.isRest ? " ..." : "")
        }
        var text = ".TP\n\(Roff.bold(command.name))\(places.joined())\n"
        text += Roff.lines(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")
        for paragraph in command.details { text += ".IP\n" + Roff.lines(paragraph) }
        let options = command.shownOptions.filter { !(front?.common ?? [Flag.help.option]).contains($0) }
        if !options.isEmpty { text += ".RS\n\(Roff.definitions(options.map { (Roff.option($0), $0.help) })).RE\n" }
        return text + ".IP\nExample:\n.B \(Roff.escaped(command.example))\n"
    }
}

/// The language of manual pages.
private enum Roff {
    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

    static func option(_ option: Option) -> String {
        let letter = option.short.map { bold("-\($0)") + ", " } ?? ""
        return letter + bold(option.spelled) + (option.placeholder.map { " \\fI\(escaped($0))\\fR" } ?? "")
    }

    /// Terms and what they mean.
    static func definitions(_ rows: [(String, String)]) -> String {
        rows.map { ".TP\n\($0.0)\n\(lines($0.1))" }.joined()
    }

    /// A paragraph, with each sentence on a line of its own.
    static func lines(_ text: String) -> String {
        text.split(separator: ". ").enumerated().map { index, sentence in
            let line = escaped(String(sentence))
            return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
        }.joined(separator: ".\n") + "\n"
    }

    static func escaped(_ text: String) -> String {
        text.map { $0 == "\\" ? "\\e" : $0 == "-" ? "\\-" : String($0) }.joined()
    }
}
