internal import CommandLineArguments
internal import Holdfast
internal import OneTimeCodes
internal import SecretMemory

/// Where the secret values of an item come from: a descriptor that was named, one line each, otherwise the terminal.
struct ValueInput {
    private let descriptor: Int32?
    private let onEnter: String

    /// - Parameter onEnter: What an empty answer does, for the prompts.
    init(_ arguments: Arguments, onEnter: String = "Enter for none") {
        descriptor = arguments[Options.secretDescriptor]
        self.onEnter = onEnter
    }

    /// Makes sure that there is somewhere to ask, before anything is opened.
    func requireSource() throws(CommandError) {
        guard descriptor == nil, !Terminal.isThere else { return }
        throw .usage("there is no terminal to ask for secrets; use --secret-fd N")
    }

    /// A value; nil where nothing was entered. On the terminal, what the item cannot hold is asked for again.
    func value(_ asked: ItemTemplate.Asked) throws(CommandError) -> SecretBytes? {
        guard let descriptor else { return try typed(asked) }
        let value =
            switch asked.extent {
            case .line: try SecretInput.line(descriptor, ItemLimits.size, "the line for \(Escaping.name(asked.label))")
            case .lines: try ValueInput.rest(of: descriptor)
            }
        return value.count > 0 ? try asked.understood(value) : nil
    }

    private func typed(_ asked: ItemTemplate.Asked) throws(CommandError) -> SecretBytes? {
        guard let terminal = Terminal() else { throw .usage("there is no terminal to ask on") }
        let label = Escaping.name(asked.label)
        while true {
            let value =
                switch asked.extent {
                case .lines where asked.kind == .text: try Editor.text(from: terminal, label)
                case .lines: try lines(label, on: terminal)
                case .line where asked.kind.isTypedOpenly: try openly(label, on: terminal)
                case .line: try hidden(asked, label, on: terminal)
                }
            guard value.count > 0 else { return nil }
            do throws(CommandError) { return try asked.understood(value) } catch {
                guard error.exit == .usage else { throw error }
                try terminal.say("Not understood: \(error.what).")
            }
        }
    }

    private func lines(_ label: String, on terminal: borrowing Terminal) throws(CommandError) -> SecretBytes {
        let prompt = "\(label) (not shown; several lines, end with Ctrl-D):\n"
        let value = try terminal.readValue(prompt: prompt, .lines, limit: ItemLimits.size)
        Output.remark("\(label): \(Format.size(UInt64(value.count)))")
        return value
    }

    /// What is no secret is typed once, as everything else on the terminal.
    private func openly(_ label: String, on terminal: borrowing Terminal) throws(CommandError) -> SecretBytes {
        try terminal.readSecret(prompt: "\(label) (\(onEnter)): ", capacity: longestLine, isShown: true)
    }

    /// A password is typed twice, since nothing shows a slip before it is needed. What is copied from a page or a card
    /// is typed once; `?` shows it meanwhile, and takes it off the terminal again.
    private func hidden(
        _ asked: ItemTemplate.Asked, _ label: String, on terminal: borrowing Terminal
    ) throws(CommandError) -> SecretBytes {
        let what = asked.kind == .oneTimeCode ? "otpauth:// text or key, " : ""
        while true {
            let prompt = "\(label) (\(what)not shown, ? shows it; \(onEnter)): "
            let first = try terminal.readValue(prompt: prompt, .line, limit: ItemLimits.size)
            guard first.count > 0 else { return first }
            if first.withBytes({ $0.byteCount == 1 && $0.byte(at: 0) == UInt8(ascii: "?") }) {
                return try terminal.readShown(prompt: "\(label): ", capacity: longestLine)
            }
            guard asked.isTypedTwice else { return first }
            let second = try terminal.readValue(prompt: "Repeat \(label): ", .line, limit: ItemLimits.size)
            guard first.isEqual(to: second) else {
                try terminal.say("The two entries differ. Try again.")
                continue
            }
            remark(of: first, label)
            return first
        }
    }

    /// Says that a password that was typed is easily guessed. Of other secrets (a PIN, a number) the user has no
    /// choice.
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
                    throw .failure(.tooLong, "there are more than \(Format.size(UInt64(limit)))")
                }
                throw CommandError(error)
            }
        }
    }
}

extension FieldKind {
    /// Whether it is no secret.
    var isTypedOpenly: Bool { self != .secret && self != .oneTimeCode }
}

extension ItemTemplate.Asked {
    /// A password; of other secrets the user has a page or a card before them.
    fileprivate var isTypedTwice: Bool {
        kind == .secret && ["password", "passphrase"].contains { label.lowercased().contains($0) }
    }

    /// The value as the item holds it.
    /// - Throws: A usage error that says what is allowed.
    fileprivate func understood(_ value: consuming SecretBytes) throws(CommandError) -> SecretBytes {
        switch kind {
        case .oneTimeCode:
            do throws(CommandError) { return try OneTimeCode.text(of: value) } catch {
                guard error.exit == .usage else { throw error }
                throw .usage(
                    "\(error.what); a key is letters from A to Z and digits from 2 to 7, as the page shows it beside its QR code, or its "
                        + "whole otpauth:// address")
            }
        case .date:
            do throws(CommandError) {
                try vaultCall {
                    var probe = try Item(.login)
                    try probe.add(.date, "date", value)
                }
            } catch {
                guard error.code == .invalidItem else { throw error }
                throw .usage("a date looks like 2031-12-24 or 2031-12")
            }
            return value
        default: return value
        }
    }
}

extension OneTimeCode {
    /// The `otpauth://` text of what a service shows: an address, or its key alone in base 32.
    static func text(of entered: borrowing SecretBytes) throws(CommandError) -> SecretBytes {
        do throws(OneTimeCodeError) {
            return try OneTimeCode(entered: entered).text()
        } catch { throw CommandError(error) }
    }
}

extension CommandError {
    init(_ error: OneTimeCodeError) {
        if case .memory(let error) = error {
            self.init(error)
        } else {
            self.init(.usage, code: .invalidOneTimeCode, "\(error)")
        }
    }
}
