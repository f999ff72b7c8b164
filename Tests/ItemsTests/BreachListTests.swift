import Cryptography
import Foundation
import Items
import SecretMemory
import TestSupport
import Testing

/// Lists of breached passwords, well made and hostile ones.
@Suite struct BreachListTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder("breaches") }

    private static func digest(_ password: String) throws -> SecretBytes {
        try secret(password).withBytes { try SHA1.hash(ofSecret: $0) }
    }

    private static func hex(_ password: String) throws -> String {
        try digest(password).revealed().map { String(format: "%02X", $0) }.joined()
    }

    private func write(_ text: String, _ name: String = "list") throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder[name]))
        return folder[name]
    }

    private func ask(_ list: BreachList, _ password: String) throws -> BreachList.Answer {
        try list.find(Self.digest(password))
    }

    private func refusal(_ text: String) throws -> BreachListError? {
        let path = try write(text)
        return thrown(BreachListError.self) { _ = try BreachList(path) }
    }

    /// Lines of passwords `p0`, `p2`, ... of a list.
    private static func lines(_ count: Int, ending: String = "\n") throws -> String {
        try (0..<count).map { "\(try hex("p\(2 * $0)")):\($0 + 1)" }.sorted().map { $0 + ending }.joined()
    }

    @Test(arguments: [1, 2, 64, 100, 5000], ["\n", "\r\n"])
    func `what is in a sorted file is found with its count, and nothing else`(_ count: Int, _ ending: String) throws {
        let list = try BreachList(write(Self.lines(count, ending: ending)))
        for number in stride(from: 0, to: count, by: max(1, count / 300)) {
            #expect(try ask(list, "p\(2 * number)") == .listed(times: UInt64(number + 1)))
            #expect(try ask(list, "p\(2 * number + 1)") == .absent)
        }
    }

    @Test func `the first and the last line are found, also without an end, a count or upper case`() throws {
        let lines = try (0..<500).map { try Self.hex("p\($0)").lowercased() }.sorted()
        let list = try BreachList(write(lines.joined(separator: "\n")))
        for number in 0..<500 { #expect(try ask(list, "p\(number)") == .listed(times: nil)) }
        #expect(try ask(list, "p500") == .absent)
        let zero = String(repeating: "0", count: 40) + ":5\n"
        let most = String(repeating: "F", count: 40) + ":18446744073709551615"
        let ends = try BreachList(write(zero + most))
        #expect(try ends.find(secret([UInt8](repeating: 0, count: 20))) == .listed(times: 5))
        #expect(try ends.find(secret([UInt8](repeating: 255, count: 20))) == .listed(times: .max))
    }

    @Test func `what is no list is refused when it is opened, and the error says why`() throws {
        let (one, two) = (String(repeating: "1", count: 40), String(repeating: "2", count: 40))
        #expect(try refusal("") == .empty)
        #expect(try refusal("hello\n") == .notHex(digits: 40, at: 0))
        #expect(try refusal("\u{FEFF}\(one)\n") == .notHex(digits: 40, at: 0))
        #expect(try refusal("\n\(one)\n") == .notHex(digits: 40, at: 0))
        #expect(try refusal("\(one.dropLast(8))\n") == .notHex(digits: 40, at: 0))
        #expect(try refusal("\(one)\n\(two.dropLast())G:1\n") == .notHex(digits: 40, at: 41))
        #expect(try refusal("\(one):\n") == .noCount(at: 0))
        #expect(try refusal("\(one):-1\n") == .noCount(at: 0))
        #expect(try refusal("\(one) 7\n") == .noCount(at: 0))
        #expect(try refusal("\(one):18446744073709551616\n") == .noCount(at: 0))
        #expect(try refusal("\(one)\(two)\n") == .longLine(at: 0))
        #expect(try refusal("\(one):\(String(repeating: "1", count: 100_000))") == .longLine(at: 0))
        #expect(try refusal(String(repeating: "a", count: 100_000)) == .longLine(at: 0))
        #expect(try refusal(String(repeating: "z", count: 100_000)) == .notHex(digits: 40, at: 0))
        #expect(try refusal("\(two)\n\(one)\n") == .notSorted(at: 41))
        for error in [BreachListError.empty, .notSorted(at: 41), .noCount(at: nil), .notRegular] {
            #expect(!"\(error)".isEmpty)
        }
    }

    @Test func `a file in another order is refused, also where its beginning is right`() throws {
        let lines = try Self.lines(4000).split(separator: "\n").map(String.init)
        let late = lines[..<200] + lines[200...].reversed()
        guard case .notSorted(let place?) = try refusal(late.joined(separator: "\n") + "\n") else {
            Issue.record("it was taken")
            return
        }
        #expect(place > 200 * 40)
    }

    @Test func `what is wrong only inside never answers wrongly, and no error says where it was`() throws {
        var lines = try Self.lines(4000).split(separator: "\n").map(String.init)
        let sought = try Self.hex("p0")
        let place = try #require(lines.firstIndex { $0.hasPrefix(sought) })
        // Whatever a search for it meets: nothing that is found may be outside of what it has seen before.
        for number in lines.indices where number != place && number % 7 != 0 {
            lines[number] = String(lines[number].reversed())
        }
        let path = try write(lines.joined(separator: "\n"))
        if let list = try? BreachList(path) {
            let error = thrown(BreachListError.self) { _ = try ask(list, "p0") }
            #expect(
                [.notHex(digits: 40, at: nil), .notSorted(at: nil), .longLine(at: nil), .noCount(at: nil)].contains(
                    error))
        }
        var swapped = try Self.lines(60).split(separator: "\n").map(String.init)
        swapped.swapAt(30, 31)
        #expect(try refusal(swapped.joined(separator: "\n")) != nil)
    }

    @Test func `a file that is cut while it is open is no answer`() throws {
        let path = try write(Self.lines(1000))
        let list = try BreachList(path)
        try #require(unsafe truncate(path, 100) == 0)
        #expect(thrown(BreachListError.self) { _ = try ask(list, "p1") } == .changed)
    }

    @Test func `pipes, devices and sockets are refused at once, and what is not there is told`() throws {
        try #require(unsafe mkfifo(folder["pipe"], 0o600) == 0)
        for path in [folder["pipe"], "/dev/zero", "/dev/tty"] {
            let error = thrown(BreachListError.self) { _ = try BreachList(path) }
            if case .unreadable = error, path == "/dev/tty" { continue }
            #expect(error == .notRegular, "\(path)")
        }
        guard case .unreadable = thrown(BreachListError.self, { _ = try BreachList(folder["none"]) }) else {
            Issue.record("what is not there was opened")
            return
        }
    }

    @Test(arguments: ["", ".txt"], [true, false])
    func `a folder of ranges is searched, whatever its names end with`(_ ending: String, _ isUpper: Bool) throws {
        let digest = try Self.hex("known")
        let prefix = isUpper ? String(digest.prefix(5)) : digest.prefix(5).lowercased()
        let rest = String(digest.dropFirst(5))
        let others = (0..<2000).map { String(format: "%035X:%d\r\n", $0, $0) }.joined()
        _ = try write(others + "\(rest):42\r\n" + String(repeating: "F", count: 35) + ":1", prefix + ending)
        let list = try BreachList(folder.path)
        #expect(try ask(list, "known") == .listed(times: 42))
        #expect(try ask(list, "another one") == .noRange)
        // Ranges are padded with digests that nobody has seen.
        _ = try write("\(rest):0\r\n", prefix + ending)
        #expect(try ask(list, "known") == .absent)
        _ = try write("", prefix + ending)
        #expect(try ask(list, "known") == .absent)
    }

    @Test func `what is no range in a folder is refused`() throws {
        let digest = try Self.hex("known")
        let (name, rest) = (String(digest.prefix(5)), String(digest.dropFirst(5)))
        let list = try BreachList(folder.path)
        func refusal(_ text: String) throws -> BreachListError? {
            _ = try write(text, name)
            return thrown(BreachListError.self) { _ = try ask(list, "known") }
        }
        #expect(try refusal("\(rest)\n") == .noCount(at: nil))
        #expect(try refusal("\(digest):1\n") == .noCount(at: nil))
        #expect(try refusal("<html>\n") == .notHex(digits: 35, at: nil))
        #expect(try refusal(String(repeating: "0", count: 35) + ":1\nrubbish") == .notHex(digits: 35, at: nil))
        #expect(try refusal(String(repeating: "0", count: 90_000)) == .longLine(at: nil))
        #expect(try refusal(String(repeating: "\n", count: 5 << 20)) == .largeRange)
        try FileManager.default.removeItem(atPath: folder[name])
        try #require(unsafe mkfifo(folder[name], 0o600) == 0)
        #expect(thrown(BreachListError.self) { _ = try ask(list, "known") } == .notRegular)
        try FileManager.default.removeItem(atPath: folder[name])
        try #require(unsafe symlink("/dev/zero", folder[name]) == 0)
        #expect(thrown(BreachListError.self) { _ = try ask(list, "known") } == .notRegular)
        try FileManager.default.removeItem(atPath: folder[name])
        try FileManager.default.createDirectory(atPath: folder[name], withIntermediateDirectories: false)
        #expect(thrown(BreachListError.self) { _ = try ask(list, "known") } == .notRegular)
    }
}
