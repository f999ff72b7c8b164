import ProgramProtocols
import TestSupport
import Testing

/// What processes of the bus share: sessions, prompts, threads and room. No number of connections makes a share larger.
@Suite(.seeded) struct SecretServiceShareTests {
    /// - Parameter process: Nil where it is not known.
    private func client(_ process: Int32?, _ connection: Int = 0) -> SecretServiceClient {
        SecretServiceClient(
            "\(process ?? -1).\(connection)", process.map { SecretServiceClient.Process($0, start: 7) })
    }

    @Test(arguments: [1, nil] as [Int32?])
    func `a process with a session over each of its connections ends its own`(greedy: Int32?) {
        var sessions = SecretServiceSessions<Int>()
        let mine = sessions.open(client(2), 0)
        let others = (0..<500).compactMap { sessions.open(client(greedy, $0), 0) }
        let (own, last) = (sessions.key(mine ?? 0, of: "2.0"), sessions.key(others[499], of: client(greedy, 499).name))
        #expect(own != nil && last != nil && others.count == 500)
        // The same number with another start is another process.
        for start in 0..<3 {
            _ = sessions.open(SecretServiceClient("x\(start)", .init(greedy ?? -1, start: UInt64(100 + start))), 0)
        }
        let still = sessions.key(mine ?? 0, of: "2.0")
        #expect(still != nil)
    }

    @Test func `a process has few prompts, and those with the most make room`() {
        var prompts = SecretServicePrompts()
        var number: UInt64 = 0
        func open(_ process: Int32?, _ connection: Int = 0, isShown: Bool = false) -> Bool {
            let client = client(process, connection)
            number += 1
            if let old = prompts.superfluous(for: client, []) { _ = prompts.close(old) }
            guard prompts.open(number, client, []) else { return false }
            return !isShown || prompts.show(number, of: client.name)
        }
        // Four of each of four processes, over as many connections as they like, all of them shown.
        for process in Int32(1)...4 {
            #expect((0..<9).filter { open(process, $0, isShown: true) } == [0, 1, 2, 3])
        }
        let (mine, more) = (open(9, isShown: true), open(9, isShown: true))
        #expect(mine && more)
        #expect(prompts.numbers(isShown: true).count == SecretServicePrompts.most)
        for process in Int32(1)...4 { #expect(prompts.numbers(isShown: true).contains(UInt64(process) * 9 - 8)) }
        // What is not shown goes first.
        prompts.leave("1.0")
        let idle = open(1, 1)
        let idleNumber = number
        let another = open(10)
        #expect(idle && another && prompts[idleNumber] == nil)
    }

    @Test func `so many processes with a shown prompt each keep theirs, and one that is not shown makes room`() {
        var prompts = SecretServicePrompts()
        for process in 0..<Int32(SecretServicePrompts.most) {
            let isOpen = prompts.open(UInt64(process), client(process), [])
            #expect(isOpen && prompts.superfluous(for: client(99), []) == (process == 15 ? 0 : nil))
        }
        for process in 1..<Int32(SecretServicePrompts.most) { _ = prompts.show(UInt64(process), of: "\(process).0") }
        #expect(prompts.superfluous(for: client(99), []) == 0 && prompts.superfluous(for: client(1), []) == nil)
        #expect(prompts.superfluous(for: client(0), []) == 0)
        let isShown = prompts.show(0, of: "0.0")
        #expect(isShown && prompts.superfluous(for: client(99), []) == nil)
    }

    private static let room = 1 << 22

    private func calls() -> SecretServiceCalls { SecretServiceCalls(threads: 2, room: Self.room) }

    @Test func `processes take turns, however many connections and calls each has`() {
        var calls = calls()
        var number: UInt64 = 0
        func begin(_ process: Int32?, _ connection: Int = 0) -> UInt64? {
            number += 1
            return calls.begin(number, client(process, connection)) == [] ? number : nil
        }
        for process in Int32(1)...3 {
            #expect((0..<80).filter { begin(process, $0) != nil }.count == SecretServiceCalls.mostOfProcess)
        }
        let mine = begin(9)
        var turns: [UInt64] = []
        while let (next, _) = calls.next() {
            turns.append(next)
            calls.rest(next)
            calls.finish(next)
        }
        #expect(turns.count == 49 && turns[3] == mine, "the fourth process is the fourth")
        #expect(turns[0..<3].map { ($0 - 1) / 80 } == [0, 1, 2] && turns[4..<7].map { ($0 - 1) / 80 } == [0, 1, 2])
    }

    @Test func `no more than so many threads work, and each call has one at a time`() {
        var calls = calls()
        for number in UInt64(1)...4 { #expect(calls.begin(number, client(1, Int(number))) == []) }
        let (first, second, none) = (calls.next()?.number, calls.next()?.number, calls.next()?.number)
        #expect(first == 1 && second == 2 && none == nil)
        // A client that leaves keeps its thread until that is done, and no other call.
        let left = (calls.leave("1.1"), calls.leave("1.3"))
        #expect(left == ([], [3]))
        let stillNone = calls.next()?.number
        calls.rest(1)
        calls.finish(1)
        let last = calls.next()?.number
        #expect(stillNone == nil && last == 4)
        // The user was asked: it is begun again, once.
        calls.rest(2)
        calls.again(2)
        calls.again(2)
        let (again, notTwice) = (calls.next()?.number, calls.next()?.number)
        #expect(again == 2 && notTwice == nil)
    }

    @Test(arguments: [4, nil] as [Int32?])
    func `where there are too many calls, the process with the most makes room`(last: Int32?) {
        var calls = calls()
        var number: UInt64 = 0
        func begin(_ process: Int32?, _ connection: Int) -> [UInt64]? {
            number += 1
            return calls.begin(number, client(process, connection))
        }
        for process in [1, 2, 3, last] { for connection in 0..<16 { #expect(begin(process, connection) == []) } }
        // The newest of those with 16, and none of the same share.
        let (mine, own) = (begin(9, 0), begin(last, 16))
        #expect(mine?.count == 1 && mine != [1] && own == nil)
        for _ in 0..<8 { #expect(begin(9, 1)?.count == 1) }
        while calls.waiting.count > 0, let (next, _) = calls.next() {
            calls.rest(next)
            calls.finish(next)
        }
        #expect(begin(1, 0) == [])
    }

    @Test func `large secrets get room in their order, and small ones need not wait for that`() {
        var calls = calls()
        for (number, held) in [(1, Self.room), (2, 0), (3, 100_000), (4, Self.room), (5, 80_000)] as [(UInt64, Int)] {
            #expect(calls.begin(number, client(Int32(number)), holding: held) == [])
        }
        let (first, small) = (calls.next(), calls.next())
        #expect(first?.number == 1 && first?.room == Self.room && small?.number == 2 && small?.room == 0)
        calls.rest(2)
        // What a thread found to be large waits behind the others.
        calls.again(2, room: 70_000)
        let none = calls.next()?.number
        #expect(none == nil)
        calls.rest(1)
        calls.finish(1)
        let (third, notTheFifth) = (calls.next()?.number, calls.next()?.number)
        #expect(third == 3 && notTheFifth == nil, "nobody passes the fourth, which needs all")
        calls.rest(3)
        calls.finish(3)
        let (fourth, notYet) = (calls.next()?.number, calls.next()?.number)
        #expect(fourth == 4 && notYet == nil)
        // Its client has left; the room is free when the thread is done.
        #expect(calls.leave("4.0") == [] && calls.next() == nil)
        calls.rest(4)
        calls.finish(4)
        let (fifth, second) = (calls.next()?.number, calls.next())
        #expect(fifth == 5 && second?.number == 2 && second?.room == 70_000)
    }

    @Test func `what waits in messages is limited, and those with the most make room`() {
        var calls = calls()
        var number: UInt64 = 0
        func begin(_ process: Int32, _ held: Int) -> [UInt64]? {
            number += 1
            return calls.begin(number, client(process, Int(number)), holding: held)
        }
        for process in Int32(1)...2 { #expect([begin(process, Self.room), begin(process, Self.room)] == [[], []]) }
        #expect(begin(1, 70_000) == nil, "a process has two at a time")
        #expect(begin(1, 65_536) == [])
        #expect(begin(3, 70_000) == [4])
        #expect(begin(4, Self.room) == [2])
        #expect(begin(5, Self.room) == nil, "nobody has more than this one wants")
    }

    @Test func `whatever comes, everything ends, and nothing is worked for twice at a time`() {
        var random = SeededGenerator()
        for _ in 0..<200 {
            var calls = calls()
            var (open, working): (Set<UInt64>, Set<UInt64>) = ([], [])
            for number in UInt64(1)...300 {
                let process = Int32.random(in: 0...6, using: &random)
                let held = [0, 0, 70_000, Self.room, 2 * Self.room].randomElement(using: &random) ?? 0
                if let ended = calls.begin(number, client(process == 0 ? nil : process), holding: held) {
                    #expect(open.isSuperset(of: ended) && working.isDisjoint(with: ended))
                    open = open.subtracting(ended).union([number])
                }
                if Bool.random(using: &random), let (next, room) = calls.next() {
                    #expect(open.contains(next) && room <= Self.room)
                    #expect(working.insert(next).inserted && working.count <= 2)
                }
                guard Bool.random(using: &random), let done = working.randomElement(using: &random) else { continue }
                working.remove(done)
                calls.rest(done)
                if Bool.random(using: &random) {
                    calls.again(done, room: Int.random(in: 0...(2 * Self.room), using: &random))
                } else {
                    calls.finish(done)
                    open.remove(done)
                }
            }
            while let done = working.popFirst() ?? calls.next()?.number {
                calls.rest(done)
                calls.finish(done)
                open.remove(done)
            }
            #expect(open.isEmpty && calls.waiting.isEmpty)
        }
    }
}
