import Foundation
import RealParts
import Testing
import VaultFormat

@testable import DeviceOwner

/// PAM with a folder of rules of its own.
@Suite struct DevicePasscodeTests {
    /// A folder with a service file.
    final class Rules {
        let folder = NSTemporaryDirectory() + "holdfast-pam-\(UUID().uuidString.prefix(8))"

        init(_ lines: String) throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try lines.write(toFile: folder + "/holdfast", atomically: true, encoding: .utf8)
        }

        /// Those of an account whose password is "correct".
        init(account: Void) throws { try AccountModule.writeRules(into: folder) }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        var authenticator: OwnerAuthenticator {
            var places = OwnerAuthenticator.Places()
            places.passcodeRules = folder
            places.passcodeUser = "anna"
            return OwnerAuthenticator(places)
        }
    }

    private func typing(_ text: String?) -> PlayedOwner { PlayedOwner(answer: { _ in text.map { Array($0.utf8) } }) }

    @Test(
        .enabled(if: AccountModule.path != nil, "libpam-wrapper is not installed: passcodes of accounts are not tested")
    )
    func theRightPasscodeReleasesTheShareAndNothingElseDoes() throws {
        let rules = try Rules(account: ())
        let authenticator = rules.authenticator
        #expect(authenticator.capability(of: .devicePasscode) == .available)
        let keeper = try armedKeeper()
        let right = typing("correct")
        #expect(authenticator.ask(.devicePasscode, keeper, right) == .released(share))
        #expect(right.asked.contains { if case .hidden = $0 { true } else { false } })
        #expect(authenticator.ask(.devicePasscode, keeper, typing("wrong")) == .refused)
        #expect(authenticator.ask(.devicePasscode, keeper, typing("")) == .refused)
        #expect(authenticator.ask(.devicePasscode, keeper, typing("correct\0")) != .released(share))
        #expect(authenticator.ask(.devicePasscode, keeper, typing(nil)) == .cancelled)
        let turning = PlayedOwner(answer: { _ in Array("correct".utf8) })
        turning.cancellation.cancel()
        #expect(authenticator.ask(.devicePasscode, keeper, turning) == .cancelled)
        #expect(authenticator.ask(.devicePasscode, keeper, patience: 0, typing("correct")) == .timedOut)
        #expect(keeper.nonMatches == 0, "the system counts for itself")
        #expect(authenticator.ask(.devicePasscode, OwnerKeeper(), right) == .expired(.noPasscode))
    }

    @Test func rulesThatSayYesWithoutAQuestionAreBelievedAndOnesThatSayNoAreNoRefusal() throws {
        let yes = try Rules("auth required pam_permit.so\naccount required pam_permit.so\n")
        #expect(yes.authenticator.ask(.devicePasscode, try armedKeeper(), typing(nil)) == .released(share))
        let no = try Rules("auth required pam_deny.so\naccount required pam_permit.so\n")
        let refused = no.authenticator.ask(.devicePasscode, try armedKeeper(), typing("x"))
        #expect(refused == .impossible(.lockedOut("the account takes no passcode now")))
        let expired = try Rules("auth required pam_permit.so\naccount required pam_deny.so\n")
        #expect(expired.authenticator.ask(.devicePasscode, try armedKeeper(), typing("x")) != .released(share))
    }

    @Test func theRealModuleOfAccountsRefusesAWrongPasscode() throws {
        var places = OwnerAuthenticator.Places()
        let rules = try Rules("auth required pam_unix.so nodelay\naccount required pam_unix.so\n")
        places.passcodeRules = rules.folder
        let authenticator = OwnerAuthenticator(places)
        let came = authenticator.ask(.devicePasscode, try armedKeeper(), typing("surely not this one"))
        switch came {
        case .refused, .impossible: break  // an account without a passcode cannot be asked
        default: Issue.record("\(came)")
        }
    }

    @Test func withoutAServiceFileNobodyIsAsked() throws {
        var places = OwnerAuthenticator.Places()
        places.passcodeRules = "/nonexistent"
        let owner = typing("x")
        guard
            case .impossible(.missing(let why)) = OwnerAuthenticator(places).ask(
                .devicePasscode, try armedKeeper(), owner)
        else {
            Issue.record("somebody was asked")
            return
        }
        #expect(why.contains("no service \"holdfast\""))
        #expect(owner.asked.isEmpty)
    }
}
