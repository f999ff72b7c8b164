internal import BetterAuth
internal import BetterAuthMessages
internal import Cryptography
package import Holdfast

extension IdentityModel {
    /// Proves that the user still has the recovery phrase. No server is asked, and how it went is noted: passed, the
    /// next one is due later; failed, soon.
    /// - Parameter words: Those at ``IdentityFacts/Drill/positions``, in this order with a space between them; all of
    ///   them where none are named.
    package func drill(_ words: consuming SecretBytes) async {
        guard running == nil else { return }
        guard !lock.isLocked else { return end(.drill, .locked) }
        running = .drill
        outcome = nil
        let problem = await IdentityModel.drill(words, asked: facts.drill?.positions, derivation, lock.app.vault)
        await load()
        end(.drill, problem)
    }

    @concurrent
    private nonisolated static func drill(
        _ words: consuming SecretBytes, asked: [Int]?, _ derivation: RecoveryDerivation,
        _ vault: Vault
    ) async -> IdentityProblem? {
        let turn: IdentityTurn
        do throws(IdentityProblem) { turn = try await IdentityModel.turn(in: vault) } catch { return error }
        defer { withExtendedLifetime(turn) {} }
        do {
            var credentials = try VaultIdentity.credentials(in: vault)
            guard let account = credentials.account, !account.recoveryHashes.isEmpty else { return .noAccount }
            let spot = credentials.drills.spot
            // Another process may have passed one meanwhile: these words are not what is asked for now.
            guard asked == spot?.positions.map({ Int($0) }) ?? [] else { return .undecided }
            let isPassed: Bool
            if let spot {
                isPassed = try spot.isMet(by: words)
            } else {
                let key = try await recoveryKey(of: words, derivation, vault: vault)
                isPassed = account.recoveryHashes.contains(Derivations.standard.recoveryHash(of: key.publicKey))
            }
            credentials.drills.note(passed: isPassed, .now)
            try VaultIdentity.setDrills(credentials.drills, in: vault)
            vault.log.append(.drill(passed: isPassed))
            return isPassed ? nil : .drillFailed
        } catch let error as IdentityError { return IdentityProblem(error) } catch let problem as IdentityProblem {
            return problem
        } catch { return .wrongPhrase }  // no words of the list: nothing was compared
    }
}
