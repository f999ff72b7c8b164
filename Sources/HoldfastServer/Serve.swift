internal import BetterAuthVerification
internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

extension ServerCommand {
    static let serve = ServerCommand(
        "serve", summary: "answer the operations of the identity protocol",
        details: [
            "When it is ready it prints one line: ready, its URL, and the key that signs responses.",
            "It stops on SIGTERM and SIGINT, after finishing the requests that are under way. On SIGHUP it reads its "
                + "configuration file, certificate and keys again.",
            "With --listen systemd it serves the socket that a socket unit passes, which nothing is lost on while the "
                + "server is restarted.",
            "It makes a SQLite file and keys if there are none, and says so in its log. Keys are not made for a "
                + "database that has been served before: see --new-keys.",
            "With PostgreSQL, --redis and --keys-file are required.",
            "Options may stand in a file too (--config), or in the environment: see check-config.",
        ],
        example: "holdfast-server serve --listen 127.0.0.1:8080 --database accounts.db",
        required: [ServerOptions.listen.option, ServerOptions.database.option],
        options: [
            ServerOptions.sharePort.option, ServerOptions.redis.option, ServerOptions.redisLost.option,
            ServerOptions.keysFile.option,
            ServerOptions.keysIn.option,
            ServerOptions.newKeys.option,
            ServerOptions.attributes.option, ServerOptions.access.option, ServerOptions.refresh.option,
            ServerOptions.addressRate.option, ServerOptions.rotateKeys.option,
            ServerOptions.publish.option, ServerOptions.hsm.option, ServerOptions.hsmToken.option,
            ServerOptions.keyService.option, ServerOptions.adminSocket.option,
            ServerOptions.auditLog.option, ServerOptions.auditFull.option, ServerOptions.auditAddresses.option,
        ] + ServerOptions.listening, isConfigured: true, isGrouped: true, judges: true
    ) { arguments in try Serve(ServeSettings(arguments)).run() }
}

struct Serve {
    /// Milliseconds for which clients may take a response for good after its key was replaced (protocol.md 10.4).
    static let responseLifetime: Int64 = 43_260_000

    private let settings: ServeSettings
    private var arguments: Arguments { settings.arguments }

    init(_ settings: ServeSettings) { self.settings = settings }

    func run() throws -> ServerExit {
        let log = FrontOptions.log(arguments)
        let lifetimes = settings.lifetimes
        let current = Reloadable(settings)
        let metrics = HTTPMetrics()
        let conditions = Conditions(log)
        // Before anything is made: the port may be taken.
        let place = try arguments.required(ServerOptions.listen)
        let listener =
            place == ServiceManager.listening
            ? try ServiceManager.listener() : try HTTPListener(place, sharesPort: arguments[ServerOptions.sharePort])
        // Servers that share a port replace one another, where they can have one database.
        let replaces = arguments[ServerOptions.sharePort] && settings.database.isShared
        let office = arguments[ServerOptions.adminSocket]
        if let office, !replaces, LocalSocket.isServed(office) { throw AdminSocket.Failure.served(office) }
        if case .file(let path) = settings.database { try FolderOwner.become(path) }
        let store = try ServedData.store(arguments, settings.database, settings.redis, lifetimes, log)
        defer { store.close() }
        if let office, replaces { _ = try AdminSocket.predecessor(office, over: store) }
        let custody = try KeyCustody(
            settings.keyFile, of: store, lifetimes, takesNewKeys: arguments[ServerOptions.newKeys], log)
        let audit = try Audit.open(arguments, custody, conditions)
        defer { audit?.close() }
        let trail = Audit.trail(arguments, audit)
        let estimate = AccountEstimate(store)
        let publication = settings.publisher.map { Publication($0, conditions) }
        let admin = office.map { AdminServer($0, AccountAdministration(store, lifetimes), log, audit: trail) }
        defer { admin?.close() }
        let rounds = Rounds { round(custody, publication, audit, estimate, admin, conditions, log) }
        defer { rounds.finish() }
        // Before anybody is answered: a key is published before it is used. Who stops the server need not wait for
        // that.
        guard rounds.first(seconds: Serve.patience) else { return .done }
        let server = AuthServer(
            store: MeasuredStore(store) { metrics.count($0, duration: $1) }, keys: custody.keys, lifetimes: lifetimes,
            compression: ZlibTokenCompression(),
            attributes: { _ in current.attributes })
        let service = AuthService(
            server, audit: trail, metrics: metrics, log: log, conditions: conditions,
            checks: checks(custody, publication, current, audit), isHeld: publication?.isDone == false,
            rates: settings.rates, access: settings.metricsAccess,
            gauges: { [state = publication?.state] text in
                custody.write(to: &text)
                estimate.write(to: &text)
                state?.write(custody.keys, now: SystemClock().now, to: &text)
            })
        defer { service.close() }
        try admin?.open(replaces: replaces)
        let front = try HTTPServer(listener, service, settings.front)
        let key = custody.keys.responseKey(now: SystemClock().now).publicKey.description
        FrontOptions.announce(front, settings.front, key: key)
        log.write(.notice, "start", ["address": .text(front.address)])
        ServiceManager.tell(.ready)
        watch(rounds, service, publication) {
            // Also when nothing else can be taken over: the file was moved away.
            audit?.reopen()
            reload(current, front, service, log)
        }
        ServiceManager.tell(.stopping)
        service.beginStopping()
        admin?.close()
        let isClean = front.stop()
        log.write(.notice, "stop", ["unanswered": isClean ? "0" : "some"])
        return isClean ? .done : .failure
    }

    /// What must be ready beside the store.
    private func checks(
        _ custody: KeyCustody, _ publication: Publication?, _ current: Reloadable, _ audit: AuditLog?
    ) -> [Readiness.Check] {
        var checks = [Readiness.Check("keys") { custody.examine() }]
        if let state = publication?.state {
            checks.append(Readiness.Check("key service") { state.reason(custody.keys, now: SystemClock().now) })
        }
        if let audit, Audit.policy(arguments) == .refuse {
            checks.append(Readiness.Check("audit log") { audit.failure })
        }
        checks.append(
            Readiness.Check("certificate") {
                guard let dates = current.certificate, dates.notAfter <= SystemClock().now else { return nil }
                return "the certificate expired at \(dates.notAfter)"
            })
        return checks
    }

    /// Seconds between two rounds; a first one that takes longer continues while the server says that it is not ready.
    private static let (pause, patience) = (5.0, 5.0)

    /// Until a signal asks to stop: has rounds made, and checks that all is well. Nothing here waits for anybody.
    private func watch(
        _ rounds: Rounds, _ service: AuthService, _ publication: Publication?, onReload reload: () -> Void
    ) {
        var due = MonotonicClock.seconds
        while true {
            if publication?.isDone == true { service.release() }
            switch Signals.wait(seconds: publication?.isDone == false ? 1 : 5) {
            case .stop: return
            case .goOn: continue
            case .reload:
                reload()
                due = MonotonicClock.seconds
            case nil: break
            }
            // A check that never ends is a fault that a restart mends; one that fails is not.
            if !service.isStuck { ServiceManager.tell(.alive) }
            service.examine()
            let now = MonotonicClock.seconds
            guard now >= due || publication?.isDone == false else { continue }
            due = now + Serve.pause
            rounds.begin()
        }
    }

    /// What waits for disks and other machines: rotates keys if asked to, and publishes them.
    private func round(
        _ custody: KeyCustody, _ publication: Publication?, _ audit: AuditLog?, _ estimate: AccountEstimate,
        _ admin: AdminServer?, _ conditions: Conditions, _ log: ServerLog
    ) {
        publication?.publish(custody.keys)
        do {
            let now = SystemClock().now
            if publication?.admitsRotation(of: custody.keys, now: now) != false,
                try custody.rotate(
                    after: Int64(arguments[ServerOptions.rotateKeys]),
                    publishedSeconds: Int64(arguments[ServerOptions.publish]), now: now)
            {
                log.write(.notice, "keys rotated")
                publication?.publish(custody.keys)
            }
            conditions.recover("key rotation")
        } catch {
            conditions.fail("key rotation", OperatorAdvice.line(for: error))
        }
        if let key = custody.keys.auditKeys.last { audit?.adopt(key) }
        estimate.renew()
        do {
            try admin?.keepName()
            conditions.recover("admin socket")
        } catch { conditions.fail("admin socket", OperatorAdvice.line(for: error)) }
    }

    /// Takes over what the configuration file, the certificate and the other files say now. What cannot be used changes
    /// nothing.
    private func reload(_ current: Reloadable, _ front: HTTPServer, _ service: AuthService, _ log: ServerLog) {
        ServiceManager.tell(.reloading)
        defer { ServiceManager.tell(.ready) }
        do {
            let before = current.settings
            let arguments = try Configuration.completed(self.arguments.asGiven, of: ServerCommand.serve.syntax)
            let new = try ServeSettings(arguments, replacing: before)
            // Connections need not end for settings that are as they were. What a front tells has its own log's level.
            let isSameLog = FrontOptions.logLevel(arguments) == FrontOptions.logLevel(before.arguments)
            let isNew = !isSameLog || !new.front.servesLike(before.front)
            if isNew { try front.renew(new.front) }
            log.adjust(FrontOptions.logLevel(arguments))
            service.adjust(new.rates, new.metricsAccess)
            current.reload(new)
            let fixed = Reloadable.fixed.filter { before.arguments.values(of: $0) != arguments.values(of: $0) }
            log.write(.notice, "reloaded", ["connections": isNew ? "renewed" : "kept"])
            guard !fixed.isEmpty else { return }
            log.write(
                .warning, "restart needed",
                [
                    "options": .text(fixed.map(\.name).joined(separator: ", ")),
                    "reason": "a reload does not change them",
                ])
        } catch {
            let lines = (error as? Mistakes)?.all.map(\.description) ?? [OperatorAdvice.line(for: error)]
            for line in lines { log.write(.error, "not reloaded", ["reason": .text(line)]) }
        }
    }
}
