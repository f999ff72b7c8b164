// What other programs hand over: references, templates, `.env` files, dialogs, calls. Built by scripts/fuzz, which
// names the parser in FUZZ_PARSER. A violated rule traps.
internal import ProgramProtocols
internal import Foundation
internal import VaultFormat

private let parsers: [String: @Sendable ([UInt8]) -> Void] = [
    "reference": reference, "template": template, "variables": variables, "credential": credential, "ssh": ssh,
    "ssh-login": login, "pinentry": pinentry, "pinentry-secret": pinentrySecret, "pinentry-entry": entry,
    "secret-service": secretService,
]
private let parse = parsers[ProcessInfo.processInfo.environment["FUZZ_PARSER"] ?? ""]

/// One input, through the parser that was named.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let parse else { fatalError("FUZZ_PARSER: \(parsers.keys.sorted().joined(separator: ", "))") }
    unsafe parse(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// What programs of the session bus say: attributes in a field, and objects. What is taken is written and taken as the
/// same again.
private func secretService(_ input: [UInt8]) {
    if let attributes = SecretServiceAttributes(parsing: input) {
        require(attributes.values.count <= SecretServiceAttributes.most, "there are too many attributes")
        require(SecretServiceAttributes(parsing: attributes.text) == attributes, "attributes differ in their text")
        require(attributes.answer(attributes) && attributes.answer(.init()), "attributes do not answer themselves")
    }
    // As names of what programs store: each has a path, and no two have the same.
    let name = String(decoding: input.prefix(64), as: UTF8.self).filter { $0 != "\0" }
    for object in [SecretServicePath.collection(name), .item(collection: "c", name: name), .alias(name)]
    where !name.isEmpty && !name.utf8.contains(0) {
        require(SecretServicePath(parsing: object.text) == object, "a name has no path of its own")
    }
    let root = SecretServicePath.service.text
    for text in [String(decoding: input, as: UTF8.self), root + "/" + String(decoding: input, as: UTF8.self)] {
        guard let object = SecretServicePath(parsing: text) else { continue }
        require(object.text.utf8.elementsEqual(text.utf8), "an object has two paths")
        for call in SecretServiceCall.allCases {
            let found = try? SecretServiceCall(
                interface: call.interface, member: String(call.rawValue.split(separator: ".")[1]),
                signature: call.signature, on: object)
            require(found == nil || found?.signature == call.signature, "a call has other types")
        }
    }
}

/// What a pinentry says to a question for yes or no.
private func pinentry(_ input: [UInt8]) { converse(input, field: nil) }

/// The same until the line that asks for a secret, whose answer is no part of the dialog.
private func pinentrySecret(_ input: [UInt8]) { converse(input, field: "PIN:") }

/// What a pinentry says, cut into pieces by its own first byte. Yes, or the line that asks for a secret, comes only
/// after everything was told and answered, one line at a time.
private func converse(_ input: [UInt8], field: String?) {
    guard let first = input.first else { return }
    var words = PinentryDialog.Words()
    words.title = "Holdfast"
    words.description = String(decoding: input, as: UTF8.self)
    words.field = field
    words.problem = String(decoding: input.suffix(8), as: UTF8.self)
    words.options = [("display", String(decoding: input.prefix(8), as: UTF8.self))]
    var dialog = PinentryDialog(words)
    var (told, isAskedForSecret, isOver): (Int, Bool, PinentryDialog.Outcome?) = (0, false, nil)
    func check(_ line: [UInt8]) {
        told += 1
        require(isOver == nil && !isAskedForSecret, "a conversation that is over goes on")
        require(line.count <= PinentryDialog.longestLine, "a line is too long")
        require(line.last == 0x0A && line.count(where: { $0 == 0x0A }) == 1, "a command is not one line")
    }
    var rest = input.dropFirst()
    while !rest.isEmpty {
        let piece = rest.prefix(Int(first % 16) + 1)
        rest = rest.dropFirst(piece.count)
        switch dialog.receive(piece) {
        case .wait: require(isOver == nil, "a conversation that is over goes on")
        case .send(let line): check(line)
        case .enter(let line):
            check(line)
            require(field != nil, "a secret is asked for where yes or no was the question")
            isAskedForSecret = true
        case .end(let outcome):
            require(isOver == nil || isOver == outcome, "a conversation ends twice")
            isOver = outcome
        }
    }
    let outcome = dialog.receiveEnd()
    require(isOver == nil ? outcome != .allowed : outcome == isOver, "an end of the bytes is no yes")
    require(field == nil || outcome != .allowed, "yes to a question for a secret")
    guard outcome == .allowed || isAskedForSecret else { return }
    let said = input.dropFirst().split(separator: 0x0A, omittingEmptySubsequences: false)
    require(told >= 7 && said.count { $0.starts(with: "ERR".utf8) } > 0, "an answer without the question")
}

/// The answer to GETPIN: its pieces lie in it, one behind the other, each in a line, and are decoded without a trap
/// into no more than they are. What is read of a part of it never differs from what is read of the whole but by saying
/// that more is awaited.
private func entry(_ input: [UInt8]) {
    switch unsafe PinentryEntry(input.span.bytes) {
    case .wait: require(input.count < PinentryEntry.longest, "more is awaited of what is too long")
    case .ended(let outcome): require(outcome != .allowed, "an end is a yes")
    case .entered(let pieces):
        var (end, decoded) = (0, 0)
        for piece in pieces {
            require(piece.lowerBound >= end + 2 && piece.upperBound < input.count, "a piece lies elsewhere")
            require(!input[piece].contains(0x0A), "a piece is more than a line")
            require(input[piece.lowerBound - 2] == UInt8(ascii: "D"), "a piece is of another line")
            end = piece.upperBound
            _ = unsafe PinentryEntry.decode(input.span.bytes, piece) { _ in
                decoded += 1
                return true
            }
        }
        require(decoded <= pieces.reduce(0) { $0 + $1.count }, "a secret is longer than its text")
        let part = Array(input.dropLast())
        require(unsafe PinentryEntry(part.span.bytes) == .wait, "a secret is taken before its end")
    }
}

private func reference(_ input: [UInt8]) {
    let bytes = Array("holdfast://".utf8) + input
    guard let read = try? unsafe SecretReference(parsing: bytes.span.bytes) else { return }
    // What was read by its shortest form may be too long with every escape.
    guard let again = try? SecretReference(parsing: read.text) else {
        require(read.text.utf8.count > SecretReference.longest, "a reference is not read again")
        return
    }
    require(again == read && again.text == read.text, "a reference has two meanings")
}

private func template(_ input: [UInt8]) {
    guard let template = try? unsafe Template(parsing: input.span.bytes) else { return }
    var end = 0
    for part in template.parts {
        switch part {
        case .text(let range):
            require(range.lowerBound >= end && range.upperBound <= input.count, "text lies elsewhere")
            end = range.upperBound
        case .insertion(let number): require(template.references.indices.contains(number), "no such reference")
        }
    }
    require(Set(template.references).count == template.references.count, "a reference is there twice")
}

private func variables(_ input: [UInt8]) {
    guard let variables = try? EnvironmentFile.parse(input) else { return }
    for variable in variables {
        require(EnvironmentFile.isName(variable.name), "a name is none")
        if case .text(let text) = variable.value { require(!text.utf8.contains(0), "a value has a zero byte") }
    }
}

private func credential(_ input: [UInt8]) {
    if let name = String(validating: input, as: UTF8.self), let address = CredentialAddress(name: name) {
        require(address.name == name, "an address has two names")
    }
    if let text = String(validating: input, as: UTF8.self), let server = CredentialAddress(serverOf: text) {
        require(server.server == server && CredentialAddress(serverOf: server.name) == server, "a server is two")
        require(server.path == nil && server.user == nil, "a server has a part of an account")
    }
    guard let read = try? unsafe CredentialAttributes(parsing: input.span.bytes) else { return }
    for range in [read.password, read.refreshToken].compactMap({ $0 }) {
        require(range.upperBound <= input.count && !input[range].contains(0x0A), "a secret is more than a line")
    }
    guard let address = read.address else { return }
    require(CredentialAddress(name: address.name) == address, "an address is not read again")
    // One with a path that a server may take for another one answers nothing.
    let answers = address.rank(for: address) != nil
    require(answers != address.leadsElsewhere, "an address does not answer itself, or leads elsewhere and does")
}

private func ssh(_ input: [UInt8]) {
    func check(_ layout: SSHPrivateLayout) {
        check(layout.publicKey)
        require(layout.secrets.count == (layout.kind == .rsa ? 4 : 1), "a key has other parts")
        require(layout.secrets.allSatisfy { !$0.isEmpty && $0.upperBound <= input.count }, "a secret lies elsewhere")
        let most = layout.kind == .rsa ? layout.publicKey.number.count : layout.kind.secretSize
        require(layout.secrets.allSatisfy { $0.count <= most }, "a secret has another size")
    }
    func check(_ key: SSHPublicKey) {
        require(key.number.upperBound <= input.count, "a key lies elsewhere")
        require(key.kind == .rsa || key.number.count == key.kind.pointSize, "a point has another size")
        let plain = unsafe key.blob(in: input.span.bytes)
        require(SSHPublicKey.plain(plain) == plain, "a key is about another one")
        require((try? unsafe SSHPublicKey(parsing: 0..<plain.count, in: plain.span.bytes)) != nil, "a key is none")
    }
    if let layout = try? unsafe SSHPrivateLayout(file: input.span.bytes) { check(layout) }
    if let key = try? unsafe SSHPublicKey(parsing: 0..<input.count, in: input.span.bytes) { check(key) }
    for form in SSHPrivateFile.allCases {
        guard let key = try? unsafe DERPrivateKey(form, input.span.bytes) else { continue }
        require((key.publicKey != nil) == (key.kind == .rsa), "a key has other parts")
        require(key.secrets.allSatisfy { !$0.isEmpty && $0.upperBound <= input.count }, "a secret lies elsewhere")
    }
    for name in SSHKnownHosts.names(of: "KEY", in: input) {
        guard case .text(let text) = name else { continue }
        _ = SSHHostPatterns(text)?.answer([name]) { _, _, _ in true }
        require(SSHHostPatterns("*")?.answer([name]) { _, _, _ in false } == .yes, "a host is not any")
    }
    switch try? unsafe SSHAgentRequest(parsing: input.span.bytes) {
    case .add(let layout, let constraints):
        check(layout)
        for destination in constraints.destinations {
            require(destination.from?.contains([]) != true && !destination.to.contains([]), "a host has no key")
            require(!destination.allows(from: [], to: nil, user: nil), "a destination begins nowhere")
        }
    case .bind(let binding):
        guard let binding else { break }
        let parts = [binding.host, binding.session, binding.signature]
        require(parts.allSatisfy { $0.upperBound < input.count }, "a part of a session lies elsewhere")
        guard let proof = try? unsafe binding.proof(in: input.span.bytes) else { break }
        require(proof.signature.count == 64 && proof.point.count == proof.kind.pointSize, "a proof has another size")
        require((1...SSHSessions.longestID).contains(binding.session.count), "a session has no name")
    case .sign(let key, let data, _):
        require(key.upperBound <= data.lowerBound && data.upperBound <= input.count, "what is signed lies elsewhere")
    case .lock(let range), .unlock(let range), .remove(let range):
        require(range.upperBound == input.count, "a field lies elsewhere")
    default: break
    }
}

/// Bytes that are to be signed. The key that is named in them is asked for.
private func login(_ input: [UInt8]) {
    let key = SSHKeyKind.ed25519.blob([UInt8](repeating: 1, count: 32))
    guard let login = try? unsafe SSHLogin(parsing: input.span.bytes, key: key) else { return }
    require(!login.session.isEmpty && login.user.count <= 1024, "a login without its session")
    let destination = SSHDestination(from: nil, to: [key], user: login.user)
    var sessions = SSHSessions()
    let step = SSHSessions.Session(id: login.session, host: key, isForwarded: false)
    require(sessions.add(step) { true }, "a first step is refused")
    let isOther = login.host.map { $0 != key } ?? false
    let isAllowed = sessions.allows([destination], login)
    // A name with signs of patterns matches itself as well.
    require(isAllowed != isOther, "a login has two meanings")
    require(!SSHSessions().allows([destination], login), "a connection without a session signs")
}

private func require(_ condition: Bool, _ rule: StaticString) {
    if !condition { fatalError("\(rule)") }
}
