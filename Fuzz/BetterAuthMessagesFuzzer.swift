// Compiled by scripts/fuzz against the modules that it names, so normal builds know nothing of it. A violated rule
// traps, which libFuzzer reports with the input that led there.
internal import BetterAuthVerification
@testable internal import BetterAuthMessages
internal import SystemCalls

/// `FUZZ_PARSER` says which parser gets the inputs.
private enum Parser: String {
    case envelope, token, cesr
    case linkContainer = "link-container"

    static let chosen: Parser = {
        guard let name = unsafe getenv("FUZZ_PARSER"), let parser = unsafe Parser(rawValue: String(cString: name))
        else {
            fatalError("FUZZ_PARSER is envelope, token, cesr or link-container")
        }
        return parser
    }()
}

/// What libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    switch Parser.chosen {
    case .envelope: fuzzEnvelopes(input)
    case .token: fuzzTokens(input)
    case .cesr: fuzzTexts(input)
    case .linkContainer: fuzzContainers(input)
    }
    return 0
}

// MARK: Envelopes

private func fuzzEnvelopes(_ input: [UInt8]) {
    signed(input, CreateAccount.Request.self)
    signed(input, RecoverAccount.Request.self)
    signed(input, DeleteAccount.Request.self)
    signed(input, RotateDevice.Request.self)
    signed(input, LinkDevice.Request.self)
    signed(input, UnlinkDevice.Request.self)
    signed(input, ChangeRecoveryKey.Request.self)
    signed(input, CreateSession.Request.self)
    signed(input, RefreshSession.Request.self)
    signed(input, Access.Request.self)
    signed(input, Endorsement.self)
    signed(input, KeyEvent.self)
    reply(input, CreateAccount.self)
    reply(input, RequestSession.self)
    reply(input, CreateSession.self)
    reply(input, Access.self)
    if let message = try? UnsignedMessage<RequestSession.Request>(parsing: input) {
        require(message.bytes == input, "an unsigned message has two spellings")
    }
    _ = try? unsafe KeyEventList(parsing: input.span.bytes)
    _ = try? unsafe EndorsementList(parsing: input.span.bytes)
}

/// What was read is written again byte for byte, but for times with nine digits, which are written with three.
private func signed<P: MessagePayload>(_ input: [UInt8], _ type: P.Type) {
    guard let message = try? SignedMessage<P>(parsing: input) else { return }
    require(message.bytes == input, "a message does not keep its bytes")
    let again = SignedMessage(message.payload, signature: message.signature)
    require(again.bytes == input || again.bytes.count < input.count, "a message has two spellings")
    let second = try? SignedMessage<P>(parsing: again.bytes)
    require(second?.payload == message.payload, "what is written is read as something else")
    message.withSignedBytes { signed in
        require(signed.byteCount > 0 && signed.byteCount < input.count, "the signed part lies elsewhere")
    }
}

private func reply<X: Exchange>(_ input: [UInt8], _ kind: X.Type) {
    guard let reply = try? Reply<X>(parsing: input) else { return }
    switch reply {
    case .response(let message): require(message.bytes == input, "a response does not keep its bytes")
    case .failure(let failure):
        require((failure.message ?? "").unicodeScalars.count <= 256, "a server's words are long")
        require((failure.codeText ?? "").utf8.count <= 16, "a server's code is long")
    }
}

// MARK: Tokens

/// Hands through what stands between header and trailer: what a compressor would make of any bytes, some input gives.
private struct Uncompressed: TokenCompression {
    func inflate(_ member: RawSpan, limit: Int) throws(TokenCompressionError) -> [UInt8] {
        let bytes = Array(member.copied.dropFirst(10).dropLast(8))
        guard bytes.count <= limit else { throw .tooLarge }
        return bytes
    }

    func deflate(_ text: RawSpan) throws(TokenCompressionError) -> [UInt8] {
        let size = (0..<4).map { UInt8(truncatingIfNeeded: text.byteCount >> (8 * $0)) }
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + text.copied + [0, 0, 0, 0] + size
    }
}

/// The first byte of an input says how the rest is taken: with the compression left out, so that its text is reached,
/// or through the real one.
private func fuzzTokens(_ input: [UInt8]) {
    guard let choice = input.first else { return }
    let rest = Array(input.dropFirst())
    switch choice % 5 {
    case 0: fuzzToken(rest, Uncompressed())
    case 1: fuzzClaims(rest, Uncompressed())
    case 2: fuzzToken(rest, ZlibTokenCompression())
    case 3: fuzzClaims(rest, ZlibTokenCompression())
    default: fuzzMember(rest)
    }
}

/// A token as it travels.
private func fuzzToken(_ input: [UInt8], _ compression: some TokenCompression) {
    guard let text = try? unsafe TokenText(parsing: input.span.bytes) else { return }
    require(text.bytes == input, "a token does not keep its characters")
    check(text, compression)
}

/// The claims themselves, behind a signature that is well formed.
private func fuzzClaims(_ input: [UInt8], _ compression: some TokenCompression) {
    guard let signature = SignatureText(known),
        let member = try? unsafe compression.deflate(input.span.bytes),
        let text = unsafe TokenText(signature, gzip: member.span.bytes)
    else { return }
    check(text, compression)
}

/// A gzip member, behind such a signature and by itself.
private func fuzzMember(_ input: [UInt8]) {
    let gzip = ZlibTokenCompression()
    if let signature = SignatureText(known), let text = unsafe TokenText(signature, gzip: input.span.bytes) {
        check(text, gzip)
    }
    for limit in [0, 100, MessageLimits.claims] {
        guard let output = try? unsafe gzip.inflate(input.span.bytes, limit: limit) else { continue }
        require(output.count <= limit, "more comes out than is allowed")
        guard let packed = try? unsafe gzip.deflate(output.span.bytes) else {
            return require(false, "what comes out cannot be compressed again")
        }
        let again = try? unsafe gzip.inflate(packed.span.bytes, limit: limit)
        require(again == output, "what comes out does not survive another round")
    }
}

private func check(_ text: TokenText, _ compression: some TokenCompression) {
    guard let token = try? AccessToken(opening: text, with: compression) else { return }
    require(token.signedBytes.count <= MessageLimits.claims, "a token is larger than allowed")
    let encoded = token.claims.encoded
    require(encoded == token.signedBytes || encoded.count < token.signedBytes.count, "claims have two spellings")
}

private let known = "0IA4UTM8hskrY42wR1BiDhpxJoHNC9WoAwSt9LE4x5Hzl0eTluD7O8rPnuY-iNN3Sv3Ms5ZoZH_eosTqAl6DMtXU"

// MARK: Texts of CESR

private func fuzzTexts(_ input: [UInt8]) {
    text(input, DigestText.self)
    text(input, NonceText.self)
    text(input, PublicKeyText.self)
    text(input, SignatureText.self)
    if let time = unsafe Timestamp(text: input.span.bytes) {
        let written = Array(time.description.utf8)
        require(written == input || input.count == 30, "a time has two spellings")
        require(unsafe Timestamp(text: written.span.bytes) == time, "a time is read as another one")
    }
}

private func text<T: CESRValue>(_ input: [UInt8], _ type: T.Type) {
    if let value = unsafe T(text: input.span.bytes) {
        require(value.textBytes == input, "a value has two texts")
        let raw = value.rawBytes
        require(unsafe T(raw: raw.span.bytes) == value, "a value is read as another one")
    }
    if let value = unsafe T(raw: input.span.bytes) {
        let text = value.textBytes
        require(unsafe T(text: text.span.bytes) == value && value.rawBytes == input, "a raw value has two texts")
    }
}

// MARK: Link containers

private func fuzzContainers(_ input: [UInt8]) {
    guard let container = try? LinkContainer(parsing: input) else { return }
    require(container.bytes == input, "a container does not keep its bytes")
    // Inside a request it stands as it came.
    guard let nonce = NonceText("0AAAAQIDBAUGBwgJCgsMDQ4P"), let signature = SignatureText(known) else { return }
    let request = LinkDevice.Request(
        nonce: nonce, authentication: container.payload.authentication, container: container)
    let message = SignedMessage(request, signature: signature)
    let again = try? SignedMessage<LinkDevice.Request>(parsing: message.bytes)
    require(again?.payload.container == container, "a container changes inside a request")
}

private func require(_ condition: Bool, _ rule: StaticString) {
    if !condition { fatalError("\(rule)") }
}
