internal import DeviceOwner
internal import ProgramProtocols
internal import ProgramAccess
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

extension Agent {
    func tellProperties(
        _ kind: SecretServiceCall, _ call: BusCall, _ path: SecretServicePath, _ endpoint: SecretServiceEndpoint
    ) -> Bool {
        guard call.text(atMost: 255) != nil else { return false }
        var name: String?
        if kind == .getProperty {
            guard let text = call.text(atMost: 255) else { return false }
            name = text
        }
        if isServingSecrets {
            begin(call, kind, endpoint) { [name] work in try Agent.only(name, work.properties(of: path)) }
            return true
        }
        let answered: SecretServiceAnswer
        switch path {
        case .service:
            let known = SecretServicePath.collection(Vault.defaultCollection).text
            answered = .properties([("Collections", .paths([known]))])
        case .collection, .alias:
            guard let collection = SecretServiceWork.collection(path) else { return refuseUnknown(call) }
            answered = SecretServiceWork.properties(collection: collection, [], isLocked: true)
        case .found(let attributes): answered = SecretServiceWork.properties(lockedWith: attributes)
        case .item, .session, .prompt:
            refuseLocked(call)
            return true
        }
        do {
            answer(try Agent.only(name, answered), to: call, kind)
        } catch { call.fail(SecretServiceError.unknownProperty, "the object has no such property") }
        return true
    }

    /// Labels and attributes of items can be changed.
    func setProperty(_ call: BusCall, _ path: SecretServicePath, _ endpoint: SecretServiceEndpoint) -> Bool {
        guard let interface = call.text(atMost: 255), let name = call.text(atMost: 255) else { return false }
        guard case .item(let collection, let item) = path, interface == SecretServiceCall.getSecret.interface,
            name == "Label" || name == "Attributes"
        else {
            call.fail(SecretServiceError.readOnly, "Holdfast does not change this for other programs")
            return true
        }
        guard isServingSecrets else { return refuseLocked(call) }
        if name == "Label" {
            guard call.enter("v", "s"), let label = call.text(atMost: SecretServicePath.longestItem), !label.isEmpty
            else { return false }
            begin(call, .setProperty, endpoint) { work in
                try SecretServiceStore(work.items).set(item, in: collection, label: label)
                return .done
            }
        } else {
            guard call.enter("v", "a{ss}"), let attributes = call.attributes() else { return false }
            begin(call, .setProperty, endpoint) { work in
                try SecretServiceStore(work.items).set(item, in: collection, attributes: attributes)
                return .done
            }
        }
        return true
    }

    /// Searches that one call may have made again, at most: each reads every item. libsecret names one.
    private static let mostSearches = 4

    private static func searches(in paths: [String]) -> Int {
        paths.count { path in
            if case .found = SecretServicePath(parsing: path) { return true }
            return false
        }
    }

    private static func only(_ name: String?, _ answer: SecretServiceAnswer) throws -> SecretServiceAnswer {
        guard let name, case .properties(let all) = answer else { return answer }
        guard let one = all.first(where: { $0.name == name }) else { throw VaultError.noSuchRecord }
        return .properties([one])
    }

    func useItem(
        _ kind: SecretServiceCall, _ call: BusCall, _ path: SecretServicePath, _ endpoint: SecretServiceEndpoint
    ) -> Bool {
        guard isServingSecrets else { return refuseLocked(kind, call, endpoint) }
        switch kind {
        case .deleteItem:
            guard case .item(let collection, let name) = path else { return refuseUnknown(call) }
            begin(call, kind, endpoint) { work in
                try SecretServiceStore(work.items).delete(name, in: collection)
                return .done
            }
        case .getSecret, .getSecrets:
            var paths = [path.text]
            if kind == .getSecrets {
                guard let many = call.objectPaths(), Agent.searches(in: many) <= Agent.mostSearches else {
                    return false
                }
                paths = many
            }
            guard let named = call.objectPath() else { return false }
            guard let session = endpoint.session(named, of: call.sender) else { return refuseSession(call) }
            let several = Set(paths)
            begin(call, kind, endpoint, session, isMany: several.count > 1) { work in try work.secrets(several) }
        case .createItem:
            guard let collection = SecretServiceWork.collection(path) else { return refuseUnknown(call) }
            guard let found = call.properties(SecretServiceCall.getSecret.interface), let secret = call.secret(),
                let replaces = call.flag()
            else { return false }
            guard let session = endpoint.session(secret.session, of: call.sender) else { return refuseSession(call) }
            guard let value = Agent.open(secret, session) else { return false }
            let draft = SecretServiceStore.Draft(
                label: found.label, attributes: found.attributes, contentType: secret.contentType, replaces: replaces)
            begin(call, kind, endpoint) { work in
                let name = try value.bytes.withBytes { value in
                    try SecretServiceStore(work.items).create(draft, value, in: collection)
                }
                return .created(SecretServicePath.item(collection: collection, name: name).text)
            }
        default:
            guard case .item(let collection, let name) = path else { return refuseUnknown(call) }
            guard let secret = call.secret() else { return false }
            guard let session = endpoint.session(secret.session, of: call.sender) else { return refuseSession(call) }
            guard let value = Agent.open(secret, session) else { return false }
            let type = secret.contentType
            begin(call, kind, endpoint) { work in
                try value.bytes.withBytes { value in
                    try SecretServiceStore(work.items).set(name, in: collection, value, contentType: type)
                }
                return .done
            }
        }
        return true
    }

    private static func open(
        _ secret: borrowing BusCall.TravellingSecret, _ session: SecretServiceEndpoint.Session
    ) -> Body? {
        let opened = secret.value.withBytes { value in
            secret.parameters.withBytes { session.cipher.open(value, parameters: $0) }
        }
        switch consume opened {
        case .none: return nil
        case .some(let value): return value.count <= SecretServiceStore.longest ? Body(value) : nil
        }
    }

    /// Of locked items no secret is given; where a search found none but them, that is an answer.
    private func refuseLocked(_ kind: SecretServiceCall, _ call: BusCall, _ endpoint: SecretServiceEndpoint) -> Bool {
        guard kind == .getSecrets else { return refuseLocked(call) }
        guard let paths = call.objectPaths(), let named = call.objectPath() else { return false }
        guard let session = endpoint.session(named, of: call.sender) else { return refuseSession(call) }
        let areFound = paths.allSatisfy { path in
            if case .found = SecretServicePath(parsing: path) { return true }
            return false
        }
        guard areFound else { return refuseLocked(call) }
        answer(.secrets([]), to: call, kind, session)
        return true
    }
}
