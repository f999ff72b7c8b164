import BetterAuthHTTP
import BetterAuthServer
import CommandLineArguments
import Cryptography
import SecretMemory
import Testing

@testable import HoldfastServer

/// What the server tells its operator to do about an error.
@Suite struct OperatorAdviceTests {
    private static let all: [any Error] =
        [
            KeyFile.Failure.missing("keys"), .system("keys", 13), .exposed("keys"), .damaged("keys"), .newer("keys"),
            .full("keys"),
            .unreadable("keys"), .sealed("keys"),
            .plain("keys"),
            .seal("keys", "no TPM"), .cryptography(.invalidSize),
            .cryptography(.memory(.lockedMemoryExhausted(bytes: 1))),
        ] as [KeyFile.Failure] + [
            StoreError.unavailable("no disk"), .missing("x"), .tooOld(0, 2), .tooOld(1, 2), .tooNew(3, 2), .damaged,
            .notCopied("x", "no disk"), .copyInTheWay("x"), .needsBackup(1, 2),
            .full,
        ]
        + [KeyCustody.Problem.lost("keys"), .foreign("keys"), .older("keys")]
        + [HTTPError.notAnAddress("x"), .system("bind", 98), .daemon, .unbound]

    @Test(arguments: OperatorAdviceTests.all.indices)
    func `every error is told with what to do, and that exists`(_ index: Int) throws {
        let error = OperatorAdviceTests.all[index]
        let line = OperatorAdvice.line(for: error)
        #expect(line.hasPrefix("\(error); "))
        let advice = line.dropFirst("\(error); ".count)
        #expect(!advice.isEmpty)
        for part in advice.split(separator: "holdfast-server ", omittingEmptySubsequences: false).dropFirst() {
            let command = String(part.prefix { $0.isLowercase || $0 == "-" })
            #expect(ServerTable.program.command([command]) != nil, "\(command)")
        }
        let known = ServerTable.program.options.map(\.spelled)
        for word in advice.split(whereSeparator: { " ,;".contains($0) }) where word.hasPrefix("--") {
            #expect(known.contains(String(word)), "\(word)")
        }
    }

    @Test func `an unknown error tells its type alone`() {
        struct Strange: Error, CustomStringConvertible { let description = "a secret" }
        let line = OperatorAdvice.line(for: Strange())
        #expect(line.contains("Strange") && !line.contains("a secret"))
    }
}
