internal import CommandLineArguments
internal import Holdfast

// Earlier words for `enroll remove`, `open-without-asking` and a part of `status --long`. Scripts may have them.

extension Command {
    static let slotsList = Command(
        "slots", "list", summary: "list the ways to unlock the vault",
        details: ["Shows for each unlock method how strong it is."], example: "holdfast slots list",
        options: [Options.home.option, Options.json.option], run: listSlots
    ).earlier("slots", "list", successor: "holdfast status --long")

    static let slotsAdd = Command(
        "slots", "add", summary: openWithoutAsking.syntax.summary, details: openWithoutAsking.syntax.details,
        example: "holdfast slots add device",
        places: [Place(name: "SLOT", kind: .word(["device"]), help: "What is added.")],
        options: [Options.home.option, Options.passcodeDescriptor.option], run: addDeviceSlot
    ).earlier("slots", "add", successor: "holdfast open-without-asking on")

    static let slotsRemove = Command(
        "slots", "remove", summary: enrollRemove.syntax.summary, details: enrollRemove.syntax.details,
        example: "holdfast slots remove pin",
        places: [
            Place(
                name: "SLOT", kind: .word(["tpm", "pin", "fingerprint", "device", "phrase", "recoveryPhrase"]),
                help: "What is removed; device, of a vault that opens without asking: that.")
        ],
        options: [
            Options.insist.option, Options.weak.option, Options.home.option, Options.passcodeDescriptor.option,
            Options.phraseDescriptor.option, Options.phraseOutDescriptor.option,
        ],
        run: removeSlot
    ).earlier("slots", "remove", successor: "holdfast enroll remove, or holdfast open-without-asking off")
}

private func removeSlot(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[place: 0] == "device", try Unlocking.asksNobody(Unlocking.find(arguments)) {
        return try removeDeviceSlot(arguments)
    }
    for option in [Options.phraseOutDescriptor.option, Options.weak.option] {
        guard !arguments.contains(option) else {
            throw .usage("\(option.spelled) is only for a vault that opens without asking")
        }
    }
    return try removeMethod(arguments)
}

private func listSlots(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let status = try vaultCall { try Unlocking.find(arguments).status() }
    try arguments[Options.json] ? Output.write(.object(["slots": status.waysJSON])) : Output.write(status.ways)
    return .done
}

extension Vault.Status {
    /// What unlocks the vault, as a table.
    var ways: String {
        var table = Table(["OPENS WITH", "PROVES", "ATTEMPTS", "REMOVED BY"])
        for slot in slots {
            table.append([
                slot.words, slot.proof(self).words, slot.isCounted ? "counted" : "not counted",
                slot.removal(self) ?? "-",
            ])
        }
        return table.text
    }

    var waysJSON: JSON {
        .array(
            slots.map { slot in
                .object([
                    "kind": .text(slot.name), "assurance": .text(slot.proof(self).name),
                    "isCounted": .boolean(slot.isCounted),
                ])
            })
    }
}

extension SlotKind {
    /// For people.
    var words: String {
        switch self {
        case .secret(.passcode): "passcode"
        case .secret(.recoveryPhrase): "recovery phrase"
        case .secret(.pin): "PIN under the TPM"
        case .deviceOwner: "fingerprint or account password"
        case .device: "this device, without asking"
        case .unknown: "a way of a newer version (\(name))"
        }
    }

    fileprivate func proof(_ status: Vault.Status) -> Assurance {
        switch self {
        case .secret(.passcode): status.hasHardwareShare ? .hardwareLimited : .keyBound
        case .secret(.recoveryPhrase), .unknown: .keyBound
        case .secret(.pin): .hardwareLimited
        case .deviceOwner: .presence
        case .device: .none
        }
    }

    /// The command that removes it; nil for what is only replaced.
    fileprivate func removal(_ status: Vault.Status) -> String? {
        switch self {
        case .secret(.passcode): status.hasHardwareShare ? "enroll remove tpm (keeps the passcode)" : nil
        case .secret(.recoveryPhrase): "enroll remove phrase"
        case .secret(.pin): "enroll remove pin"
        case .device: "open-without-asking off"
        case .deviceOwner:
            [(OwnerStep.biometrics, "fingerprint"), (.devicePasscode, "account")]
                .filter { status.policy.asks(for: $0.0) }
                .map { "enroll remove \($0.1)" }.joined(separator: ", ")
        case .unknown: nil
        }
    }
}
