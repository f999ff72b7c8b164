internal import Holdfast
internal import HoldfastCommand

extension Chapter {
    static let storing = Chapter(
        title: "What the owner keeps",
        steps: Samples.items.map { item in
            Step("stored \(item.kind)") { tour in
                let value = try Tour.secret(item.text)
                try tour.openedApp().vault.put(value, for: item.name, in: item.collection)
                return "\"\(item.name)\" in \"\(item.collection)\", \(value.count) bytes"
            }
        } + [
            Step("stored a 10 MB file, piece by piece") { tour in
                var offset: UInt64 = 0
                let size = try tour.openedApp().vault.put(Samples.fileName, in: Samples.fileCollection) { bytes in
                    let count = SampleFile.fill(&bytes, from: offset)
                    offset += UInt64(count)
                    return count
                }
                try tour.expect(size == SampleFile.size, "\(size) bytes were stored")
                return "\"\(Samples.fileName)\", \(Format.grouped(size)) bytes"
            },
            Step("refused to overwrite by accident") { tour in
                let app = try tour.openedApp()
                let item = Samples.items[0]
                let other = try Tour.secret("another value")
                try await tour.expectRefusal(.recordExists, "a second put") {
                    try app.vault.put(other, for: item.name, in: item.collection)
                }
                return "\"\(item.name)\" is there already"
            },
            Step("listed") { tour in
                let records = try tour.openedApp().vault.records()
                try tour.expect(records.count == Samples.items.count + 1, "\(records.count) records are listed")
                let bytes = records.reduce(0) { $0 + $1.size }
                return "\(Format.count(records.count, "record")), \(Format.size(bytes))"
            },
        ])
}
