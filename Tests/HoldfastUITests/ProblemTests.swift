import BetterAuth
import Holdfast
import Testing

@testable import HoldfastUI

/// What an error's code comes to on a screen.
@Suite struct ProblemTests {
    /// Codes without a text of their own: the reason is shown, for support.
    private static let others: Set<VaultError.Code.Kind> = [
        .cryptography, .unexpected, .agentUnavailable, .agentRunning, .agentProtocol, .notAllowed,
    ]

    @Test(arguments: VaultError.Code.Kind.allCases)
    func `every code of the vault comes to a problem of its own`(_ code: VaultError.Code.Kind) {
        let problem = VaultProblem(VaultError(VaultError.Code(code), "the reason"))
        #expect((problem == .other(reason: "the reason")) == ProblemTests.others.contains(code))
    }

    @Test func `an unknown error is no lack of memory`() {
        struct Strange: Error {}
        guard case .other(let reason) = VaultProblem(any: Strange()) else {
            Issue.record("it is called something else")
            return
        }
        #expect(reason.contains("Strange"))
        #expect(VaultProblem(any: SecretMemoryError.derivationOutOfMemory) == .outOfMemory)
    }
}
