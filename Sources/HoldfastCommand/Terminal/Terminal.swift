internal import Holdfast
internal import SystemCalls

/// The terminal that the process belongs to, whatever its standard descriptors are.
struct Terminal: ~Copyable {
    /// An open file of its own, so that making it non-blocking does not affect other processes.
    let descriptor: Int32
    /// Whether the second screen is shown, which is left while the process is stopped.
    var isOnSecondScreen = false

    /// Nil when the process has no terminal.
    init?() {
        descriptor = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
    }

    /// Whether there is one.
    static var isThere: Bool { Terminal() != nil }

    func write(_ text: String) throws(CommandError) { try Output.write(text, to: descriptor) }

    /// A sentence on lines of its own.
    func say(_ sentence: String) throws(CommandError) {
        try write(Escaping.wrapped(Escaping.sentence(sentence), to: columns))
    }

    func write(_ bytes: RawSpan) throws(CommandError) { try Descriptors.write(bytes, to: descriptor) }

    /// Columns, 80 where the terminal does not say.
    var columns: Int { Terminal.columns(descriptor) }

    /// Whether it says that it has fewer columns or rows.
    func isSmaller(thanColumns columns: Int, rows: Int) -> Bool {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return false
        }
        return Int(size.ws_col) < columns || Int(size.ws_row) < rows
    }

    static func columns(_ descriptor: Int32) -> Int {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    deinit { close(descriptor) }
}
