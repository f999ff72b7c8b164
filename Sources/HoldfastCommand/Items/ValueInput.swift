internal import CommandLineArguments
internal import Holdfast
internal import OneTimeCodes
internal import SecretMemory

/// Where the secret values of an item come from: a descriptor that was named, one line each, otherwise the terminal.
struct ValueInput {
    private let descriptor: Int32?

    /// Asks on the terminal only.
    static let onTerminal = ValueInput()

    private init() { descriptor = nil }

    init(_ arguments: Arguments) { descriptor = arguments[Options.secretDescriptor] }

    /// Makes sure that there is somewhere to ask, before anything is opened.
    func requireSource() throws(CommandError) {
        guard descriptor == nil, !Terminal.isThere else { return }
        throw .usage("there is no terminal to ask for secrets; use --secret-fd N")
    }

    /// A value; nil where nothing was entered. A line is typed twice.
    func value(_ asked: ItemTemplate.Asked) throws(CommandError) -> SecretBytes? {
        let value = try entered(asked)
        guard value.count > 0 else { return nil }
        return asked.kind == .oneTimeCode ? try OneTimeCode.text(of: value) : value
    }

    private func entered(_ asked: ItemTemplate.Asked) throws(CommandError) -> SecretBytes {
        if let descriptor {
            return switch asked.extent {
            case .line: try SecretInput.line(descriptor, ItemLimits.size, "the line for \(Escaping.name(asked.label))")
            case .lines: try ValueInput.rest(of: descriptor)
            }
        }
        guard let terminal = Terminal() else { throw .usage("there is no terminal to ask on") }
        let label = Escaping.name(asked.label)
        switch asked.extent {
        case .lines:
            let prompt = "\(label) (not shown; several lines, end with Ctrl-D):\n"
            let value = try terminal.readValue(prompt: prompt, .lines, limit: ItemLimits.size)
            Output.remark("\(label): \(Format.size(UInt64(value.count)))")
            return value
        case .line:
            let prompt =
                asked.kind == .oneTimeCode
                ? "\(label) (otpauth:// text or key, not shown; Enter for none): "
                : "\(label) (not shown; Enter for none): "
            let first = try terminal.readValue(prompt: prompt, .line, limit: ItemLimits.size)
            guard first.count > 0 else { return first }
            let second = try terminal.readValue(prompt: "Repeat \(label): ", .line, limit: ItemLimits.size)
            guard first.isEqual(to: second) else {
                throw .failure("mismatch", "the two entries differ; nothing was stored")
            }
            if asked.kind == .secret { remark(of: first, label) }
            return first
        }
    }

    /// Says that a password that was typed is easily guessed. Of other secrets (a PIN, a number) the user has no choice.
    private func remark(of value: borrowing SecretBytes, _ label: String) {
        guard ["password", "passphrase"].contains(where: { label.lowercased().hasSuffix($0) }) else { return }
        let strength = value.withBytes { PasscodeStrength(of: $0) }
        guard strength.level < .fair else { return }
        Output.remark(
            "This \(label) is easily guessed (about \(strength.bits) bits); --generate makes one that is not.")
    }

    /// Everything that is left of a descriptor.
    /// - Parameter deadline: Of the monotonic clock in milliseconds, where the other side may never end.
    /// - Throws: `tooLong`; `timedOut` at the deadline.
    static func rest(
        of descriptor: Int32, limit: Int = ItemLimits.size, until deadline: UInt64? = nil
    ) throws(CommandError) -> SecretBytes {
        var buffer = SecretBuffer(limit: limit)
        var piece = try secret(65_536)
        while true {
            if let deadline { try Descriptors.await(descriptor, until: deadline) }
            let got = try piece.withMutableBytes { bytes throws(CommandError) in
                try Descriptors.read(descriptor, into: &bytes)
            }
            do throws(SecretMemoryError) {
                if got == 0 { return try buffer.bytes() }
                try piece.withBytes { bytes throws(SecretMemoryError) in try buffer.append(bytes.extracting(0..<got)) }
            } catch {
                if case .invalidSize = error {
                    throw .failure("tooLong", "there are more than \(Format.size(UInt64(limit)))")
                }
                throw CommandError(error)
            }
        }
    }
}

extension OneTimeCode {
    /// The `otpauth://` text of what a service shows: such a text, or its key alone in base 32.
    static func text(of entered: borrowing SecretBytes) throws(CommandError) -> SecretBytes {
        do throws(OneTimeCodeError) {
            let isAddress = entered.withBytes { $0.begins(with: "otpauth:") }
            let code = isAddress ? try OneTimeCode(parsing: entered) : try OneTimeCode(base32: entered)
            return try code.text()
        } catch { throw CommandError(error) }
    }
}

extension CommandError {
    init(_ error: OneTimeCodeError) {
        if case .memory(let error) = error {
            self.init(error)
        } else {
            self.init(.usage, code: "invalidOneTimeCode", "\(error)")
        }
    }
}
