internal import CommandLineArguments
internal import ProgramProtocols
internal import Holdfast
internal import SystemCalls

extension Command {
    static let run = Command(
        "run", synonyms: ["exec", "env", "with"], summary: "run a program with secrets in its environment",
        details: [
            "Variables whose value is a reference, holdfast://COLLECTION/ITEM/FIELD, get the value that it names; without "
                + "/FIELD that is the password of a login or the whole of a plain value. References are taken from the "
                + "environment, from --env-file and from --env, in this order; the last one wins. Everything else of the "
                + "environment stays as it is.",
            "Write -- before the program. It replaces this process, so its exit code and signals are its own, and the "
                + "values exist nowhere else. If it cannot be started the exit code is 127 (not found) or 126.",
            "With --mask the program is a child whose output goes through this process, which writes "
                + "\(Masker.mask) in place of each value and each longer line of one, also without the blanks at their ends. Exit codes and signals are passed "
                + "on; 128 and the number of a signal is the exit code of a program that it ended. The program does not "
                + "write to a terminal then. Values of fewer than \(Masker.shortest) bytes are not masked, nor is a "
                + "value that the program encodes or splits.",
            "Other programs of yours can read the environment of the program while it runs.",
        ],
        example: "holdfast run --env API_KEY=holdfast://api/key -- ./deploy",
        places: [
            Place(name: "PROGRAM", kind: .text, help: "The program, found through $PATH."),
            Place(name: "ARGUMENT", kind: .any, help: "Its arguments.", isRest: true),
        ],
        options: [Options.variable.option, Options.variableFile.option, Options.mask.option] + Options.unlocking,
        run: runProgram)
}

private func runProgram(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let environment = try ChildEnvironment(
        files: arguments[Options.variableFile], settings: arguments[Options.variable])
    let program = arguments[place: 0]
    guard let path = ProgramPath.find(program) else { throw .notStarted(program, ENOENT) }
    let values = try References.values(of: environment.references, arguments)
    try unsafe environment.withVariables(values) { variables throws(CommandError) in
        guard arguments[Options.mask] else {
            let problem = unsafe ProgramStart.replace(path, arguments.places, variables)
            throw .notStarted(program, problem)
        }
        for (reference, value) in values where value.bytes.count < Masker.shortest {
            Output.note("\(reference.text) has fewer than \(Masker.shortest) bytes and is not masked")
        }
        let child = unsafe try MaskedChild(path, arguments.places, variables, Array(values.values))
        ProgramStart.end(with: try child.run())
    }
    return .done
}

extension CommandError {
    /// The exit code is the one that shells and env(1) have for it.
    fileprivate static func notStarted(_ program: String, _ number: Int32) -> CommandError {
        CommandError(
            number == ENOENT ? .noProgram : .programFailed, code: .notStarted,
            "\(Escaping.name(program)) cannot be started: \(SystemError(number))")
    }
}
