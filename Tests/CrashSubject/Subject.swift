import SystemCalls
import SecretMemory
import VaultCore
import VaultStorage

/// A process to be killed: it works on a vault and acknowledges on standard output what has returned.
///
/// Run by the crash tests only. Exit status: 0 all done, 1 an unexpected error, 2 usage, 3 the test went away.
@main enum Subject {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 3 else { usage() }
        let (home, clock, rest) = (words[1], FileClock(words[2]), Array(words.dropFirst(3)))
        ProcessHardening.apply()
        if setting("HOLDFAST_TEST_LOCKS") == "own" { DatabaseLocks.chooseOwn() }
        if let room = setting("HOLDFAST_TEST_ROOM").flatMap({ Int($0) }) { DatabaseName.chooseRoom(room) }
        do {
            guard try run(words[0], home, clock, rest) else { usage() }
        } catch {
            Report.line("error \(Report.code(of: error)) \(error)")
            exit(1)
        }
        exit(0)
    }

    private static func setting(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    private static func usage() -> Never {
        Report.line("usage: CrashSubject MODE HOME CLOCK [ARGUMENT...]")
        exit(2)
    }

    private static func run(_ mode: String, _ home: String, _ clock: FileClock, _ rest: [String]) throws -> Bool {
        // These read their orders from standard input; the others only watch it end.
        switch mode {
        case "guess":
            try Guesses.onDemand(home, clock, first: number(rest, 0))
            return true
        case "flip":
            try Flips.run(home, clock)
            return true
        case "flip-write":
            try FlippedWrites.run(home, clock)
            return true
        case "hold":
            try Holding.run(home, clock)
            return true
        case "small-map":
            try SmallMap.run(home, clock)
            return true
        case "open-garbage":
            try OpenGarbage.run(home, clock)
            return true
        default: Parent.endWithIt()
        }
        switch mode {
        case "write":
            try Writes.endless(home, clock, seed: UInt64(number(rest, 0)), threads: number(rest, 1))
        case "put": try Writes.puts(home, clock, writer: number(rest, 0), count: number(rest, 1))
        case "attempt": try Guesses.endless(home, clock, first: number(rest, 0))
        case "passcode": try KeyChanges.passcodes(home, clock, from: number(rest, 0))
        case "phrase": try KeyChanges.phrases(home, clock, passcode: number(rest, 0), from: number(rest, 1))
        case "recover": try KeyChanges.recoveries(home, clock, from: number(rest, 0), phrase: number(rest, 1))
        case "rekey": try KeyChanges.rekeys(home, clock, from: number(rest, 0), phrase: number(rest, 1))
        case "move": try Moves.endless(home, clock, from: number(rest, 0))
        case "policy": try PolicyChanges.endless(home, clock, from: number(rest, 0))
        case "log": try LogAppends.endless(home, clock, first: number(rest, 0))
        case "log-some": try LogAppends.some(home, clock, first: number(rest, 0), count: number(rest, 1))
        case "create": Homes.creations(below: home, clock)
        case "backup": try Homes.backups(of: home, clock, below: rest.first ?? "")
        case "script": try Script.run(home, clock)
        case "script-create": Script.create(home, clock)
        case "script-backup": try Script.backup(home, clock, to: rest.first ?? "")
        case "open-script": try OpenWork.script(home, clock)
        case "open-begin": try OpenWork.begin(home, clock)
        case "open-mix": try OpenWork.mix(home, clock, writer: number(rest, 0), count: number(rest, 1))
        case "wipe-limit": try Wipes.reachLimit(home, clock, guess: number(rest, 0))
        case "wipe-owner": try Wipes.byOwner(home, clock)
        case "wipe-start": Wipes.start(home, clock)
        case "toggle": try Wipes.toggle(home, clock)
        case "claim": try Wipes.claim(home, clock)
        case "road": try RoadWrites.script(home)
        case "road-full": try RoadWrites.fill(home)
        case "road-read": try RoadWrites.readOnly(home)
        case "road-watch": try RoadWrites.watch(home)
        case "sync-round": try SyncRounds.round(home, clock)
        case "small-disk": try SmallDisk.run(home, clock)
        case "small-space": try SmallSpace.run(home, clock, megabytes: number(rest, 0))
        default: return false
        }
        return true
    }

    private static func number(_ words: [String], _ index: Int) -> Int {
        guard words.indices.contains(index), let number = Int(words[index]) else { usage() }
        return number
    }
}
