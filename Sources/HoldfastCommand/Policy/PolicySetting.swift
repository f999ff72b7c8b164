internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

/// One `KEY=VALUE` of `lock-policy set`, understood.
struct PolicySetting {
    let key: String
    private let change: (inout VaultPolicy) -> Void

    func apply(to policy: inout VaultPolicy) { change(&policy) }

    /// Keys as they are shown; `minimum.` takes a collection behind it.
    static let keys = Words.settings.map(\.1) + [minimum]
    private static let minimum = "minimum."

    /// What a setting begins with, for a shell's completion.
    static let beginnings = keys.map { $0 == minimum ? $0 : $0 + "=" }

    /// - Throws: A usage error that names key, value and what is allowed; what reading a policy's file throws.
    init(_ word: String) throws(CommandError) {
        guard let sign = word.firstIndex(of: "=") else {
            throw .usage("\(Escaping.name(word)): a setting is KEY=VALUE; keys are \(PolicySetting.keyList)")
        }
        let key = Words.settingName(String(word[..<sign]))
        self.key = key
        change = try PolicySetting.change(key, String(word[word.index(after: sign)...]))
    }

    /// Several settings; each key once.
    static func parse(_ words: [String]) throws(CommandError) -> [PolicySetting] {
        var settings: [PolicySetting] = []
        for word in words {
            let setting = try PolicySetting(word)
            guard !settings.contains(where: { $0.key == setting.key }) else {
                throw .usage("\(Escaping.name(Words.setting(setting.key))) is repeated")
            }
            settings.append(setting)
        }
        guard !settings.isEmpty else { throw .usage("KEY=VALUE is missing; keys are \(keyList)") }
        return settings
    }

    private static var keyList: String {
        keys.map { $0 == minimum ? minimum + "COLLECTION" : $0 }.joined(separator: ", ")
    }

    private static func change(_ key: String, _ value: String) throws(CommandError) -> (inout VaultPolicy) -> Void {
        switch key {
        case "padlock":
            let isOn = try onOff(key, value)
            return { $0.isLockEnabled = isOn }
        case "useFaceID":
            let isOn = try onOff(key, value)
            return { $0.usesBiometrics = isOn }
        case "countBiometricFailures":
            let isOn = try onOff(key, value)
            return { $0.countsBiometricFailures = isOn }
        case "attemptLimit":
            guard let limit = number(value), (3...10).contains(limit) else { throw refused(key, value, "3 to 10") }
            return { $0.attemptLimit = limit }
        case "delays":
            let delays = try delays(key, value)
            return { $0.delays = delays }
        case "lockTiming":
            guard let timing = LockTiming(word: value) else { throw refused(key, value, LockTiming.allowed) }
            return { $0.lockTiming = timing }
        case "remember":
            guard value == "never" || value == "allowed" else { throw refused(key, value, "never, allowed") }
            return { $0.remembersPasscode = value == "allowed" }
        case "fallback":
            let fallback = try fallback(key, value)
            return { $0.fallback = fallback }
        case "selfDestruct", "selfDestructCountdown", "self-destruct":
            throw .usage("\(key) cannot be set here; use holdfast self-destruct, which has a countdown")
        case let key where key.hasPrefix(minimum):
            return try collectionMinimum(key, value)
        default:
            throw .usage(
                "unknown setting \(Escaping.name(key)); keys are \(keyList)" + Suggestion.hint(key, keys))
        }
    }

    private static func collectionMinimum(
        _ key: String, _ value: String
    ) throws(CommandError) -> (inout VaultPolicy) -> Void {
        let collection = String(key.dropFirst(minimum.count))
        guard collection.utf8.count <= RecordName.maximumCollectionSize else {
            throw .usage("\(minimum): a collection's name has at most \(RecordName.maximumCollectionSize) bytes")
        }
        guard let assurance = Assurance.allCases.first(where: { value == $0.name || value == Words.typed($0.name) })
        else {
            throw refused(key, value, Assurance.allCases.map { Words.typed($0.name) }.joined(separator: ", "))
        }
        return { $0.collectionMinima[collection] = assurance == .none ? nil : assurance }
    }

    private static func onOff(_ key: String, _ value: String) throws(CommandError) -> Bool {
        guard value == "on" || value == "off" else { throw refused(key, value, "on, off") }
        return value == "on"
    }

    private static func delays(_ key: String, _ value: String) throws(CommandError) -> [UInt32] {
        let parts = value.split(separator: ",", omittingEmptySubsequences: false).map { number(String($0)) }
        let delays = parts.compactMap { $0.flatMap(UInt32.init(exactly:)) }
        guard delays.count == parts.count, (1...16).contains(delays.count), delays.allSatisfy({ $0 <= 3600 }),
            delays == delays.sorted()
        else {
            throw refused(
                key, value,
                "1 to 16 numbers of seconds up to 3600, separated by commas, none smaller than the one before")
        }
        return delays
    }

    private static func fallback(_ key: String, _ value: String) throws(CommandError) -> FallbackPolicy {
        let preset = FallbackPolicy.presets.first { [$0.name, Words.typed($0.name)].contains(value) }
        if let preset { return preset.policy }
        guard value.hasPrefix("@"), value.count > 1 else {
            let allowed = FallbackPolicy.presets.map { Words.typed($0.name) } + ["@FILE"]
            throw refused(key, value, allowed.joined(separator: ", "))
        }
        let path = String(value.dropFirst())
        let text = try TextFile.read(path, limit: 65_536)
        do throws(FallbackPolicyError) {
            return try FallbackPolicy(json: text)
        } catch {
            throw CommandError(.usage, code: .invalidPolicy, "\(key)=@\(Escaping.sentence(path)): \(error)")
        }
    }

    /// Decimal digits only, so that a sign or a space is not taken for a number.
    static func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    private static func refused(_ key: String, _ value: String, _ allowed: String) -> CommandError {
        .usage("\(Escaping.name(Words.setting(key)))=\(Escaping.name(value)): allowed: \(allowed)")
    }
}

/// A small file that the command line names; no secret.
enum TextFile {
    /// - Throws: A failure when it cannot be read or has more than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(CommandError) -> [UInt8] {
        do throws(SystemError) {
            if let bytes = try OwnedDescriptor(path, O_RDONLY | O_NOCTTY).readAll(limit: limit) { return bytes }
        } catch { throw .failure(.input, "\(Escaping.sentence(path)) cannot be read: \(error)") }
        throw .failure(.input, "\(Escaping.sentence(path)) has more than \(limit) bytes")
    }
}
