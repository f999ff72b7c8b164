import AppleScripting
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import DeviceOwner

extension AppleBackends {
    @Suite struct Owner {
        let device = ScriptedDevice.current
        init() { device.reset() }

        /// Every code that LocalAuthentication is documented to have, one that it has on Macs alone, and one from
        /// nowhere.
        static let codes: [(code: Int, came: Came)] = [
            (-1, .refused), (-2, .cancelled), (-3, .cancelled),
            (-4, .impossible(.busy("the system ended the prompt"))),
            (-5, .impossible(.notEnrolled("the device has no passcode"))),
            (-6, .impossible(.missing("the device has no sensor, or this app may not use it"))),
            (-7, .impossible(.notEnrolled("no finger or face is set up on this device"))),
            (-8, .impossible(.lockedOut("too many tries; the device's passcode is needed first"))),
            (-9, .impossible(.busy("the prompt was ended"))),
            (-10, .impossible(.busy("the prompt had ended"))),
            (-11, .impossible(.missing("the system answered -11"))),
            (-1004, .impossible(.busy("nothing can be shown now"))),
            (-12, .impossible(.missing("the system answered something unknown"))),
            (-999, .impossible(.missing("the system answered something unknown"))),
        ]

        @Test(arguments: codes.indices, OwnerStep.allCases)
        func everyCodeHasItsMeaningAndOnlyAuthenticationFailedIsARefusal(_ index: Int, _ step: OwnerStep) throws {
            let (code, came) = Owner.codes[index]
            device.with { $0.answers = [.failure(code)] }
            let keeper = try armedKeeper()
            let outcome = OwnerAuthenticator.standard.confirm(step, keeper: keeper, SilentOwner())
            #expect(Came(outcome) == came)
            // One prompt is one sample, for the sensor only.
            #expect(keeper.nonMatches == (code == -1 && step == .biometrics ? 1 : 0))
            #expect(device.with(\.prompts).map(\.policy) == [step == .biometrics ? 1 : ScriptedDevice.passcodeAlone])
            // An empty title takes the button away.
            #expect(device.with(\.prompts).map(\.fallbackTitle) == [step == .biometrics ? "" : nil])
            #expect(device.with(\.liveContexts) == 0, "a context was left")
        }

        @Test func `a sensor that is there and may not be used was denied, and a passcode is not`() {
            device.with { $0.biometryDenied = true }
            let authenticator = OwnerAuthenticator.standard
            #expect(authenticator.capability(of: .biometrics) == .denied("this app may not use the device's sensor"))
            #expect(authenticator.capability(of: .devicePasscode) == .available)
            device.with { $0.biometryKind = 0 }
            #expect(
                authenticator.capability(of: .biometrics)
                    == .missing("the device has no sensor, or this app may not use it"))
        }

        @Test func anErrorOfAnotherDomainIsNeverARefusal() throws {
            device.with { $0.answers = [.stranger(domain: "NSOSStatusErrorDomain", code: -1)] }
            let outcome = OwnerAuthenticator.standard.confirm(.biometrics, keeper: try armedKeeper(), SilentOwner())
            #expect(Came(outcome) == .impossible(.missing("the system answered something unknown")))
        }

        @Test func aConfirmedOwnerGetsTheShareAndAContextThatEndsWithIt() throws {
            device.with { $0.answers = [.success] }
            let words = OwnerAuthenticator.Words(reason: "Zum Öffnen", cancel: "Abbrechen")
            switch OwnerAuthenticator(words).confirm(.biometrics, keeper: try armedKeeper(), SilentOwner()) {
            case .released(let release):
                #expect(release.secret.revealed() == secondShare)
                #expect(release.step == .biometrics)
                #expect(release.proof != nil && device.with(\.liveContexts) == 1)
            default: Issue.record("not released")
            }
            #expect(device.with(\.prompts) == [.init(policy: 1, reason: "Zum Öffnen", fallbackTitle: "")])
            #expect(device.with(\.liveContexts) == 0, "the context outlives the release")
        }

        @Test func anEmptyReasonIsReplacedBecauseTheSystemRaisesAnException() throws {
            device.with { $0.answers = [.success] }
            let authenticator = OwnerAuthenticator(OwnerAuthenticator.Words(reason: ""))
            #expect(Came(authenticator.confirm(.biometrics, keeper: try armedKeeper(), SilentOwner())) == .released)
        }

        @Test func eachAttemptHasAContextOfItsOwn() throws {
            device.with { $0.answers = [.success, .failure(-1)] }
            let keeper = try armedKeeper()
            #expect(Came(OwnerAuthenticator.standard.confirm(.biometrics, keeper: keeper, SilentOwner())) == .released)
            // A context that was confirmed once would say yes again without asking.
            #expect(Came(OwnerAuthenticator.standard.confirm(.biometrics, keeper: keeper, SilentOwner())) == .refused)
            #expect(device.with(\.prompts).count == 2)
        }

        /// With the prompt's own button for another way.
        private final class Offering: OwnerConversation {
            let cancellation = Cancellation()
            let wished = Cancellation()
            let reason: String? = "To open your notes"
            let offersOther: Bool
            init(_ offersOther: Bool) { self.offersOther = offersOther }
            func show(_ guidance: OwnerGuidance) {}
            func expect(_ finger: OwnerFinger) {}
            func ask(_ prompt: OwnerPrompt) -> SecretBytes? { nil }
            func requestOther() { wished.cancel() }
        }

        @Test(arguments: [true, false])
        func theButtonForAnotherWayIsToldWhereItIsOffered(_ isOffered: Bool) throws {
            device.with { $0.answers = [.failure(-3)] }
            let owner = Offering(isOffered)
            let outcome = OwnerAuthenticator.standard.confirm(.biometrics, keeper: try armedKeeper(), owner)
            #expect(Came(outcome) == .cancelled && owner.wished.isCancelled == isOffered)
            #expect(
                device.with(\.prompts) == [
                    .init(policy: 1, reason: "To open your notes", fallbackTitle: isOffered ? nil : "")
                ])
        }

        @Test func turningAwayEndsThePrompt() async throws {
            device.with { $0.answers = [.waitsForInvalidation] }
            let (keeper, owner) = (try armedKeeper(), SilentOwner())
            async let came = onThread { Came(OwnerAuthenticator.standard.confirm(.biometrics, keeper: keeper, owner)) }
            await until { device.with(\.prompts).count == 1 }
            owner.cancellation.cancel()
            #expect(await came == .cancelled)
            #expect(device.with(\.liveContexts) == 0 && keeper.nonMatches == 0)
        }

        @Test func whoTurnedAwayBeforeIsNotAsked() throws {
            device.with { $0.answers = [.success] }
            let owner = SilentOwner()
            owner.cancellation.cancel()
            let outcome = OwnerAuthenticator.standard.confirm(.biometrics, keeper: try armedKeeper(), owner)
            #expect(Came(outcome) == .cancelled)
            #expect(device.with(\.prompts).isEmpty)
        }

        @Test func patienceEnds() throws {
            device.with { $0.answers = [.waitsForInvalidation] }
            let outcome = OwnerAuthenticator.standard.confirm(
                .biometrics, keeper: try armedKeeper(), patience: 0, SilentOwner())
            #expect(Came(outcome) == .timedOut)
            #expect(device.with(\.liveContexts) == 0)
        }

        @Test func anotherFingerOrFaceEndsTheOwnersWayIn() throws {
            let keeper = try armedKeeper()
            device.with {
                $0.answers = [.success]
                $0.enrollment = Data("enrollment-2".utf8)
            }
            let outcome = OwnerAuthenticator.standard.confirm(.biometrics, keeper: keeper, SilentOwner())
            #expect(Came(outcome) == .expired(.enrollmentChanged))
            #expect(device.with(\.prompts).isEmpty && !keeper.isArmed)
        }

        @Test func anEnrollmentThatCannotBeToldComparesEqualToNothing() throws {
            for state in [nil, Data()] {
                device.reset()
                device.with { $0.enrollment = state }
                #expect(OwnerAuthenticator.standard.enrollment(of: .biometrics) == nil)
                device.with { $0.answers = [.success] }
                let outcome = OwnerAuthenticator.standard.confirm(.biometrics, keeper: try armedKeeper(), SilentOwner())
                #expect(Came(outcome) == .impossible(.missing("it does not answer")))
                #expect(device.with(\.prompts).isEmpty)
            }
        }

        @Test func theDevicesPasscodeNeedsNoFinger() throws {
            device.with {
                $0.biometryEnrolled = false
                $0.answers = [.success]
            }
            #expect(OwnerAuthenticator.standard.capability(of: .devicePasscode) == .available)
            let outcome = OwnerAuthenticator.standard.confirm(.devicePasscode, keeper: try armedKeeper(), SilentOwner())
            #expect(Came(outcome) == .released)
        }

        @Test func whatCanBeAskedIsToldWithoutAsking() {
            let owner = OwnerAuthenticator.standard
            #expect(owner.capability(of: .biometrics) == .available && BiometryKind.current == .faceID)
            device.with { $0.biometryLockedOut = true }
            #expect(
                owner.capability(of: .biometrics)
                    == .lockedOut("too many tries; the device's passcode is needed first"))
            #expect(owner.capability(of: .devicePasscode) == .available)
            device.with { $0.biometryKind = 0 }
            #expect(
                owner.capability(of: .biometrics) == .missing("the device has no sensor, or this app may not use it"))
            #expect(BiometryKind.current == .none)
            device.with { $0.passcodeSet = false }
            for step in OwnerStep.allCases {
                #expect(owner.capability(of: step) == .notEnrolled("the device has no passcode"))
            }
            for (number, kind) in [(1, BiometryKind.touchID), (4, .opticID)] {
                device.with { $0.biometryKind = number }
                #expect(BiometryKind.current == kind)
            }
            #expect(device.with(\.prompts).isEmpty && device.with(\.liveContexts) == 0)
        }
    }
}

/// Runs what blocks in a thread of its own.
func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: body()) }
        thread.start()
    }
}
