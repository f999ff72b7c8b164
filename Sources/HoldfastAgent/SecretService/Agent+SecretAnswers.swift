internal import DeviceOwner
internal import ProgramProtocols
internal import ProgramAccess
internal import SecretMemory
internal import SystemCalls
internal import VaultStorage

/// How answers are written onto the bus (Secret Service API 0.2, chapter 4).
extension Agent {
    /// Objects that were locked or unlocked, without a prompt.
    static func answer(_ call: BusCall, _ paths: [String]) {
        guard let reply = call.reply() else { return }
        reply.paths(paths)
        reply.path("/")
        reply.send()
    }

    func answer(
        _ found: SecretServiceAnswer, to call: BusCall, _ kind: SecretServiceCall,
        _ session: SecretServiceEndpoint.Session? = nil
    ) {
        guard let reply = call.reply() else { return }
        switch found {
        case .done: if kind == .deleteItem { reply.path("/") }
        case .changed: break
        case .surveyed: return
        case .created(let path, _):
            reply.path(path)
            reply.path("/")
        case .items(let paths):
            reply.paths(paths)
            // Of the service two lists: what is unlocked, and what is locked.
            if kind == .searchItems { reply.paths([]) }
        case .locked(let paths):
            if kind == .searchItems { reply.paths([]) }
            reply.paths(paths)
        case .properties(let properties):
            guard kind == .getProperties else {
                for property in properties { reply.variant(property.value) }
                break
            }
            reply.container("a", "{sv}") {
                for property in properties {
                    reply.container("e", "sv") {
                        reply.text(property.name)
                        reply.variant(property.value)
                    }
                }
            }
        case .secrets(let secrets):
            guard let session, write(secrets, session, reply, isMap: kind == .getSecrets) else {
                return call.fail(SecretServiceError.failed, "the secret cannot be given")
            }
        }
        if !reply.send() { call.fail(SecretServiceError.failed, "the answer cannot be written") }
    }

    private func write(
        _ secrets: [(path: String, secret: SecretServiceSecret)], _ session: SecretServiceEndpoint.Session,
        _ reply: BusReply, isMap: Bool
    ) -> Bool {
        var isWhole = true
        func add(_ secret: SecretServiceSecret) {
            let isSealed = session.cipher.withSealed(secret.value) { parameters, value in
                reply.container("r", "oayays") {
                    reply.path(session.path)
                    unsafe reply.bytes(parameters.span.bytes)
                    reply.bytes(value)
                    reply.text(secret.contentType)
                }
            }
            if !isSealed { isWhole = false }
        }
        guard isMap else {
            guard let only = secrets.first, secrets.count == 1 else { return false }
            add(only.secret)
            return isWhole
        }
        reply.container("a", "{o(oayays)}") {
            for one in secrets where isWhole {
                reply.container("e", "o(oayays)") {
                    reply.path(one.path)
                    add(one.secret)
                }
            }
        }
        return isWhole
    }
}

extension BusReply {
    func paths(_ paths: [String]) {
        container("a", "o") { for path in paths { self.path(path) } }
    }

    func variant(_ value: SecretServiceAnswer.Property) {
        switch value {
        case .paths(let paths): container("v", "ao") { self.paths(paths) }
        case .text(let text): container("v", "s") { self.text(text) }
        case .flag(let flag): container("v", "b") { self.flag(flag) }
        case .number(let number): container("v", "t") { self.number(number) }
        case .attributes(let attributes):
            container("v", "a{ss}") {
                container("a", "{ss}") {
                    for (name, value) in attributes.values {
                        container("e", "ss") {
                            text(String(decoding: name, as: UTF8.self))
                            text(String(decoding: value, as: UTF8.self))
                        }
                    }
                }
            }
        }
    }
}

/// What a thread found for a call.
enum SecretServiceAnswer: Sendable {
    /// Done, and nobody need be asked.
    case done
    case created(String, isNew: Bool)
    /// A property was set.
    case changed(String, Property)
    /// Paths of what was found.
    case items([String])
    /// What stands for items while the vault is locked.
    case locked([String])
    case secrets([(path: String, secret: SecretServiceSecret)])
    case properties([(name: String, value: Property)])
    /// What other ways into the vault have changed; nobody asked for it.
    case surveyed(SecretServiceSurvey, [SecretServiceSurvey.Change])

    /// The value of a property.
    enum Property: Sendable {
        case paths([String])
        case text(String)
        case flag(Bool)
        case number(UInt64)
        case attributes(SecretServiceAttributes)
    }
}

/// Errors as the bus names them (Secret Service API 0.2, chapter 6; D-Bus specification).
enum SecretServiceError {
    static let isLocked = "org.freedesktop.Secret.Error.IsLocked"
    static let noSession = "org.freedesktop.Secret.Error.NoSession"
    static let noSuchObject = "org.freedesktop.Secret.Error.NoSuchObject"
    static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
    static let limits = "org.freedesktop.DBus.Error.LimitsExceeded"
    static let notSupported = "org.freedesktop.DBus.Error.NotSupported"
    static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
    static let readOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
    static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
    static let noMemory = "org.freedesktop.DBus.Error.NoMemory"
    static let failed = "org.freedesktop.DBus.Error.Failed"

    static func name(of error: VaultError) -> String {
        switch error.code {
        case .locked: isLocked
        case .recordNotFound, .invalidName: noSuchObject
        case .notAllowed: accessDenied
        case .tooLarge: limits
        case .outOfMemory: noMemory
        default: failed
        }
    }
}
