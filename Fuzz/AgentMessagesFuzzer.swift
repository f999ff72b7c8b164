// Compiled by scripts/fuzz against the module that it names, so normal builds know nothing of it. A violated rule
// traps, which libFuzzer reports with the input that led there.
@testable internal import AgentMessages

/// One input is one message: whatever is taken has that one form, and all of it lies inside of the message.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count >= Frame.size else { return 0 }
    var input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    fuzz(input)
    // The same with a right length and version, to get past both at once.
    let head = Frame.bytes(kind: input[5], bodySize: count - Frame.size)
    input.replaceSubrange(0..<Frame.size, with: head)
    fuzz(input)
    return 0
}

private func fuzz(_ input: [UInt8]) {
    let head = Array(input.prefix(Frame.size))
    let body = Array(input.dropFirst(Frame.size))
    guard let frame = try? unsafe Frame(parsing: head.span.bytes) else { return }
    if (try? frame.expectRequest()) != nil {
        require(frame.bodySize <= 65_536, "a request may be too long")
        if let request = try? unsafe Request(frame, body: body.span.bytes) { check(request, input) }
    }
    if (try? frame.expectReply()) != nil {
        require(frame.bodySize <= 65_536, "an answer may be too long")
        if let reply = try? unsafe Reply(frame, body: body.span.bytes) { check(reply, input) }
    }
}

private func check(_ request: Request, _ input: [UInt8]) {
    var payload = 0
    switch request {
    case .lock(.unlock(_, _, _, _, let range)), .change(.begin(_, _, let range)), .change(.finish(let range)),
        .transfer(.data(let range)):
        require(!range.isEmpty && range.upperBound == input.count - Frame.size, "a payload lies elsewhere")
        payload = range.count
    case .programs(.credential(_, _, let range)), .programs(.importSSH(_, let range)):
        require(range.upperBound == input.count - Frame.size, "attributes lie elsewhere")
        payload = range.count
    case .identity(let call):
        guard case .request(_, let range) = call.action else { break }
        require(!range.isEmpty && range.upperBound == input.count - Frame.size, "a request's JSON lies elsewhere")
        payload = range.count
    case .owner(.answer(let range)):
        require(range == 0..<input.count - Frame.size, "an answer lies elsewhere")
        payload = range.count
    default: break
    }
    require(request.head(payload: payload) == Array(input.dropLast(payload)), "a request has two encodings")
}

private func check(_ reply: Reply, _ input: [UInt8]) {
    var payload = 0
    if case .piece(let range) = reply {
        require(range == 0..<input.count - Frame.size, "a piece lies elsewhere")
        payload = range.count
    }
    if case .records(let entries) = reply {
        require(entries.reduce(0) { $0 + $1.encodedSize } == input.count - Frame.size, "an entry has another size")
    }
    require(reply.head(payload: payload) == Array(input.dropLast(payload)), "an answer has two encodings")
}

private func require(_ condition: Bool, _ rule: StaticString) {
    if !condition { fatalError("\(rule)") }
}
