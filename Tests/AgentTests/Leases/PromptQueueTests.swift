import AgentMessages
import HoldfastAgent
import Items
import Testing

/// Which question is asked when.
@Suite struct PromptQueueTests {
    private func add(_ queue: inout PromptQueue, client: UInt64, share: Int32 = 1, _ place: PromptPlace = .dialog)
        -> Bool
    {
        queue.add(
            client: client, share: share, place: place, request: LeaseBookTests.request(),
            question: Question(asker: .program("p"), process: 1, subject: .tag("t"), term: .once, isForwarded: false))
    }

    @Test func `one question at a time at each place, in the order in which they came`() throws {
        var queue = PromptQueue()
        #expect(add(&queue, client: 1) && add(&queue, client: 2) && add(&queue, client: 3, .terminal(5)))
        let next = queue.openNext()
        let first = try #require(next)
        #expect(first.client == 1)
        #expect(queue.openNext()?.client == 3, "another place is free")
        #expect(queue.openNext() == nil)
        #expect(queue.close(first.number) == first)
        #expect(queue.close(first.number) == nil, "an answer counts once")
        #expect(queue.openNext()?.client == 2)
    }

    @Test func `a session fills its own part of the queue and leaves the rest`() {
        var queue = PromptQueue()
        for number in 0..<UInt64(PromptQueue.mostOfSession) { #expect(add(&queue, client: number)) }
        #expect(!add(&queue, client: 9))
        #expect(add(&queue, client: 10, share: 2))
        for share in 3..<1000 as Range<Int32> { _ = add(&queue, client: 11, share: share) }
        #expect(queue.waiting.count == PromptQueue.most)
    }

    @Test func `questions elsewhere leave room for a terminal that has none`() {
        var queue = PromptQueue()
        for number in 1...20 as ClosedRange<UInt32> {
            #expect(add(&queue, client: 1, share: Int32(number), .terminal(number)))
            #expect(queue.openNext()?.place == .terminal(number))
        }
        for share in 100..<1000 as Range<Int32> { _ = add(&queue, client: 2, share: share) }
        #expect(!add(&queue, client: 3, share: 1000, .terminal(1)), "the queue is full")
        #expect(add(&queue, client: 4, share: 1001, .terminal(21)))
        #expect(queue.openNext()?.place == .dialog)
        #expect(queue.openNext()?.client == 4)
    }

    @Test func `sessions that ask again and again at a place leave the others their turn`() throws {
        var queue = PromptQueue()
        for share in 1...3 as ClosedRange<Int32> {
            for _ in 0..<PromptQueue.mostOfSession { #expect(add(&queue, client: UInt64(share), share: share)) }
        }
        var order: [UInt64] = []
        while let prompt = queue.openNext() {
            order.append(prompt.client)
            #expect(queue.close(prompt.number) != nil)
            if order.count == 3 { #expect(add(&queue, client: 9, share: 9)) }
        }
        #expect(order.prefix(7) == [1, 2, 3, 9, 1, 2, 3])
    }

    @Test func `what waits for a client that has gone is never asked`() {
        var queue = PromptQueue()
        #expect(add(&queue, client: 1) && add(&queue, client: 2))
        queue.dropWaiting { $0.client == 1 }
        #expect(queue.openNext()?.client == 2)
        #expect(queue.takeWaiting().isEmpty)
    }

    @Test func `a question shows nothing that a terminal or a dialog would act on`() {
        let name = "a\u{1B}[2Jb\nc\u{202E}d<b>&'\u{0}e" + String(repeating: "x", count: 500)
        let question = Question(
            asker: .program("/tmp/\u{7}p"), process: 7, subject: .item(name), term: .seconds(600), isForwarded: true)
        #expect(question.request.unicodeScalars.allSatisfy { !$0.isUnsafeToShow && $0 != "<" && $0 != "&" })
        #expect(question.request.hasPrefix("A host that the SSH agent was forwarded to, through '/tmp/?p' (process 7)"))
        #expect(question.request.contains("'a?[2Jb?c?d?b????e") && question.request.utf8.count < 500)
        #expect(question.offer == "Allow it for 10 minutes?")
    }
}
