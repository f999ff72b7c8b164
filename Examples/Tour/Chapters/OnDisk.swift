internal import Holdfast
internal import HoldfastCommand
internal import SystemCalls

extension Chapter {
    static let onDisk = Chapter(
        title: "What a thief of the disk sees",
        steps: [
            Step("the search finds what is there to find") { tour in
                let found = try tour.searchPlanted()
                return "\(found) planted texts, in UTF-8, base 16 and base 64"
            },
            Step("searched the vault, its backup and its copy") { tour in
                let search = DiskSearch(try tour.needles())
                let folders = [tour.home, tour.backupFolder, tour.restoredFolder]
                let report = try search.search(folders.flatMap(Folder.files))
                try tour.expect(report.bytes > 3 * SampleFile.size, "only \(report.bytes) bytes were searched")
                try tour.expect(report.found.isEmpty, "readable: " + report.found.joined(separator: ", "))
                return
                    "no name, no content: \(search.count) patterns, \(report.files) files, \(Format.size(report.bytes))"
            },
        ])
}

extension Tour {
    /// Everything that must not be readable: names, collections, contents line by line, passcodes and the phrase.
    fileprivate func needles() throws -> [DiskSearch.Needle] {
        var needles: [DiskSearch.Needle] = []
        func add(_ label: String, _ text: some Sequence<UInt8>) { needles += DiskSearch.Needle.all(label, Array(text)) }
        for item in Samples.items {
            add("the name of \(item.kind)", item.name.utf8)
            add("the collection of \(item.kind)", item.collection.utf8)
            for line in item.text.split(separator: "\n") where line.utf8.count >= 8 {
                add("a line of \(item.kind)", line.utf8)
            }
        }
        add("the name of the file", Samples.fileName.utf8)
        add("the marker in the file", SampleFile.marker.utf8)
        for offset: UInt64 in [32, 65_536, 5_000_000, SampleFile.size - 16] {
            add("the file's content", SampleFile.sample(at: offset))
        }
        for passcode in [Samples.firstPasscode, Samples.secondPasscode, Samples.thirdPasscode] {
            add("a passcode", passcode.utf8)
        }
        let phrase = phrase?.withText { text in (0..<min(24, text.byteCount)).map { text.byte(at: $0) } }
        add("the recovery phrase", phrase ?? [])
        return needles
    }

    /// Plants every pattern in a scratch file, across the border of two blocks that the search reads, and makes sure
    /// that it is found there: a search that finds nothing proves nothing.
    fileprivate func searchPlanted() throws -> Int {
        let path = scratch + "/planted"
        let needles = try needles()
        let blockSize = 4096
        for needle in needles where needle.bytes.count >= 4 {
            let noise = [UInt8](repeating: UInt8(ascii: "."), count: blockSize - needle.bytes.count / 2)
            try write(noise + needle.bytes + noise.prefix(100), to: path)
            let report = try DiskSearch([needle], blockSize: blockSize).search([path])
            try expect(report.found.count == 1, "the search misses \(needle.label)")
        }
        unsafe unlink(path)
        return needles.count
    }

    /// Makes a file anew.
    func write(_ bytes: [UInt8], to path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try expect(file >= 0, "\(path): \(SystemError.last)")
        defer { close(file) }
        try bytes.withRawSpan { bytes throws(CommandError) in try Descriptors.write(bytes, to: file) }
    }
}
