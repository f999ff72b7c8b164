import BetterAuth
import BetterAuthMessages
import Foundation
import Synchronization
import TestSupport
import Testing

/// Somebody answers in the server's place: with every wrong thing, at every step of a life, before or after the server
/// heard the request, once or for as long as it lasts. Then it goes, and the identity must be usable.
@Suite(.seeded) struct HostileTableTests {
    struct Case: Hashable {
        let step: LifeStep
        let attack: HostileNetwork.Attack
        let memory: World.Memory
    }

    /// Everything in the soak. Else each wrong answer at each step, before and after, with the rest by the seed.
    private static func cases(_ seed: UInt64) -> [Case] {
        var random = SeededGenerator(seed: seed)
        var cases: [Case] = []
        for step in LifeStep.allCases {
            for answer in WrongAnswer.allCases {
                for isProcessed in [false, true] {
                    let whole = [1, 2, 3, 5, .max].flatMap { times in
                        (answer.isOfTheHost ? [true] : [false, true]).flatMap { isEverywhere in
                            World.Memory.allCases.map { memory in
                                Case(
                                    step: step,
                                    attack: HostileNetwork.Attack(
                                        answer: answer, isProcessed: isProcessed, times: times,
                                        isEverywhere: isEverywhere), memory: memory)
                            }
                        }
                    }
                    cases += TestRun.isSoak ? whole : [whole.randomElement(using: &random)!]
                }
            }
        }
        return cases
    }

    @Test func everyWrongAnswerAtEveryStep() async throws {
        let seed = TestRun.seed
        let cases = HostileTableTests.cases(seed)
        print("hostile table: \(cases.count) cases")
        let next = Queue()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    while true {
                        let number = next.take()
                        guard number < cases.count else { return }
                        try await HostileTableTests.play(cases[number], seed &+ UInt64(number))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Numbers, each once.
    private final class Queue: Sendable {
        private let next = Mutex(0)
        func take() -> Int {
            next.withLock { next in
                defer { next += 1 }
                return next
            }
        }
    }

    private static func play(_ scene: Case, _ seed: UInt64) async throws {
        let comment: Comment = "\(scene.step.rawValue), \(scene.memory.rawValue): \(scene.attack); seed \(seed)"
        do {
            let life = try await HostileLife(scene.step, seed: seed, memory: scene.memory)
            life.network.begin(scene.attack, on: scene.step.path)
            for _ in 0..<2 {
                do {
                    try await life.run()
                    break
                } catch { check(error, scene.attack.answer, comment) }
                try life.checkKeys(comment)
                try life.restart()
            }
            try life.checkKeys(comment)
            if !scene.attack.isEverywhere { try await life.checkTheRest(comment) }
            life.network.end()
            if seed % 2 == 0 { try life.restart() }
            try await life.finish(comment)
        } catch { Issue.record(error, comment) }
    }

    /// What the owner is told: typed, and never in the words of whoever answered.
    private static func check(_ error: any Error, _ answer: WrongAnswer, _ comment: Comment) {
        guard let error = error as? IdentityError else {
            Issue.record(error, comment)
            return
        }
        #expect(error.reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "<" }, comment)
        #expect(!error.reason.contains("555"), comment)
    }

    /// A request that is late arrives after all, and before the one that was sent beside it: both go the same way.
    @Test func aLateRequestOvertakesTheOneBesideIt() async throws {
        let life = try await HostileLife(.rotate, seed: 1, memory: .replays)
        life.network.begin(
            HostileNetwork.Attack(answer: .late, isProcessed: false, times: .max, isEverywhere: false),
            on: RotateDevice.path)
        await #expect(throws: IdentityError.self) { try await life.run() }
        life.network.release(before: ChangeRecoveryKey.path)
        #expect(await code { try await life.client.changeRecovery(to: recoveryHash().1) } == .undecided)
        try life.checkKeys("overtaken")
        life.network.end()
        try await life.finish("overtaken")
    }

    /// The one that was found first: a proxy's page in the way of one request, and then nothing worked any more.
    @Test(arguments: [WrongAnswer.page404, .empty200, .dropped])
    func aProxysPageIsNoWedge(_ answer: WrongAnswer) async throws {
        let life = try await HostileLife(.unlink, seed: 1, memory: .replays)
        life.network.begin(
            HostileNetwork.Attack(answer: answer, isProcessed: false, times: .max, isEverywhere: false),
            on: UnlinkDevice.path)
        let error = await #expect(throws: IdentityError.self) { try await life.run() }
        let words = error.map(\.reason) ?? ""
        switch answer {
        case .page404:
            #expect(error?.code == .notTheServer)
            #expect(words.contains("https://auth.example/device/unlink") && words.contains("404"))
            #expect(words.contains("text/html"))
        case .empty200:
            #expect(error?.code == .invalidReply)
            #expect(words.contains("https://auth.example/device/unlink") && words.contains("200"))
        default: #expect(error?.code == .unreachable)
        }
        // The same path stays shut, and everything else works.
        _ = try await life.client.openSession()
        try await life.client.rotate()
        try await life.client.changeRecovery(to: recoveryHash().1)
        #expect(try await life.client.credentials().pending == nil)
    }
}
