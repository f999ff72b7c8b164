import DeviceOwner
import Holdfast
import HoldfastUI
import Synchronization
import TestSupport
import Testing

@testable import HoldfastDoctor
import SystemCalls

@MainActor @Suite(.patient) struct DoctorModelTests {
    /// A machine without any of the optional parts, whatever the one has that runs the tests.
    private func bare(_ home: String) -> DoctorModel {
        DoctorModel(home: home) { request in
            var request = request
            request.places.systemBus = BusAddress("unix:path=/nonexistent/bus")
            request.places.passcodeRules = "/nonexistent"
            request.watch.system = request.places.systemBus
            return Examination.run(request)
        }
    }

    @Test func aLookFindsEveryPartAndWhatToDo() async throws {
        let scratch = try Scratch()
        try scratch.create()
        let doctor = bare(scratch.path)
        #expect(doctor.findings.isEmpty && doctor.looking == nil)
        await doctor.look()
        #expect(doctor.findings.map(\.part) == Finding.Part.allCases)
        #expect(doctor.depth == .quick && doctor.looking == nil)
        let found = Dictionary(uniqueKeysWithValues: doctor.findings.map { ($0.part, $0) })
        #expect(found[.memory]?.state == .good)
        #expect(found[.files]?.state == .good && found[.files]?.assurance == Assurance.none)
        #expect(found[.fingerprint]?.state == .missing && found[.fingerprint]?.assurance == nil)
        #expect(found[.session]?.state == .missing)
        guard case .sessionDeaf(let missing) = found[.session]?.evidence else {
            Issue.record("the session is said to be heard")
            return
        }
        #expect(!missing.isEmpty)
        #expect(doctor.advice.map(\.part).contains(.fingerprint))
    }

    @Test func aDeepLookMakesThingsWork() async throws {
        let scratch = try Scratch()
        try scratch.create()
        let doctor = bare(scratch.path)
        await doctor.look(.deep)
        #expect(doctor.depth == .deep)
        #expect(doctor.findings.first { $0.part == .files }?.evidence == .folderWorks)
    }

    @Test func withoutAVaultThereIsNothingToSayOfOne() async {
        let doctor = bare("/nonexistent/home")
        await doctor.look()
        #expect(doctor.findings.map(\.part) == Finding.Part.allCases.filter { $0 != .vault })
        #expect(doctor.findings.first { $0.part == .files }?.evidence == .noVault)
    }

    /// Each part in turn never answers: it is said to be slow, with what to do, and the others are still told.
    @Test func aPartThatNeverAnswersHoldsUpNothing() async {
        let gate = Gate()
        defer { gate.open() }
        #expect(Examination.patience < 5000)
        let looks = Finding.Part.allCases.flatMap { part in
            [
                Examination.Look(part) {
                    gate.wait()
                    return nil
                },
                Examination.Look(part) { Finding(part, .good, .folderWorks) },
            ]
        }
        let found = await withCheckedContinuation { continuation in
            _ = DetachedThread.start { continuation.resume(returning: Examination.look(at: looks)) }
        }
        #expect(found.map(\.part) == Finding.Part.allCases.flatMap { [$0, $0] })
        for (number, finding) in found.enumerated() {
            #expect(finding.state == (number.isMultiple(of: 2) ? .slow : .good), "\(finding.part)")
            guard finding.state == .slow else { continue }
            #expect(finding.evidence == .silent && finding.assurance == nil)
            #expect(finding.canBeImproved == (finding.part != .memory), "\(finding.part)")
        }
    }

    /// What was found before the lock fell is not shown after it, whenever the answer comes.
    @Test func anAnswerFromBeforeTheLockIsDropped() async throws {
        let scratch = try Scratch()
        try scratch.create()
        let (go, began) = (Gate(), Gate())
        let path = scratch.path
        let doctor = DoctorModel(home: path) { request in
            began.open()
            go.wait()
            return Examination.run(request)
        }
        let look = Task { await doctor.look() }
        await until { began.isOpen }
        #expect(doctor.looking == .quick)
        await doctor.look(.deep)  // while one is under way, none is begun
        #expect(doctor.looking == .quick)
        doctor.drop()
        go.open()
        await look.value
        #expect(doctor.findings.isEmpty && doctor.looking == nil)
        await doctor.look()
        #expect(!doctor.findings.isEmpty)
    }

    @Test func theLockDropsTheFindings() async throws {
        let scratch = try Scratch()
        let models = try await scratch.open()
        await models.doctor.look()
        #expect(!models.doctor.findings.isEmpty)
        models.lock.panic()
        #expect(models.doctor.findings.isEmpty)
    }
}

/// Opened once, waited for by a thread.
private final class Gate: Sendable {
    private let state = Mutex(false)
    var isOpen: Bool { state.withLock { $0 } }
    func open() { state.withLock { $0 = true } }
    func wait() { while !isOpen { usleep(1000) } }
}
