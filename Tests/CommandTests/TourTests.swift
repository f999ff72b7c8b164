import Foundation
import Testing

@testable import HoldfastCommand
@testable import HoldfastTour

@Suite struct TourTests {
    private static let program = Program.beside("holdfast-tour")

    @Test func everyStepHolds() throws {
        let sandbox = try Sandbox()
        let tour = try sandbox.run(Self.program, raw: [])
        print(tour.text.split(separator: "\n").last ?? "")
        #expect(tour.code == 0, "\(tour.text)")
        #expect(tour.errors.isEmpty)
        let steps = Chapter.all.reduce(0) { $0 + $1.steps.count }
        #expect(tour.text.contains("All \(steps) steps held"))
        for chapter in Chapter.all { #expect(tour.text.contains("\n\n\(chapter.title)\n")) }
        #expect(tour.text.contains("4 attempts remain"))
        // The identity's chapters had their servers, and showed what is refused.
        #expect(!tour.text.contains("no identity was tried"))
        for code in ["HF401", "HF402", "HF409", "HF410", "BA103", "BA104"] { #expect(tour.text.contains(code)) }
        #expect(try leftovers(sandbox).isEmpty)
        #expect(try processes(naming: sandbox.path).isEmpty)
    }

    /// Processes whose command line has this folder in it.
    private func processes(naming path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { $0.allSatisfy(\.isNumber) }.filter {
            // One that has ended meanwhile has no command line.
            FileManager.default.contents(atPath: "/proc/\($0)/cmdline")?.range(of: Data(path.utf8)) != nil
        }
    }

    @Test func aSignalEndsItAndNothingStays() throws {
        let sandbox = try Sandbox()
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let child = try Child(
            Self.program, raw: [], descriptors: [1: .ours(ends[1])], environment: ["TMPDIR": sandbox.path])
        close(ends[1])
        var piece = [UInt8](repeating: 0, count: 100)
        try #require(unsafe read(ends[0], &piece, piece.count) > 0)  // it has made its folder
        #expect(try leftovers(sandbox).count == 1)
        kill(child.pid, SIGINT)
        #expect(child.wait() == 130)
        #expect(try leftovers(sandbox).isEmpty)
    }

    /// What ends a program of the tour is the end of a pipe, which the kernel brings about where the tour is killed.
    @Test func aProgramOfTheTourEndsWithIt() throws {
        let echo = try TourProcess("echo", ["ready", "steady"])
        #expect(echo.line() == "ready steady")
        #expect(echo.line() == nil)
        #expect(echo.end() == 0)
        let sleeper = try TourProcess("sh", ["-c", "echo $$; exec sleep 1000"])
        let process = try #require(sleeper.line().flatMap(pid_t.init))
        #expect(kill(process, 0) == 0)
        #expect(sleeper.end() == 128 + SIGTERM)
        #expect(kill(process, 0) == -1 && errno == ESRCH)
        #expect(sleeper.end() == 0)
        #expect(try TourProcess("/nowhere/program", []).line() == nil)
    }

    @Test func aDiskThatIsFullIsAFailedStep() throws {
        let sandbox = try Sandbox()
        let tour = try sandbox.run(Self.program, raw: [], descriptors: [1: .terminal("/dev/full")])
        #expect(tour.code == 1)
        #expect(try leftovers(sandbox).isEmpty)
    }

    private func leftovers(_ sandbox: Sandbox) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: sandbox.path).filter { $0.hasPrefix("holdfast-tour") }
    }

    /// The search over real files: each form of a text, at every place around the border of two blocks.
    @Test func theSearchFindsAcrossBlocks() throws {
        let sandbox = try Sandbox()
        let text = Array("spare key".utf8)
        let forms: [(String, [UInt8])] = [
            ("plain", text), ("base 16", Array("7370617265206b6579".utf8)),
            ("base 16", Array("7370617265206B6579".utf8)),
            ("base 64", Array(Data(text).base64EncodedString().utf8)),
            ("base 64", Array(Data([1] + text + [2, 3]).base64EncodedString().utf8)),
            ("base 64", Array(Data([1, 2] + text + [3]).base64EncodedString().utf8)),
        ]
        let search = DiskSearch(DiskSearch.Needle.all("text", text), blockSize: 64)
        for (form, bytes) in forms {
            for start in 40..<80 {
                let path = try sandbox.file([UInt8](repeating: 0, count: start) + bytes + [0, 0], "hay")
                let report = try search.search([path])
                #expect(report.found.count == 1, "\(form) at \(start)")
                #expect(report.bytes == UInt64(start + bytes.count + 2))
            }
        }
        let none = try search.search([try sandbox.file(Array("spare kez, Spare key".utf8), "hay")])
        #expect(none.found.isEmpty)
        #expect(throws: CommandError.self) { try search.search([sandbox.path + "/missing"]) }
    }

    /// However its pieces are cut, the sample file is the same.
    @Test func theSampleFileIsTheSameInAnyPieces() {
        for piece in [1, 7, 8, 64, 1000] {
            for start: UInt64 in [0, 3, 8, 1_048_570, SampleFile.size - 500] {
                var bytes = [UInt8](repeating: 0, count: 2000)
                var offset = start
                var filled = 0
                while filled < bytes.count {
                    var part = [UInt8](repeating: 0, count: min(piece, bytes.count - filled))
                    var span = part.mutableSpan
                    var raw = unsafe span.mutableBytes
                    let count = SampleFile.fill(&raw, from: offset)
                    if count == 0 { break }
                    bytes.replaceSubrange(filled..<filled + count, with: part[..<count])
                    filled += count
                    offset += UInt64(count)
                }
                #expect(UInt64(filled) == min(2000, SampleFile.size - start))
                let right = bytes[..<filled].withSpan { SampleFile.matches(unsafe $0.bytes, at: start) }
                #expect(right)
                bytes[filled / 2] ^= 1
                let wrong = bytes[..<filled].withSpan { SampleFile.matches(unsafe $0.bytes, at: start) }
                #expect(!wrong)
            }
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func withSpan<R>(_ body: (Span<UInt8>) -> R) -> R { body(Array(self).span) }
}
