internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import Imports
internal import SecretMemory

extension Place {
    fileprivate static let number = Place(
        name: "N", kind: .number, help: "The number of an earlier value, as holdfast history list shows it.")
}

extension Command {
    static let historyList = Command(
        "history", "list", summary: "list what an entry's fields held before",
        details: [
            "Lists earlier values, the latest first, with the time at which they were replaced. The values themselves are hidden "
                + "without --reveal. An entry keeps its last 256."
        ],
        example: "holdfast history list mail",
        places: [.itemName],
        options: [Options.reveal.option, Options.collection.option, Options.json.option] + Options.unlocking,
        run: listHistory)

    static let historyRestore = Command(
        "history", "restore", summary: "put an earlier value back",
        details: ["The field gets the earlier value; what it holds now becomes an earlier value too."],
        example: "holdfast history restore mail 1",
        places: [.itemName, .number], options: [Options.collection.option] + Options.unlocking,
        run: restoreValue)
}

private func listHistory(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let found = try ItemAccess(arguments).find(arguments[place: 0])
    let earlier = Array(found.item.history.reversed())
    if arguments[Options.json] {
        try writeJSON(earlier, of: found.item, reveals: arguments[Options.reveal])
        return .done
    }
    guard !earlier.isEmpty else {
        Output.remark("No earlier values.")
        return .done
    }
    var table = Table(["N", "FIELD", "REPLACED", arguments[Options.reveal] ? "VALUE" : "SIZE"], rightAligned: [0])
    for (index, value) in earlier.enumerated() {
        let shown = found.item.withValue(of: value) { bytes in
            arguments[Options.reveal]
                ? ShownValue.shown((0..<bytes.byteCount).map { bytes.byte(at: $0) }[...])
                    .split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\u{a}")
                : Format.size(UInt64(bytes.byteCount))
        }
        table.append([
            "\(index + 1)", Escaping.name(value.label), Format.localTime(milliseconds: value.replaced), shown,
        ])
    }
    try Output.write(table.text)
    return .done
}

private func writeJSON(
    _ earlier: [Item.Earlier], of item: borrowing Item, reveals: Bool
) throws(CommandError) {
    var json = SecretJSON()
    do throws(SecretMemoryError) { try append(earlier, of: item, reveals: reveals, to: &json) } catch {
        throw CommandError(error)
    }
    try json.write()
}

private func append(
    _ earlier: [Item.Earlier], of item: borrowing Item, reveals: Bool, to json: inout SecretJSON
) throws(SecretMemoryError) {
    try json.raw("{\"history\":[")
    for (index, value) in earlier.enumerated() {
        let kind = value.kind.word.map { JSON.text($0) } ?? .null
        try json.raw(
            (index == 0 ? "{" : ",{") + "\"number\":\(index + 1),\"label\":\(JSON.text(value.label).encoded),"
                + "\"kind\":\(kind.encoded),\"replaced\":\(Format.json(value.replaced).encoded),\"size\":\(value.size),"
                + "\"value\":")
        if reveals || value.kind.isOpen {
            try item.withValue(of: value) { bytes throws(SecretMemoryError) in try json.value(bytes) }
        } else {
            try json.raw("null")
        }
        try json.raw("}")
    }
    try json.raw("]}")
}

private func restoreValue(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    let found = try access.find(arguments[place: 0], .lastPart)
    let number = Int(arguments[place: 1]) ?? 0
    guard (1...max(1, found.item.history.count)).contains(number), !found.item.history.isEmpty else {
        let count = found.item.history.count
        throw CommandError(
            .notFound, code: .earlierValueNotFound,
            count == 0 ? "this entry has no earlier values" : "this entry has earlier values 1 to \(count)")
    }
    let wanted = found.item.history[found.item.history.count - number]
    var label = ""
    try access.change(found) { item throws(CommandError) in
        // Another change may have been written since: the value is known by when it was replaced and by its field.
        guard
            let earlier = item.history.last(where: {
                $0.replaced == wanted.replaced && $0.label == wanted.label && $0.size == wanted.size
            })
        else { throw .failure(.busy, "this earlier value is gone; list them again") }
        label = earlier.label
        let value = try item.withValue(of: earlier) { bytes throws(CommandError) in
            do throws(SecretMemoryError) { return try SecretBytes(copying: bytes) } catch { throw CommandError(error) }
        }
        let field = item.fields.first { $0.label == earlier.label && $0.kind == earlier.kind }
        try vaultCall {
            if let field { try item.set(field, value) } else { try item.add(earlier.kind, earlier.label, value) }
        }
    }
    Output.remark("Restored '\(Escaping.name(label))' of \(found.record.written).")
    return .done
}
