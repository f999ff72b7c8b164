import BetterAuthMessages
import BetterAuthServer
import BetterAuthVerification
import CommandLineArguments
import Foundation
import TestSupport
import Testing

@testable import HoldfastServer

/// Key chains whose keeper's clock was wrong for a moment.
@Suite struct ChainClockTests {
    private let scratch: ScratchFolder
    private let now = TestClock().now

    init() throws { scratch = try ScratchFolder("chain-clock") }

    private func isVerified(_ chain: KeyChainFolder) throws -> Bool {
        let list = try unsafe KeyEventList(parsing: chain.published.span.bytes)
        return (try? KeyChain(list, identity: chain.identity, window: KeyChain.Window.client, now: now)) != nil
    }

    @Test func `a rotation under a clock that is ahead is told, followed by none, and taken back`() throws {
        let folder = scratch["chain"]
        var chain = try KeyChainFolder.make(folder, .file, now: now.adding(seconds: -60)).chain
        try chain.append(now: now)
        let before = try String(contentsOfFile: folder + "/events", encoding: .utf8)
        #expect(try isVerified(chain) && !chain.isAhead(of: now))
        // Nothing on this machine knows better.
        try chain.append(now: now.adding(seconds: 74 * 31_536_000))
        #expect(try !isVerified(chain) && chain.isAhead(of: now))
        let size = chain.published.count
        for kept in [nil, []] as [Set<PublicKeyText>?] {
            let error = #expect(throws: UsageError.self) { try chain.append(taintingAllBut: kept, now: now) }
            #expect("\(try #require(error))".contains("lies in the future"))
        }
        #expect(chain.published.count == size && chain.events.count == 3)
        // What the error says: the key service has the events from before.
        try before.write(toFile: folder + "/events", atomically: true, encoding: .utf8)
        chain = try KeyChainFolder(folder, .file)
        #expect(chain.events.count == 2)
        try chain.append(now: now.adding(seconds: 1))
        #expect(try isVerified(chain))
    }

    /// Of the keeper, of a server and of the key service.
    @Test func `a key that was published under a clock that was ahead is published anew`() throws {
        let clock = TestClock()
        let scene = try YearKeys(scratch["chain"], rotations: 1, clock: clock)
        defer { scene.close() }
        let keys = try TestServer(clock: clock).server.keys
        let day: Int64 = 86_400
        clock.set(by: 365 * day)
        scene.publication.publish(keys)
        #expect(scene.count == 2 && scene.publication.admitsRotation(of: keys, now: clock.now))
        clock.set(by: -365 * day)
        scene.renew()
        #expect(scene.count == 0)
        scene.publication.publish(keys)
        #expect(scene.count == 2 && scene.publication.admitsRotation(of: keys, now: clock.now))
        // They end when they should.
        clock.advance(seconds: 2 * day)
        scene.renew()
        #expect(scene.count == 0 && scene.problem == nil)
    }

    @Test func `a clock that is ahead by less than verifiers allow hinders nothing`() throws {
        var chain = try KeyChainFolder.make(scratch["chain"], .file, now: now.adding(seconds: 50)).chain
        for _ in 0..<3 { try chain.append(now: now) }
        #expect(try isVerified(chain))
    }

    @Test func `a chain that cannot be verified is told in words`() {
        for flaw in KeyChainError.Flaw.allCases {
            let line = OperatorAdvice.line(for: KeyChainError.broken(sequenceNumber: 3, flaw))
            #expect(line.contains("event 3") && line.contains("; check"), "\(line)")
        }
        #expect(OperatorAdvice.line(for: KeyChainError.broken(sequenceNumber: 3, .time)).contains("clock"))
    }
}
