internal import CSecret
internal import SecretMemory
internal import Synchronization
internal import SystemCalls

/// The functions of libsecret and GLib, loaded when a keyring is asked for the first time.
@safe struct Keyring: @unchecked Sendable {  // written once, before it is shared
    let call: csecret
    /// Our items: which they are is in their attributes, which are not secret.
    let schema: UnsafeMutableRawPointer

    static let loaded: Keyring? = {
        var table = unsafe csecret()
        guard unsafe csecret_load(&table) == 1 else { return nil }
        return unsafe Keyring(call: table)
    }()

    /// - Throws: ``KeyStoreError`` (`unavailable`) where the library is not installed.
    static func required() throws(KeyStoreError) -> Keyring {
        guard let loaded else {
            throw KeyStoreError(.unavailable, "libsecret is not installed, and without it no keyring can be asked")
        }
        return loaded
    }

    private init?(call: csecret) {
        unsafe self.call = call
        // An attribute of type 0 is a text. The table is kept by the schema's own copy.
        guard let types = unsafe call.g_hash_table_new(call.g_str_hash, call.g_str_equal) else { return nil }
        unsafe _ = call.g_hash_table_insert(types, Keyring.itemAttribute, nil)
        let made = unsafe call.secret_schema_newv("org.holdfast.Share", 0, types)
        unsafe call.g_hash_table_unref(types)
        guard let made = unsafe made else { return nil }
        unsafe schema = made
    }

    /// A C string that is never freed: GLib keeps pointers to it.
    nonisolated(unsafe) private static let itemAttribute = unsafe strdup("item")

    /// The attributes that name an item; `body` must not keep them.
    func withAttributes<R>(_ name: String, _ body: (UnsafeMutableRawPointer) throws -> R) throws -> R {
        guard let table = unsafe call.g_hash_table_new(call.g_str_hash, call.g_str_equal),
            let text = unsafe strdup(name)
        else { throw KeyStoreError(.outOfMemory, "no memory for a keyring's item") }
        defer {
            unsafe call.g_hash_table_unref(table)
            unsafe free(text)
        }
        unsafe _ = call.g_hash_table_insert(table, Keyring.itemAttribute, text)
        return try unsafe body(table)
    }

    /// Runs a call that may wait for another program, and ends it when it waits for too long.
    func limited<R>(
        _ body: (_ cancellable: UnsafeMutableRawPointer?, _ error: inout UnsafeMutablePointer<csecret_error>?) -> R
    ) throws -> R {
        let watchdog = try Watchdog(self)
        defer { watchdog.end() }
        var error: UnsafeMutablePointer<csecret_error>?
        let result = unsafe body(watchdog.cancellable, &error)
        guard let error = unsafe error else { return result }
        defer { unsafe call.g_error_free(error) }
        throw unsafe reason(error.pointee)
    }

    @unsafe private func reason(_ error: csecret_error) -> KeyStoreError {
        let domain = unsafe error.domain
        let code = unsafe error.code
        if unsafe domain == call.g_io_error_quark() {
            switch code {
            case 19, 24: return KeyStoreError(.busy, "the keyring does not answer")
            case 14: return KeyStoreError(.unavailable, "this user may not ask the keyring")
            default: return KeyStoreError(.unavailable, "there is no session bus that a keyring could be on")
            }
        }
        if unsafe domain == call.secret_error_get_quark() {
            return code == 2
                ? KeyStoreError(.lockedOut, Keyring.lockedReason)
                : KeyStoreError(.failure, "the keyring did not do as it was asked (\(code))")
        }
        if unsafe domain == call.g_dbus_error_quark() {
            switch code {
            case 2, 3, 7: return KeyStoreError(.unavailable, "no keyring runs in this session (gnome-keyring)")
            case 4, 20: return KeyStoreError(.busy, "the keyring does not answer")
            case 9: return KeyStoreError(.unavailable, "the keyring refused this program")
            default: return KeyStoreError(.failure, "the keyring failed (D-Bus error \(code))")
            }
        }
        return KeyStoreError(.unavailable, "the keyring cannot be asked")
    }

    static let lockedReason = "the keyring is locked"
}

/// Cancels a call of GIO after a while.
@safe private final class Watchdog: Sendable {
    private let keyring: Keyring
    nonisolated(unsafe) let cancellable: UnsafeMutableRawPointer?
    private let ends: (reader: Int32, writer: Int32)
    private let isEnded = Mutex(false)

    /// Milliseconds for one call.
    private static let patience: Int32 = 2000

    init(_ keyring: Keyring) throws {
        var pair: [Int32] = [-1, -1]
        guard unsafe pipe(&pair) == 0 else { throw KeyStoreError(.outOfMemory, "no descriptor can be had") }
        for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.keyring = keyring
        unsafe cancellable = keyring.call.g_cancellable_new()
        ends = (pair[0], pair[1])
        // The thread holds this object until the call has ended.
        guard DetachedThread.start({ [self] in watch() }) else {
            throw KeyStoreError(.outOfMemory, "no thread can be had")
        }
    }

    deinit {
        close(ends.reader)
        close(ends.writer)
        if let cancellable = unsafe cancellable { unsafe keyring.call.g_object_unref(cancellable) }
    }

    func end() {
        isEnded.withLock { $0 = true }
        var byte: UInt8 = 1
        _ = unsafe write(ends.writer, &byte, 1)
    }

    private func watch() {
        var waiting = pollfd(fd: ends.reader, events: Int16(POLLIN), revents: 0)
        var status = unsafe poll(&waiting, 1, Watchdog.patience)
        while status < 0, errno == EINTR { status = unsafe poll(&waiting, 1, Watchdog.patience) }
        guard status == 0, !isEnded.withLock({ $0 }) else { return }
        unsafe keyring.call.g_cancellable_cancel(cancellable)
    }
}
