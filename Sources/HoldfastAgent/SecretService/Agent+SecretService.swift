internal import DeviceOwner
internal import ProgramProtocols
internal import ProgramAccess
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls
internal import VaultHeader

extension Agent {
    /// Begins to be the Secret Service of the user's session. Once it is, it is until it ends or the bus does.
    /// - Throws: `agentUnavailable`, also where another program is it.
    func serveSecrets() throws(VaultError) {
        if let endpoint = secrets {
            guard !endpoint.bus.isOwner else { return }
            throw Agent.error(.taken(process: endpoint.bus.owner()))
        }
        do throws(ServiceBus.Problem) {
            secrets = SecretServiceEndpoint(try ServiceBus(claiming: SecretServiceEndpoint.name))
        } catch { throw Agent.error(error) }
    }

    /// As ``serveSecrets()``, for an agent that was told to from the beginning: what it cannot be now is no reason not
    /// to be what else it is. It waits for a name that another program has.
    func serveSecretsFromTheBeginning() {
        do throws(ServiceBus.Problem) {
            let endpoint = SecretServiceEndpoint(try ServiceBus(claiming: SecretServiceEndpoint.name, waits: true))
            secrets = endpoint
            if !endpoint.bus.isOwner {
                settings.tell("\(Agent.owner(endpoint.bus.owner())); Holdfast will be when that ends")
            }
        } catch { settings.tell(Agent.error(error).reason) }
    }

    private static func error(_ problem: ServiceBus.Problem) -> VaultError {
        switch problem {
        case .unavailable(let number):
            .unavailable(
                "the session bus cannot be used (error \(number)); DBUS_SESSION_BUS_ADDRESS of the agent names it")
        case .taken(let process): .unavailable("\(owner(process)); end it or keep it from starting")
        }
    }

    private static func owner(_ process: Int32?) -> String {
        let program = process.flatMap { ProgramFile.path(of: $0) }.map { " (\($0))" } ?? ""
        return "\(process.map { "process \($0)\(program)" } ?? "another process") is the Secret Service of this session"
    }

    /// The name on the bus goes with the connection. Programs that wait for a prompt would wait for ever.
    func endSecrets() {
        endSecretPrompts()
        secrets?.memory.clear()
        secrets = nil
        busLockers = []
    }

    /// Takes the calls that came in. What is left behind is taken in the next turn.
    func runSecrets() {
        guard let endpoint = secrets, endpoint.bus.hasMore || isReady(endpoint.bus.descriptor) != 0 else { return }
        for _ in 0..<SecretServiceEndpoint.callsPerTurn {
            do throws(ServiceBus.Problem) {
                switch try endpoint.bus.next() {
                case nil: return
                case .left(let client): endpoint.leave(client)
                case .call(let call): handle(call, endpoint)
                }
            } catch { return endSecrets() }
            guard secrets != nil else { return }
        }
    }

    private func handle(_ call: BusCall, _ endpoint: SecretServiceEndpoint, hasWaited: Bool = false) {
        guard endpoint.peer(of: call.sender) != nil else {
            return call.fail(SecretServiceError.accessDenied, "only programs of the same user are served")
        }
        let found = SecretServicePath(parsing: call.path)
        guard let path = found, call.member != "Introspect" else { return introspect(call, found) }
        messages += 1
        if let reason = lock.checkTime(clock.now()) { dropKeys(because: reason) }
        do throws(SecretServiceCall.Refusal) {
            let kind = try SecretServiceCall(
                interface: call.interface, member: call.member, signature: call.signature, on: path)
            if !isServingSecrets, !hasWaited, kind.needsVault, wait(call, endpoint) { return }
            if !handle(kind, call, path, endpoint) {
                call.fail(SecretServiceError.invalidArguments, Agent.wrongArgument)
            }
        } catch {
            switch error {
            case .unknownObject: call.fail(SecretServiceError.unknownObject, "there is no such object")
            case .unknownMethod: call.fail(SecretServiceError.unknownMethod, "the object has no such method")
            case .invalidArguments: call.fail(SecretServiceError.invalidArguments, "the call takes other types")
            }
        }
    }

    /// Has a vault that opens without asking opened for a program; not for one in a sandbox.
    private func wait(_ call: BusCall, _ endpoint: SecretServiceEndpoint) -> Bool {
        guard unasked != nil, !endpoint.isBehindProxy(call.sender) else { return false }
        return openUnasked {
            guard self.secrets === endpoint else { return }
            self.handle(call, endpoint, hasWaited: true)
        }
    }

    var isServingSecrets: Bool { lock.isUnlocked && dropReason == nil && endsAt == nil }

    /// - Returns: False where an argument is wrong; then nothing was done or answered.
    private func handle(
        _ kind: SecretServiceCall, _ call: BusCall, _ path: SecretServicePath, _ endpoint: SecretServiceEndpoint
    ) -> Bool {
        switch kind {
        case .openSession: return openSession(call, endpoint)
        case .closeSession:
            guard case .session(let number) = path, endpoint.sessions.close(number, of: call.sender) else {
                call.fail(SecretServiceError.noSession, "there is no such session of yours")
                return true
            }
            call.reply()?.send()
        case .readAlias:
            guard let alias = call.text(atMost: 255) else { return false }
            let reply = call.reply()
            reply?.path(SecretServiceWork.Place(alias: alias)?.path ?? "/")
            reply?.send()
        case .setAlias:
            guard let alias = call.text(atMost: 255), let path = call.objectPath() else { return false }
            // What it is already, some programs say once more.
            guard let place = SecretServiceWork.Place(alias: alias), place.path == path else {
                return refuseChange(call)
            }
            call.reply()?.send()
        case .deleteCollection: return refuseChange(call)
        case .introspect: introspect(call, path)
        case .lock, .lockService:
            var locked = [SecretServicePath.collection(Vault.defaultCollection).text]
            if kind == .lock {
                guard let paths = call.objectPaths() else { return false }
                locked = paths.filter(Agent.isLockable)
            }
            // Nothing of a locked vault is shut: that would only end the prompts and unlocks of others.
            if !locked.isEmpty, isServingSecrets {
                cancelUnlocks()
                cancelConfirming()
                lock.lock(clock.now())
                dropKeys(because: .requested)
            }
            answerLock(call, kind == .lock ? locked : nil)
        case .unlock:
            guard let paths = call.objectPaths() else { return false }
            unlock(paths, for: call, endpoint)
        case .prompt, .dismiss: return usePrompt(kind, call, path, endpoint)
        case .createCollection: return createCollection(call)
        case .searchItems, .searchCollection:
            guard let question = call.attributes() else { return false }
            let place = SecretServiceWork.Place(path)
            if path != .service, place == nil { return refuseUnknown(call) }
            guard isServingSecrets else {
                answerLocked(question, in: place, call, kind)
                return true
            }
            begin(call, kind, endpoint) { try $0.search(question, in: place) }
        case .setProperty: return setProperty(call, path, endpoint)
        case .getProperty, .getProperties: return tellProperties(kind, call, path, endpoint)
        case .getSecret, .getSecrets, .createItem, .setSecret, .deleteItem: return useItem(kind, call, path, endpoint)
        }
        return true
    }

    private func refuseChange(_ call: BusCall) -> Bool {
        call.fail(SecretServiceError.notSupported, "Holdfast does not do this for other programs")
        return true
    }

    /// Says what an object can do, or what is behind a path.
    private func introspect(_ call: BusCall, _ path: SecretServicePath?) {
        let interface = SecretServiceCall.introspect.interface
        guard call.member == "Introspect", call.interface.isEmpty || call.interface == interface,
            let text = SecretServiceIntrospection.text(of: call.path)
        else {
            let isThere = path != nil
            return call.fail(
                isThere ? SecretServiceError.unknownMethod : SecretServiceError.unknownObject,
                isThere ? "the object has no such method" : "there is no such object")
        }
        guard call.signature.isEmpty else {
            return call.fail(SecretServiceError.invalidArguments, "the call takes other types")
        }
        let reply = call.reply()
        reply?.text(text)
        reply?.send()
    }

    /// A program hears that objects are locked when the keys are gone: what it asks for next meets a vault that can be
    /// opened.
    /// - Parameter paths: Nil where it named none.
    private func answerLock(_ call: BusCall, _ paths: [String]?) {
        let isDropping = dropReason != nil || isDroppingKeys
        guard let paths else {
            call.reply()?.send()
            return
        }
        guard isDropping, busLockers.count < AgentSettings.waitingUnlocks else { return Agent.answer(call, paths) }
        busLockers.append((call, paths))
    }

    static func isLockable(_ path: String) -> Bool {
        switch SecretServicePath(parsing: path) {
        case .collection, .sessionCollection, .alias("default"), .alias("session"), .item, .sessionItem, .found: true
        default: false
        }
    }
}
