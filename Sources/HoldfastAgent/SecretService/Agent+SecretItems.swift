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
        guard let interface = call.text(atMost: 255) else { return false }
        var name: String?
        if kind == .getProperty {
            guard let text = call.text(atMost: 255) else { return false }
            name = text
        }
        guard interface.isEmpty || interface == path.interface else {
            // The bus's own interfaces have none.
            if name == nil { answer(.properties([]), to: call, kind) } else { refuseProperty(call) }
            return true
        }
        if isServingSecrets {
            begin(call, kind, endpoint) { [name] work in try Agent.only(name, work.properties(of: path)) }
            return true
        }
        let answered: SecretServiceAnswer
        switch path {
        case .service: answered = .properties([("Collections", .paths(SecretServiceWork.standardCollections))])
        case .collection, .alias, .sessionCollection:
            guard let place = SecretServiceWork.Place(path) else { return refuseUnknown(call) }
            answered = SecretServiceWork.properties(of: place, [], isLocked: true)
        case .found(let attributes, _): answered = SecretServiceWork.properties(lockedWith: attributes)
        case .session, .prompt: answered = .properties([])
        case .item, .sessionItem:
            refuseLocked(call)
            return true
        }
        do { answer(try Agent.only(name, answered), to: call, kind) } catch { refuseProperty(call) }
        return true
    }

    private func refuseProperty(_ call: BusCall) {
        call.fail(SecretServiceError.unknownProperty, "the object has no such property")
    }

    /// Labels and attributes of items can be changed.
    func setProperty(_ call: BusCall, _ path: SecretServicePath, _ endpoint: SecretServiceEndpoint) -> Bool {
        guard let interface = call.text(atMost: 255), let name = call.text(atMost: 255) else { return false }
        guard path.isItem, interface == path.interface, name == "Label" || name == "Attributes" else {
            call.fail(SecretServiceError.readOnly, "Holdfast does not change this for other programs")
            return true
        }
        guard isServingSecrets else { return refuseLocked(call) }
        if name == "Label" {
            guard call.enter("v", "s"), let label = call.text(atMost: SecretServicePath.longestItem), !label.isEmpty
            else { return false }
            begin(call, .setProperty, endpoint) { work in try work.set(path, label: label) }
        } else {
            guard call.enter("v", "a{ss}"), let attributes = call.attributes() else { return false }
            begin(call, .setProperty, endpoint) { work in try work.set(path, attributes: attributes) }
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
            guard path.isItem else { return refuseUnknown(call) }
            begin(call, kind, endpoint) { work in try work.delete(path) }
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
            begin(call, kind, endpoint, session, isMany: several.count > 1) { work in
                kind == .getSecret ? try work.only(path) : try work.secrets(several)
            }
        case .createItem:
            guard let place = SecretServiceWork.Place(path) else { return refuseUnknown(call) }
            guard let found = call.properties(SecretServiceCall.getSecret.interface), let secret = call.secret(),
                let replaces = call.flag()
            else { return false }
            let draft = SecretServiceStore.Draft(
                label: found.label, attributes: found.attributes, contentType: secret.contentType, replaces: replaces)
            return store(secret, kind, call, endpoint) { work, secret in try work.create(draft, secret, in: place) }
        default:
            guard path.isItem else { return refuseUnknown(call) }
            guard let secret = call.secret() else { return false }
            return store(secret, kind, call, endpoint) { work, secret in try work.set(path, secret) }
        }
        return true
    }

    /// - Returns: Always true.
    private func store(
        _ secret: BusCall.TravellingSecret, _ kind: SecretServiceCall, _ call: BusCall,
        _ endpoint: SecretServiceEndpoint,
        _ body: @escaping @Sendable (SecretServiceWork, SecretServiceSecret) throws -> SecretServiceAnswer
    ) -> Bool {
        guard let session = endpoint.session(secret.session, of: call.sender) else { return refuseSession(call) }
        begin(
            SecretServiceEndpoint.Working(
                call: call, kind: kind, session: nil,
                prepare: { () throws(VaultError) in
                    guard let opened = try Agent.open(secret, session) else { return nil }
                    return { work in try body(work, opened) }
                }, held: secret.value.count),
            endpoint)
        return true
    }

    private static func open(
        _ secret: BusCall.TravellingSecret, _ session: SecretServiceEndpoint.Session
    ) throws(VaultError) -> SecretServiceSecret? {
        var isWrong = false
        do throws(VaultError) {
            return try SecretServiceSecret(size: secret.value.count, contentType: secret.contentType) {
                () throws(VaultError) in
                var failure: SecretMemoryError?
                let opened = secret.value.withBytes { value in
                    secret.parameters.withBytes { parameters -> SecretBytes? in
                        do throws(SecretMemoryError) {
                            return try session.cipher.open(value, parameters: parameters)
                        } catch {
                            failure = error
                            return nil
                        }
                    }
                }
                if let opened = consume opened { return opened }
                if let failure { throw VaultError(failure) }
                isWrong = true
                throw VaultError(.invalidItem, "this secret was encrypted with another key")
            }
        } catch {
            guard !isWrong else { return nil }
            throw error
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

extension SecretServicePath {
    /// The interface of its own; every object has those of the bus too.
    var interface: String { "org.freedesktop.Secret.\(kind)" }

    /// Whether it is an item, and not only what stands for one.
    var isItem: Bool {
        switch self {
        case .item, .sessionItem: true
        default: false
        }
    }
}
