internal import CCurl

/// The library once it is loaded; it stays for the life of the process.
@safe struct CurlLibrary: @unchecked Sendable {  // never changed after loading; its functions may run side by side
    private let functions: UnsafePointer<ccurl_library>

    /// Nil when the system has none.
    static let shared: CurlLibrary? = {
        let functions = UnsafeMutablePointer<ccurl_library>.allocate(capacity: 1)
        unsafe functions.initialize(to: ccurl_library())
        guard unsafe ccurl_load(functions) != 0 else {
            unsafe functions.deallocate()
            return nil
        }
        return unsafe CurlLibrary(functions: UnsafePointer(functions))
    }()

    /// A handle for one request; nil without memory.
    func makeRequest() -> CurlRequest? {
        guard let handle = unsafe functions.pointee.easy_init() else { return nil }
        return unsafe CurlRequest(functions: functions, handle: handle)
    }
}

/// One request and its options. A setting that the library refuses makes the whole request fail: an option like the one
/// that verifies certificates must not be missing unnoticed.
@safe struct CurlRequest: ~Copyable {
    private let functions: UnsafePointer<ccurl_library>
    private let handle: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private(set) var isValid = true

    fileprivate init(functions: UnsafePointer<ccurl_library>, handle: UnsafeMutableRawPointer) {
        unsafe self.functions = functions
        unsafe self.handle = handle
    }

    private mutating func note(_ status: CURLcode) { isValid = isValid && status == CURLE_OK }

    mutating func set(_ option: CURLoption, _ value: Int) {
        note(unsafe ccurl_set_number(functions, handle, option, value))
    }

    mutating func set(_ option: CURLoption, _ text: String) {
        note(unsafe ccurl_set_text(functions, handle, option, text))
    }

    /// Posts these bytes; the library copies them.
    mutating func setBody(_ body: [UInt8]) {
        note(unsafe body.withUnsafeBytes { unsafe ccurl_set_body(functions, handle, $0.baseAddress, $0.count) })
    }

    mutating func setHeaders(_ lines: [String]) {
        for line in lines {
            guard let longer = unsafe functions.pointee.slist_append(headers, line) else {
                isValid = false
                return
            }
            unsafe headers = longer
        }
        note(unsafe ccurl_set_pointer(functions, handle, CURLOPT_HTTPHEADER, headers))
    }

    /// Sends it and waits for the answer.
    /// - Parameter answer: Takes head and body as they come, and stops either once it is too long.
    mutating func perform(into answer: CurlAnswer) -> CURLcode {
        let context = unsafe Unmanaged.passUnretained(answer).toOpaque()
        note(unsafe ccurl_set_write(functions, handle, receivePiece, context))
        note(unsafe ccurl_set_head(functions, handle, receiveLine, context))
        guard isValid else { return CURLE_UNKNOWN_OPTION }
        return withExtendedLifetime(answer) { unsafe functions.pointee.easy_perform(handle) }
    }

    /// The HTTP status of the answer.
    func status() -> Int {
        var code = 0
        guard unsafe ccurl_response_code(functions, handle, &code) == CURLE_OK else { return 0 }
        return code
    }

    /// What the answer says that it is, as it came.
    func contentType() -> String? {
        var type: UnsafePointer<CChar>?
        guard unsafe ccurl_content_type(functions, handle, &type) == CURLE_OK, let type = unsafe type else {
            return nil
        }
        return unsafe String(cString: type)
    }

    /// The library's words.
    func words(_ code: CURLcode) -> String {
        guard let words = unsafe functions.pointee.easy_strerror(code) else { return "error \(code.rawValue)" }
        return unsafe String(cString: words)
    }

    deinit {
        unsafe functions.pointee.easy_cleanup(handle)
        if let headers = unsafe headers { unsafe functions.pointee.slist_free_all(headers) }
    }
}

/// What comes back. Used by one thread at a time: the one that performs the request, then the one that waited for it.
final class CurlAnswer {
    private(set) var body: [UInt8] = []
    private(set) var isTooLong = false
    private let limit: Int
    /// Bytes of heads. The library keeps each line that it reads, and lets as many answers go before the last as come.
    private var headSize = 0
    private static let mostHead = 65_536

    init(limit: Int) { self.limit = limit }

    fileprivate func receiveLine(_ count: Int) -> Int {
        guard count <= CurlAnswer.mostHead - headSize else {
            isTooLong = true
            return 0
        }
        headSize += count
        return count
    }

    fileprivate func receive(_ piece: UnsafeRawBufferPointer) -> Int {
        guard piece.count <= limit - body.count else {
            isTooLong = true
            return 0  // fewer than were given: the library ends the request
        }
        unsafe body.append(contentsOf: piece)
        return piece.count
    }
}

/// The library calls this within `easy_perform`, while the answer is alive.
private func receivePiece(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let (length, overflow) = size.multipliedReportingOverflow(by: count)
    guard !overflow, length >= 0 else { return 0 }
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: length)
    return unsafe Unmanaged<CurlAnswer>.fromOpaque(context).takeUnretainedValue().receive(piece)
}

private func receiveLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return 0 }
    let (length, overflow) = size.multipliedReportingOverflow(by: count)
    guard !overflow, length >= 0 else { return 0 }
    return unsafe Unmanaged<CurlAnswer>.fromOpaque(context).takeUnretainedValue().receiveLine(length)
}
