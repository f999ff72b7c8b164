extension Item {
    /// The tag of what programs store over the session bus, through the Secret Service. Only that face sets it; the user may.
    package static let secretServiceTag = "secret-service"

    /// Whether a program stored it over the session bus. Any program there chooses names and values, so no other face takes such an
    /// item for what the user meant by its name; the user says that it is by taking the tag away.
    package var isOfSecretService: Bool {
        tags.contains { $0.utf8.elementsEqual(Item.secretServiceTag.utf8) }
    }
}
