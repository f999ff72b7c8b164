internal import DeviceOwner
internal import ProgramProtocols
internal import ProgramAccess
internal import SecretMemory

/// Arguments of calls, read within their limits. The types of the whole message were compared before, but not what
/// variants hold.
extension BusCall {
    private static let longestPath = 4096
    /// Objects that one call names, at most.
    private static let mostPaths = 1024
    private static let mostProperties = 16

    func objectPath() -> String? { objectPath(atMost: BusCall.longestPath) }

    /// `ao`; nil for too many.
    func objectPaths() -> [String]? {
        guard enter("a", "o") else { return nil }
        var all: [String] = []
        while let next = objectPath() {
            guard all.count < BusCall.mostPaths else { return nil }
            all.append(next)
        }
        leave()
        return all
    }

    /// `a{ss}`; nil for what is beyond the limits.
    func attributes() -> SecretServiceAttributes? {
        guard enter("a", "{ss}") else { return nil }
        var attributes = SecretServiceAttributes()
        while enter("e", "ss") {
            guard let name = text(atMost: SecretServiceAttributes.longestName),
                let value = text(atMost: SecretServiceAttributes.longestValue),
                attributes.add(Array(name.utf8), Array(value.utf8))
            else { return nil }
            leave()
        }
        leave()
        return attributes
    }

    /// What an item or a collection that is made is to have: `a{sv}`. Other properties are left out.
    func properties(_ interface: String) -> (label: String, attributes: SecretServiceAttributes)? {
        guard enter("a", "{sv}") else { return nil }
        var (label, attributes, count) = ("", SecretServiceAttributes(), 0)
        while enter("e", "sv") {
            count += 1
            guard count <= BusCall.mostProperties, let name = text(atMost: 255) else { return nil }
            switch name {
            case interface + ".Label":
                guard enter("v", "s"), let text = text(atMost: SecretServicePath.longestItem) else { return nil }
                label = text
                leave()
            case interface + ".Attributes":
                guard enter("v", "a{ss}"), let found = self.attributes() else { return nil }
                attributes = found
                leave()
            default: guard skip() else { return nil }
            }
            leave()
        }
        leave()
        return (label, attributes)
    }

    /// A secret as it travels: `(oayays)`. It stays in the message until it is decrypted.
    struct TravellingSecret {
        let session: String
        let parameters: BusBytes
        let value: BusBytes
        let contentType: String
    }

    func secret() -> TravellingSecret? {
        guard enter("r", "oayays"), let session = objectPath(), let parameters = lentBytes(atMost: 64),
            let value = lentBytes(atMost: SecretServiceStore.longest + SecretServiceCipher.padding),
            let type = text(atMost: SecretServiceStore.longestType)
        else { return nil }
        leave()
        return TravellingSecret(session: session, parameters: parameters, value: value, contentType: type)
    }
}
