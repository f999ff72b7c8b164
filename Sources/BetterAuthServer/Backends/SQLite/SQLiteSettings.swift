/// How the embedded store works.
package struct SQLiteSettings: Sendable, Hashable {
    /// MiB of pages kept in memory, half of them by the writer.
    package var cache = 16
    /// Pages in the log from which it is brought into the file.
    package var checkpointPages = 4000
    /// Operations that wait for the writer; more are refused.
    package var queue = 16_384

    package init() {}
}
