internal import BetterAuth
internal import BetterAuthMessages
internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

extension Place {
    fileprivate static let identity = Place(name: "IDENTITY", kind: .text, help: "The identity, 44 characters.")
    fileprivate static let container = Place(
        name: "CONTAINER", kind: .text, help: "What the other device shows (default: standard input).",
        isOptional: true)
    fileprivate static let device = Place(name: "DEVICE", kind: .text, help: "The device, 44 characters.")
}

extension Command {
    static let identityLink = Command(
        "identity", "link", summary: "ask to join an identity with this device",
        details: [
            "Generates keys for this device and prints a link container. Enter it on a device of the identity with "
                + "holdfast identity accept-link. The container is not secret. Running the command again prints the "
                + "same one.",
            "Then run holdfast identity session open to see whether it was accepted.",
        ],
        example: "holdfast identity link IDENTITY --server https://id.example --qr",
        places: [.identity], options: [Options.qr.option, Options.keys.option] + Options.identity, run: linkIdentity)

    static let identityAcceptLink = Command(
        "identity", "accept-link", summary: "let another device join the identity",
        details: [
            "Reads a link container as an argument or from standard input, and prints the device that joined. Accept "
                + "only containers from yourself: a linked device can act in your name.",
            proofAdvice,
        ],
        example: "holdfast identity accept-link CONTAINER",
        places: [.container], options: Options.identityProved, run: acceptLink)

    static let identityUnlink = Command(
        "identity", "unlink", summary: "remove a device from the identity",
        details: [
            "If it is this device, its keys are erased here after the server has agreed.",
            proofAdvice,
        ],
        example: "holdfast identity unlink DEVICE",
        places: [.device], options: [Options.yes.option] + Options.identityProved, run: unlink)
}

private func linkIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let identity = try IdentityWords.identity(arguments[place: 0])
    let access = try IdentityAccess(arguments)
    let client = try access.client()
    let container = try access.run("Generating keys ...") { try await client.makeLinkContainer(for: identity) }
    try IdentityWords.show(String(decoding: container.bytes, as: UTF8.self), arguments)
    Output.remark("Enter this on a device of the identity with holdfast identity accept-link.")
    return .done
}

private func acceptLink(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let bytes: [UInt8]
    if let text = arguments.places.first {
        bytes = Array(text.utf8)
    } else {
        bytes = try readInput("the link container", limit: MessageLimits.message)
    }
    let container: LinkContainer
    do throws(MessageError) {
        container = try LinkContainer(parsing: trimmed(bytes))
    } catch {
        throw CommandError(.usage, code: .identity(.invalidContainer), "this is not a link container (\(error))")
    }
    let (access, proof) = try IdentityAccess.proving(arguments)
    let client = try access.client()
    let device = try access.run { try await client.link(container, proof: proof.take()) }
    access.log(.device(.linked, digest: device.rawBytes))
    try Output.write("\(device)\n")
    return .done
}

private func unlink(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let device = try IdentityWords.device(arguments[place: 0])
    try Confirmation.require(arguments)
    let (access, proof) = try IdentityAccess.proving(arguments)
    let client = try access.client()
    let isOwn = try access.credentials().account?.device == device
    try Confirmation.ask(
        arguments,
        isOwn
            ? "This removes this device from the identity and erases its keys."
            : "This removes device \(device) from the identity.", word: "unlink")
    try access.run { try await client.unlink(device, proof: proof.take()) }
    access.log(.device(.unlinked, digest: device.rawBytes))
    Output.remark("Unlinked.")
    return .done
}

/// Standard input to its end.
func readInput(_ what: String, limit: Int) throws(CommandError) -> [UInt8] {
    var all: [UInt8] = []
    var buffer = try secret(4096)
    while true {
        let count = try buffer.withMutableBytes { bytes throws(CommandError) in
            try Descriptors.read(STDIN_FILENO, into: &bytes)
        }
        if count == 0 { return all }
        guard all.count + count <= limit else { throw .failure(.tooLarge, "\(what) has at most \(limit) bytes") }
        buffer.withBytes { bytes in
            all += (0..<count).map { bytes.byte(at: $0) }
        }
    }
}

/// Without the white space around it that copying brings along.
func trimmed(_ bytes: [UInt8]) -> [UInt8] {
    let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    return Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
}
