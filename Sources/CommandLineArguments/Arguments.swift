/// The arguments of a command, checked against its row of the table.
package struct Arguments: Sendable {
    /// An option of the line. A switch has an empty value.
    private struct Given: Sendable {
        let name: String
        var values: [String] = []
        /// Whether it was not given, and came from an ``OptionSource``.
        var isCompletion = false
        /// Where the values stand, of one that came from a source.
        var origins: [String] = []
    }

    // A few, which are found sooner than the runtime makes the type of a dictionary.
    private var options: [Given] = []
    package private(set) var places: [String] = []
    /// Mistakes in the sources.
    package internal(set) var mistakes: [Mistake] = []
    /// What holds for options that are not there. They do not count as given: ``contains(_:)`` is false for them.
    private var fallbacks: [(option: Option, value: String)] = []

    init() {}

    private func index(of option: Option) -> Int? { options.firstIndex { $0.name == option.name } }

    mutating func append(_ option: Option, _ value: String) {
        if let index = index(of: option) {
            options[index].values.append(value)
        } else {
            options.append(Given(name: option.name, values: [value]))
        }
    }

    mutating func complete(_ option: Option, _ value: String, at place: String) {
        append(option, value)
        guard let index = index(of: option) else { return }
        options[index].isCompletion = true
        options[index].origins.append(place)
    }

    /// Where a value of an option stands.
    /// - Parameter index: The number of the value, for an option that may be repeated.
    package func place(of option: Option, _ index: Int = 0) -> String {
        let known = self.index(of: option).map { options[$0].origins } ?? []
        return known.indices.contains(index) ? known[index] : option.spelled
    }

    /// As they were given, without what was added from elsewhere.
    package var asGiven: Arguments {
        var given = self
        given.options = options.filter { !$0.isCompletion }
        given.mistakes = []
        return given
    }

    /// These, with values for options that were not given.
    package func falling(back values: [(option: Option, value: String)]) -> Arguments {
        var whole = self
        whole.fallbacks = values
        return whole
    }

    /// These, with other values for some options; nil takes one away.
    package func replacing(_ values: [(option: Option, value: String?)]) -> Arguments {
        var other = self
        for (option, value) in values {
            other.options.removeAll { $0.name == option.name }
            if let value { other.append(option, value) }
        }
        return other
    }

    /// The options that were given, in the order of their names.
    var names: [String] { options.map { $0.name }.sorted() }

    mutating func append(place: String) { places.append(place) }

    package func contains(_ option: Option) -> Bool { index(of: option) != nil }

    /// Whether the switch was given.
    package subscript(flag: Flag) -> Bool { contains(flag.option) }

    package subscript(option: TextOption) -> String? { value(option.option) }

    /// All values, in the order in which they were given.
    package subscript(option: ListOption) -> [String] { self[all: option.option] }

    subscript(all option: Option) -> [String] { index(of: option).map { options[$0].values } ?? [] }

    package subscript(option: SecondsOption) -> Int? {
        value(option.option).flatMap { ValueKind.number($0, of: option.option, option.range) }
    }

    /// The number that was given, or the default.
    package subscript(option: NumberOption) -> Int {
        value(option.option).flatMap { ValueKind.number($0, of: option.option, option.range) } ?? option.fallback
    }

    package subscript(option: RateOption) -> Double? { value(option.option).flatMap(ValueKind.rate) }

    package subscript(option: DescriptorOption) -> Int32? { descriptor(option.option) }

    /// The descriptor that any option names.
    package func descriptor(_ option: Option) -> Int32? { value(option).flatMap(ValueKind.descriptor) }

    /// The argument at a place; the parser has checked that it exists.
    package subscript(place index: Int) -> String { places.indices.contains(index) ? places[index] : "" }

    /// The value of an option that this command, or another of its options, needs.
    /// - Throws: ``UsageError`` if it was not given.
    package func required(_ option: TextOption) throws(UsageError) -> String {
        guard let value = self[option] else { throw UsageError("\(option.option.synopsis) is missing") }
        return value
    }

    private func value(_ option: Option) -> String? {
        self[all: option].first ?? fallbacks.first { $0.option == option }?.value
    }
}
