internal import DeviceOwner
internal import FaceMessages
internal import Faces
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls

extension Agent {
    /// Begins to be the Secret Service of the user's session. Once it is, it is until it ends or the bus does.
    /// - Throws: `agentUnavailable`, also where another program is it.
    func serveSecrets() throws(VaultError) {
        guard secrets == nil else { return }
        do throws(ServiceBus.Problem) {
            secrets = SecretServiceFace(try ServiceBus(claiming: SecretServiceFace.name))
        } catch {
            switch error {
            case .unavailable(let number):
                throw .unavailable(
                    "the session bus cannot be used (error \(number)); DBUS_SESSION_BUS_ADDRESS of the agent names it")
            case .taken(let process):
                let owner = process.map { "process \($0)\(Agent.program($0))" } ?? "another process"
                throw .unavailable(
                    "\(owner) is the Secret Service of this session; end it or keep it from starting")
            }
        }
    }

    private static func program(_ process: Int32) -> String {
        ProgramFile.path(of: process).map { " (\($0))" } ?? ""
    }

    /// The name on the bus goes with the connection.
    func endSecrets() { secrets = nil }

    /// Takes the calls that came in.
    func runSecrets() {
        guard let face = secrets, face.hasMore || isReady(face.bus.descriptor) != 0 else { return }
        for _ in 0..<SecretServiceFace.callsPerTurn {
            do throws(ServiceBus.Problem) {
                switch try face.bus.next() {
                case nil:
                    face.hasMore = false
                    return
                case .left(let client): face.leave(client)
                case .call(let call): take(call, face)
                }
            } catch { return endSecrets() }
            guard secrets != nil else { return }
        }
        face.hasMore = true
    }

    private func take(_ call: BusCall, _ face: SecretServiceFace, hasWaited: Bool = false) {
        guard face.isOurs(call.sender) else {
            return call.fail(SecretServiceError.accessDenied, "only programs of the same user are served")
        }
        guard let path = SecretServicePath(parsing: call.path) else {
            return call.fail(SecretServiceError.unknownObject, "there is no such object")
        }
        messages += 1
        if let reason = lock.checkTime(clock.now()) { dropKeys(because: reason) }
        do throws(SecretServiceCall.Refusal) {
            let kind = try SecretServiceCall(
                interface: call.interface, member: call.member, signature: call.signature, on: path)
            if !isServingSecrets, !hasWaited, kind.needsVault, wait(call, face) { return }
            if !handle(kind, call, path, face) {
                call.fail(
                    SecretServiceError.invalidArguments, "an argument is not what the call takes, or is too large")
            }
        } catch {
            switch error {
            case .unknownObject: call.fail(SecretServiceError.unknownObject, "there is no such object")
            case .unknownMethod: call.fail(SecretServiceError.unknownMethod, "the object has no such method")
            case .invalidArguments: call.fail(SecretServiceError.invalidArguments, "the call takes other types")
            }
        }
    }

    /// Has a vault that opens without asking opened for a program.
    private func wait(_ call: BusCall, _ face: SecretServiceFace) -> Bool {
        openUnasked {
            guard self.secrets === face else { return }
            self.take(call, face, hasWaited: true)
        }
    }

    private var isServingSecrets: Bool { lock.isUnlocked && dropReason == nil && endsAt == nil }

    /// - Returns: False where an argument is wrong; then nothing was done or answered.
    private func handle(
        _ kind: SecretServiceCall, _ call: BusCall, _ path: SecretServicePath, _ face: SecretServiceFace
    ) -> Bool {
        switch kind {
        case .openSession: return openSession(call, face)
        case .closeSession:
            guard case .session(let number) = path, face.sessions.close(number, of: call.sender) else {
                call.fail(SecretServiceError.noSession, "there is no such session of yours")
                return true
            }
            call.reply()?.send()
        case .readAlias:
            guard let alias = call.text(atMost: 255) else { return false }
            let reply = call.reply()
            reply?.path(alias == "default" ? SecretServicePath.collection(Vault.defaultCollection).text : "/")
            reply?.send()
        case .setAlias, .deleteCollection, .setProperty:
            call.fail(SecretServiceError.notSupported, "Holdfast does not do this for other programs")
        case .lock:
            guard let paths = call.objectPaths() else { return false }
            let locked = paths.filter(Agent.isLockable)
            if !locked.isEmpty {
                cancelUnlocks()
                cancelConfirming()
                lock.lock(clock.now())
                dropKeys(because: .requested)
            }
            Agent.answer(call, locked)
        case .unlock:
            guard let paths = call.objectPaths() else { return false }
            guard isServingSecrets else { return refuseLocked(call) }
            Agent.answer(call, paths.filter(Agent.isLockable))
        case .createCollection: return createCollection(call)
        case .searchItems, .searchCollection:
            guard let question = call.attributes() else { return false }
            guard isServingSecrets else {
                // Names and attributes are encrypted: while the vault is locked nothing is known of them.
                answer(.items([]), to: .init(call: call, kind: kind, session: nil))
                return true
            }
            let collection = SecretServiceWork.collection(path)
            if path != .service, collection == nil { return refuseUnknown(call) }
            begin(call, kind, face) { try $0.search(question, in: collection) }
        case .getProperty, .getProperties: return tellProperties(kind, call, path, face)
        case .getSecret, .getSecrets, .createItem, .setSecret, .deleteItem: return useItem(kind, call, path, face)
        }
        return true
    }

    private func openSession(_ call: BusCall, _ face: SecretServiceFace) -> Bool {
        guard let algorithm = call.text(atMost: 255) else { return false }
        guard face.sessions.hasRoom(for: call.sender) else {
            call.fail(SecretServiceError.limits, "too many sessions are open")
            return true
        }
        var (cipher, publicNumber): (SecretServiceCipher, [UInt8]?)
        switch algorithm {
        case SecretServiceCipher.plain: (cipher, publicNumber) = (SecretServiceCipher(), nil)
        case SecretServiceCipher.agreed:
            guard call.enter("v", "ay"), let peer = call.bytes(atMost: 128),
                let agreed = peer.withBytes({ SecretServiceCipher.agree(with: $0) })
            else { return false }
            (cipher, publicNumber) = (agreed.cipher, agreed.publicNumber)
        default:
            call.fail(SecretServiceError.notSupported, "this algorithm is not known")
            return true
        }
        guard let reply = call.reply(), let number = face.sessions.open(call.sender, cipher) else { return true }
        reply.container("v", publicNumber == nil ? "s" : "ay") {
            if let publicNumber { unsafe reply.bytes(publicNumber.span.bytes) } else { reply.text("") }
        }
        reply.path(SecretServicePath.session(number).text)
        reply.send()
        return true
    }

    /// A collection of Holdfast's is there as soon as something is in it, so there is nothing to make.
    private func createCollection(_ call: BusCall) -> Bool {
        guard let found = call.properties("org.freedesktop.Secret.Collection"), let alias = call.text(atMost: 255)
        else { return false }
        let name = alias == "default" ? Vault.defaultCollection : found.label
        guard !name.isEmpty, name.utf8.count <= SecretServicePath.longestCollection else { return false }
        guard isServingSecrets else {
            refuseLocked(call)
            return true
        }
        answer(
            .created(SecretServicePath.collection(name).text),
            to: .init(call: call, kind: .createCollection, session: nil))
        return true
    }

    private func tellProperties(
        _ kind: SecretServiceCall, _ call: BusCall, _ path: SecretServicePath, _ face: SecretServiceFace
    ) -> Bool {
        guard call.text(atMost: 255) != nil else { return false }
        var name: String?
        if kind == .getProperty {
            guard let text = call.text(atMost: 255) else { return false }
            name = text
        }
        if isServingSecrets {
            begin(call, kind, face) { [name] work in try Agent.only(name, work.properties(of: path)) }
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
        case .item, .session:
            refuseLocked(call)
            return true
        }
        do {
            answer(try Agent.only(name, answered), to: .init(call: call, kind: kind, session: nil))
        } catch { call.fail(SecretServiceError.unknownProperty, "the object has no such property") }
        return true
    }

    private static func only(_ name: String?, _ answer: SecretServiceAnswer) throws -> SecretServiceAnswer {
        guard let name, case .properties(let all) = answer else { return answer }
        guard let one = all.first(where: { $0.name == name }) else { throw VaultError.noSuchRecord }
        return .properties([one])
    }

    private func useItem(
        _ kind: SecretServiceCall, _ call: BusCall, _ path: SecretServicePath, _ face: SecretServiceFace
    ) -> Bool {
        guard isServingSecrets else {
            refuseLocked(call)
            return true
        }
        switch kind {
        case .deleteItem:
            guard case .item(let collection, let name) = path else { return refuseUnknown(call) }
            begin(call, kind, face) { work in
                try SecretServiceStore(work.items).delete(name, in: collection)
                return .done
            }
        case .getSecret, .getSecrets:
            var paths = [path.text]
            if kind == .getSecrets {
                guard let many = call.objectPaths() else { return false }
                paths = many
            }
            guard let named = call.objectPath() else { return false }
            guard let session = face.session(named, of: call.sender) else { return refuseSession(call) }
            begin(call, kind, face, session) { [paths] work in try work.secrets(paths) }
        case .createItem:
            guard let collection = SecretServiceWork.collection(path) else { return refuseUnknown(call) }
            guard let found = call.properties("org.freedesktop.Secret.Item"), let secret = call.secret(),
                let replaces = call.flag()
            else { return false }
            guard let session = face.session(secret.session, of: call.sender) else { return refuseSession(call) }
            guard let value = Agent.open(secret, session) else { return false }
            let draft = SecretServiceStore.Draft(
                label: found.label, attributes: found.attributes, contentType: secret.contentType, replaces: replaces)
            begin(call, kind, face) { work in
                let name = try value.bytes.withBytes { value in
                    try SecretServiceStore(work.items).create(draft, value, in: collection)
                }
                return .created(SecretServicePath.item(collection: collection, name: name).text)
            }
        default:
            guard case .item(let collection, let name) = path else { return refuseUnknown(call) }
            guard let secret = call.secret() else { return false }
            guard let session = face.session(secret.session, of: call.sender) else { return refuseSession(call) }
            guard let value = Agent.open(secret, session) else { return false }
            let type = secret.contentType
            begin(call, kind, face) { work in
                try value.bytes.withBytes { value in
                    try SecretServiceStore(work.items).set(name, in: collection, value, contentType: type)
                }
                return .done
            }
        }
        return true
    }

    private static func open(
        _ secret: borrowing BusCall.TravellingSecret, _ session: SecretServiceFace.Session
    ) -> Body? {
        let opened = secret.value.withBytes { value in
            secret.parameters.withBytes { session.cipher.open(value, parameters: $0) }
        }
        switch consume opened {
        case .none: return nil
        case .some(let value): return value.count <= SecretServiceStore.longest ? Body(value) : nil
        }
    }

    private static func isLockable(_ path: String) -> Bool {
        switch SecretServicePath(parsing: path) {
        case .collection, .alias("default"), .item: true
        default: false
        }
    }

    @discardableResult
    private func refuseLocked(_ call: BusCall) -> Bool {
        call.fail(SecretServiceError.isLocked, "the vault is locked; unlock Holdfast first")
        return true
    }

    private func refuseUnknown(_ call: BusCall) -> Bool {
        call.fail(SecretServiceError.noSuchObject, "there is no such collection or item")
        return true
    }

    private func refuseSession(_ call: BusCall) -> Bool {
        call.fail(SecretServiceError.noSession, "there is no such session of yours")
        return true
    }

    /// Has a thread look into the open vault.
    private func begin(
        _ call: BusCall, _ kind: SecretServiceCall, _ face: SecretServiceFace,
        _ session: SecretServiceFace.Session? = nil,
        _ body: @escaping @Sendable (SecretServiceWork) throws -> SecretServiceAnswer
    ) {
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        guard isServingSecrets else {
            refuseLocked(call)
            return
        }
        let number = nextConnection()
        guard face.begin(number, .init(call: call, kind: kind, session: session)) else {
            return call.fail(SecretServiceError.limits, "too many calls are under way")
        }
        let (vault, completions, items) = (vault, completions, items)
        let isTaken = work.submit {
            var found: SecretServiceAnswer?
            let outcome = Work.run(vault) {
                let gate = Gate(nil)
                found = try Work.behind(gate) { try body(SecretServiceWork(items: items, gate: gate)) }
                return ([], .rest)
            }
            completions.post(.secrets(number, found, outcome))
        }
        if !isTaken {
            _ = face.finish(number)
            call.fail(SecretServiceError.limits, "the agent has too much to do")
        }
    }

    /// What a thread has finished.
    func finishSecrets(_ number: UInt64, _ found: SecretServiceAnswer?, _ outcome: Completion.Outcome) {
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        if case .headerChanged(let error) = outcome {
            lock.lock(clock.now())
            dropKeys(because: .requested)
            if error?.endsAgent ?? false { end() }
        }
        guard let working = secrets?.finish(number) else { return }
        guard isServingSecrets else {
            refuseLocked(working.call)
            return
        }
        switch outcome {
        case .done:
            if let found { return answer(found, to: working) }
            working.call.fail(SecretServiceError.failed, "nothing was found")
        case .failed(let error):
            if working.kind == .getProperty, error.code == .invalidName {
                return working.call.fail(SecretServiceError.unknownProperty, "the object has no such property")
            }
            working.call.fail(SecretServiceError.name(of: error), "\(error)")
        case .stopped:
            working.call.fail(
                SecretServiceError.accessDenied, "the item is to be asked for, which this program cannot have done")
        case .headerChanged: refuseLocked(working.call)
        }
    }
}
