import HoldfastAgent
import Testing
import VaultHeader

/// Who waits for the vault, and in whose name the one question is asked.
@Suite struct UnlockBookTests {
    fileprivate static func at(_ seconds: UInt64, boot: UInt8 = 1) -> BootInstant {
        BootInstant(bootID: [boot], milliseconds: seconds * 1000)
    }

    fileprivate static func waiter(
        _ number: UInt64, _ face: UnlockBook.Face = .command, share: Int32? = nil, isExplicit: Bool = false
    ) -> UnlockBook.Waiter {
        UnlockBook.Waiter(number: number, face: face, share: share, isExplicit: isExplicit)
    }

    private func book(_ numbers: UInt64...) -> UnlockBook {
        var book = UnlockBook()
        for number in numbers { #expect(book.join(Self.waiter(number), asks: true, Self.at(0)) == .waits) }
        return book
    }

    @Test func `one question is asked for all, in the name of the first`() {
        var book = book(1, 2, 3)
        #expect(book.next(isUnasked: false) == .ask(1) && book.next(isUnasked: false) == nil)
        #expect(book.join(Self.waiter(4, .ssh), asks: true, Self.at(0)) == .waits)
        #expect(book.next(isUnasked: false) == nil && book.asked == 1)
        book.enter()
        #expect(book.asked == nil && book.next(isUnasked: false) == nil)
        #expect(book.open() == [1, 2, 3, 4] && book.isEmpty)
    }

    @Test func `when the one who is asked for leaves, the next one is asked for`() {
        var book = book(1, 2, 3)
        _ = book.next(isUnasked: false)
        book.leave(2)
        #expect(book.next(isUnasked: false) == nil, "somebody else left")
        book.leave(1)
        #expect(book.asked == nil && book.next(isUnasked: false) == .ask(3))
        book.leave(3)
        #expect(book.isEmpty && book.next(isUnasked: false) == nil)
    }

    @Test func `three wrong answers end it for all, and a new group has three again`() {
        var book = book(1, 2)
        for _ in 0..<2 {
            #expect(book.next(isUnasked: false) == .ask(1))
            book.enter()
            #expect(book.fail().isEmpty)
        }
        #expect(book.next(isUnasked: false) == .ask(1))
        book.enter()
        #expect(book.fail() == [1, 2])
        #expect(book.join(Self.waiter(5), asks: true, Self.at(0)) == .waits, "wrong is not a no")
        _ = book.next(isUnasked: false)
        book.enter()
        #expect(book.fail().isEmpty)
    }

    @Test func `a wrong answer that nobody waits for leaves nothing behind`() {
        var book = book(1)
        _ = book.next(isUnasked: false)
        book.enter()
        book.leave(1)
        #expect(book.fail().isEmpty)
        #expect(book.join(Self.waiter(2), asks: true, Self.at(0)) == .waits)
        for _ in 0..<2 {
            #expect(book.next(isUnasked: false) == .ask(2))
            book.enter()
            #expect(book.fail().isEmpty)
        }
    }

    @Test func `a no stands for a minute, for all but the user's own call`() {
        var book = book(1, 2)
        _ = book.next(isUnasked: false)
        #expect(book.refuse(Self.at(10)) == [1, 2])
        #expect(book.join(Self.waiter(3), asks: true, Self.at(69)) == .refused)
        #expect(book.join(Self.waiter(3), asks: false, Self.at(69)) == .waits, "nobody is asked")
        #expect(book.join(Self.waiter(4, isExplicit: true), asks: true, Self.at(11)) == .waits)
        _ = book.end()
        #expect(book.join(Self.waiter(5), asks: true, Self.at(70)) == .waits)
        _ = book.refuse(Self.at(100))
        #expect(book.join(Self.waiter(6), asks: true, Self.at(101, boot: 2)) == .waits, "the machine was started")
        #expect(book.join(Self.waiter(7), asks: true, Self.at(99)) == .waits, "the clock went backwards")
        _ = book.refuse(Self.at(200))
        _ = book.open()
        #expect(book.join(Self.waiter(8), asks: true, Self.at(201)) == .waits, "the user has opened it")
    }

    @Test func `a no to the call itself stands for calls too`() {
        var book = UnlockBook()
        _ = book.join(Self.waiter(1, isExplicit: true), asks: true, Self.at(0))
        _ = book.join(Self.waiter(2), asks: true, Self.at(0))
        _ = book.next(isUnasked: false)
        #expect(book.refuse(Self.at(10)) == [1, 2])
        #expect(book.join(Self.waiter(3, isExplicit: true), asks: true, Self.at(69)) == .refused)
        #expect(book.join(Self.waiter(4, isExplicit: true), asks: true, Self.at(70)) == .waits)
        _ = book.open()
        #expect(book.join(Self.waiter(5, isExplicit: true), asks: true, Self.at(71)) == .waits)
    }

    @Test func `no face and no session takes all places`() {
        var book = UnlockBook()
        var number: UInt64 = 0
        func join(_ face: UnlockBook.Face, _ share: Int32?) -> UnlockBook.Entry {
            number += 1
            return book.join(Self.waiter(number, face, share: share), asks: true, Self.at(0))
        }
        for _ in 0..<UnlockBook.mostOfShare { #expect(join(.command, 1) == .waits) }
        #expect(join(.command, 1) == .full && join(.ssh, 1) == .full && join(.command, 2) == .waits)
        for share in 3..<1000 as Range<Int32> { _ = join(.command, share) }
        #expect(book.numbers.count == UnlockBook.Face.command.most && join(.command, 2000) == .full)
        for face in [UnlockBook.Face.ssh, .bus] {
            for share in 1000..<2000 as Range<Int32> { _ = join(face, share) }
            #expect(join(face, 3000) == .full)
        }
        #expect(book.numbers.count == UnlockBook.Face.allCases.reduce(0) { $0 + $1.most })
    }

    @Test func `a vault that opens without asking is opened once for all`() {
        var book = book(1, 2)
        #expect(book.next(isUnasked: true) == .open && book.next(isUnasked: true) == nil && book.asked == nil)
        book.leave(1)
        #expect(book.next(isUnasked: true) == nil)
        #expect(book.open() == [2])
    }

    private enum Event: CaseIterable { case join, leave, next, enter, fail, skip, refuse, open, end }

    /// What a book should know, kept in the plainest way.
    private struct Model {
        var book = UnlockBook()
        var waiting: [UInt64] = []
        var asked: UInt64?
        var isChecked = false
        var wrong = 0
        var last: UInt64 = 0

        mutating func leave(_ number: UInt64) {
            book.leave(number)
            waiting.removeAll { $0 == number }
            if asked == number { asked = nil }
            if waiting.isEmpty { wrong = 0 }
        }

        mutating func tell(_ numbers: [UInt64]) {
            #expect(numbers == waiting, "each once, in their order")
            (waiting, asked, isChecked, wrong) = ([], nil, false, 0)
        }

        /// - Returns: False for what cannot happen now.
        mutating func take(_ event: Event) -> Bool {
            switch event {
            case .join:
                last += 1
                #expect(
                    book.join(UnlockBookTests.waiter(last, isExplicit: true), asks: true, UnlockBookTests.at(0))
                        == .waits)
                waiting.append(last)
            case .leave:
                guard let last = waiting.last else { return false }
                leave(last)
            case .next:
                let step = book.next(isUnasked: false)
                let isDue = asked == nil && !isChecked && !waiting.isEmpty
                #expect(step == (isDue ? .ask(waiting[0]) : nil), "nobody waits for nothing")
                guard isDue else { return false }
                asked = waiting[0]
            case .enter:
                guard asked != nil else { return false }
                (asked, isChecked) = (nil, true)
                book.enter()
            case .fail:
                guard isChecked else { return false }
                (isChecked, wrong) = (false, wrong + 1)
                let told = book.fail()
                if wrong == UnlockBook.mostTries || waiting.isEmpty { tell(told) } else { #expect(told.isEmpty) }
            case .skip:
                guard let asked else { return false }
                leave(asked)
            case .refuse:
                guard asked != nil else { return false }
                tell(book.refuse(UnlockBookTests.at(1)))
            case .open: tell(book.open())
            case .end: tell(book.end())
            }
            return true
        }
    }

    /// All events in all orders.
    @Test func `each who waits is told once, and one question stands at most`() {
        var seen = 0
        func explore(_ model: Model, _ depth: Int) {
            seen += 1
            if model.book.numbers != model.waiting || model.book.asked != model.asked {
                Issue.record("\(model)")
                return
            }
            guard depth > 0 else { return }
            for event in Event.allCases {
                var next = model
                if next.take(event) { explore(next, depth - 1) }
            }
        }
        explore(Model(), 7)
        #expect(seen > 10_000)
    }
}
