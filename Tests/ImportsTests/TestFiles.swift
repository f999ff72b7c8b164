import Gzip

/// A ZIP archive of files that are stored as they are.
func storedArchive(_ files: [(name: String, content: [UInt8])]) -> [UInt8] {
    func half(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
    func word(_ value: Int) -> [UInt8] { half(value & 0xFFFF) + half(value >> 16) }
    var (archive, directory): ([UInt8], [UInt8]) = ([], [])
    for (name, content) in files {
        let sum = Int(unsafe crc32(content.span.bytes))
        let middle =
            half(20) + half(0) + half(0) + word(0) + word(sum) + word(content.count) + word(content.count)
            + half(name.utf8.count) + half(0)
        directory +=
            [0x50, 0x4B, 1, 2] + half(20) + middle + half(0) + half(0) + half(0) + word(0) + word(archive.count)
        directory += Array(name.utf8)
        archive += [0x50, 0x4B, 3, 4] + middle + Array(name.utf8) + content
    }
    let end =
        [0x50, 0x4B, 5, 6] + word(0) + half(files.count) + half(files.count) + word(directory.count)
        + word(archive.count) + half(0)
    return archive + directory + end
}

extension String {
    /// The markers in a file of a test: `M`, digits, `Z`, each once.
    var markers: [String] {
        var found: [String] = []
        for match in matches(of: /M[0-9]{3}Z/) {
            let marker = String(match.output)
            if !found.contains(marker) { found.append(marker) }
        }
        return found
    }
}
