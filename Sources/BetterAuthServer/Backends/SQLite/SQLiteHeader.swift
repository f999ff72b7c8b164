/// The first bytes of a database file (<https://www.sqlite.org/fileformat2.html#the_database_header>): what can be told
/// without opening it, which would take its locks.
package enum SQLiteHeader {
    package static let size = 100
    private static let mark = Array("SQLite format 3\0".utf8)

    /// Why a file is none that this program serves, and what to do; nil where that cannot be told from its beginning.
    /// - Parameter hasLog: Whether changes lie in a log beside it, which may be the first ones.
    package static func problem(_ bytes: [UInt8], hasLog: Bool) -> String? {
        guard bytes.starts(with: mark) else { return "is no SQLite database; name another file" }
        guard bytes.count >= size else { return nil }
        func number(_ place: Int) -> Int64 { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int64($1) } }
        let (pages, version, application) = (number(28), number(60), number(68))
        if application == 0, pages <= 1 || hasLog { return nil }
        guard application == SQLiteSchema.applicationID, version <= Int64(Int32.max) else {
            return "is the database of another program; name another file"
        }
        guard version > SQLiteSchema.current.version else { return nil }
        return "has version \(version), and this program knows \(SQLiteSchema.current.version); update the program"
    }
}
