/// The arguments of a command, checked against its row of the table.
struct Arguments: Sendable {
    /// Values by option name; a switch has an empty one.
    private var values: [String: String] = [:]
    private(set) var places: [String] = []

    mutating func set(_ option: Option, _ value: String) { values[option.name] = value }

    mutating func append(place: String) { places.append(place) }

    func contains(_ option: Option) -> Bool { values[option.name] != nil }

    /// Whether the switch was given.
    subscript(flag: Flag) -> Bool { contains(flag.option) }

    subscript(option: TextOption) -> String? { values[option.option.name] }

    subscript(option: SecondsOption) -> Int? {
        values[option.option.name].flatMap { ValueKind.seconds($0, option.range) }
    }

    subscript(option: DescriptorOption) -> Int32? { descriptor(option.option) }

    /// The descriptor that any option names.
    func descriptor(_ option: Option) -> Int32? { values[option.name].flatMap(ValueKind.descriptor) }

    /// The argument at a place; the parser has checked that it exists.
    subscript(place index: Int) -> String { places.indices.contains(index) ? places[index] : "" }

    /// The collection that was named, or the default one.
    var collection: String { self[Options.collection] ?? Options.defaultCollection }
}
