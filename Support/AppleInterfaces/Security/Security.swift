import AppleScripting
import Foundation

// Toll-free bridging, as far as `as` needs it: Foundation on Linux converts these with `as` too.
public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFData = NSData
public typealias CFAllocator = AnyObject
public typealias CFError = NSError  // Apple: conforms to Error and bridges to NSError, so `as any Error` works there too
public typealias CFOptionFlags = UInt
public typealias OSStatus = Int32
public var kCFAllocatorDefault: CFAllocator! { nil }

public let errSecSuccess: OSStatus = 0
public let errSecParam: OSStatus = -50
public let errSecAllocate: OSStatus = -108
public let errSecUserCanceled: OSStatus = -128
public let errSecNotAvailable: OSStatus = -25291
public let errSecAuthFailed: OSStatus = -25293
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecInteractionRequired: OSStatus = -25315
public let errSecDecode: OSStatus = -26275
public let errSecMissingEntitlement: OSStatus = -34018

// Constants on Apple; computed here, because a global of a class is no safe one in Swift.
private func constant(_ text: String) -> CFString { NSString(string: text) }
public var kSecClass: CFString { constant("class") }
public var kSecClassGenericPassword: CFString { constant("genp") }
public var kSecAttrService: CFString { constant("svce") }
public var kSecAttrAccount: CFString { constant("acct") }
public var kSecAttrAccessGroup: CFString { constant("agrp") }
public var kSecAttrSynchronizable: CFString { constant("sync") }
public var kSecAttrSynchronizableAny: CFString { constant("syna") }
public var kSecAttrAccessible: CFString { constant("pdmn") }
public var kSecAttrAccessControl: CFString { constant("accc") }
public var kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString { constant("aku") }
public var kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString { constant("akpu") }
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { constant("cku") }
public var kSecUseDataProtectionKeychain: CFString { constant("nleg") }
public var kSecUseAuthenticationContext: CFString { constant("u_AuthCtx") }
public var kSecReturnData: CFString { constant("r_Data") }
public var kSecMatchLimit: CFString { constant("m_Limit") }
public var kSecMatchLimitOne: CFString { constant("m_LimitOne") }
public var kSecValueData: CFString { constant("v_Data") }

public typealias SecRandomRef = OpaquePointer
public var kSecRandomDefault: SecRandomRef? { nil }

public func SecRandomCopyBytes(_ generator: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    if let status = ScriptedDevice.current.with({ ScriptedDevice.noteCall("SecRandomCopyBytes", &$0) }) {
        return status
    }
    var system = SystemRandomNumberGenerator()
    for index in 0..<count { bytes.storeBytes(of: system.next(), toByteOffset: index, as: UInt8.self) }
    return errSecSuccess
}

public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: CFOptionFlags
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
    public static let userPresence = Self(rawValue: 1 << 0)
    public static let biometryAny = Self(rawValue: 1 << 1)
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    public static let devicePasscode = Self(rawValue: 1 << 4)
    public static let or = Self(rawValue: 1 << 14)
    public static let and = Self(rawValue: 1 << 15)
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    public static let applicationPassword = Self(rawValue: 1 << 31)
}

/// Opaque and not `Sendable`, as on Apple.
public final class SecAccessControl {
    public let protection: NSString  // ours
    public let flags: SecAccessControlCreateFlags  // ours
    package let enrollment: Data?
    init(protection: NSString, flags: SecAccessControlCreateFlags) {
        self.protection = protection
        self.flags = flags
        self.enrollment = ScriptedDevice.current.with(\.enrollment)
    }
}

public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    let status = ScriptedDevice.current.with { ScriptedDevice.noteCall("SecAccessControlCreateWithFlags", &$0) }
    let constraints = flags.intersection([.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode])
    let isAmbiguous = constraints.rawValue.nonzeroBitCount > 1 && flags.isDisjoint(with: [.or, .and])
    guard status == nil, let protection = protection as? NSString, !isAmbiguous, !flags.isSuperset(of: [.or, .and])
    else {
        error?.pointee = Unmanaged.passRetained(
            NSError(domain: "NSOSStatusErrorDomain", code: Int(status ?? errSecParam)))
        return nil
    }
    return SecAccessControl(protection: protection, flags: flags)
}

// MARK: The keychain

private let identity = ["class", "svce", "acct", "agrp"]

private func matches(_ item: [String: Any], _ query: [String: Any]) -> Bool {
    identity.allSatisfy { key in query[key].map { ($0 as? String) == (item[key] as? String) } ?? true }
}

private func dictionary(_ query: CFDictionary) -> [String: Any] {
    var result: [String: Any] = [:]
    for case let (key, value) as (String, Any) in query { result[key] = value }
    return result
}

/// What every query of ours must say, or a Mac takes the old file keychain.
private func isGood(_ query: [String: Any]) -> Bool { query["class"] != nil && query["nleg"] as? Bool == true }

private func locked(_ item: [String: Any], _ state: ScriptedDevice.State) -> Bool {
    let name = (item["accc"] as? SecAccessControl)?.protection as String? ?? item["pdmn"] as? String
    return !state.protectedDataAvailable && name != "cku"
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let new = dictionary(attributes)
    return ScriptedDevice.current.withItems { items, state in
        if let status = ScriptedDevice.noteCall("SecItemAdd", &state) { return status }
        guard isGood(new), new["v_Data"] is Data else { return errSecParam }
        if (new["accc"] != nil) == (new["pdmn"] != nil) { return errSecParam }
        if (new["accc"] as? SecAccessControl)?.protection == "akpu", !state.passcodeSet { return errSecAuthFailed }
        if locked(new, state) { return errSecInteractionNotAllowed }
        if items.contains(where: { item in identity.allSatisfy { (item[$0] as? String) == (new[$0] as? String) } }) {
            return errSecDuplicateItem
        }
        items.append(new.filter { !$0.key.hasPrefix("u_") })
        return errSecSuccess
    }
}

/// Whether an item is given out, changed or told to be there. "If this key is not specified, and if the item requires
/// authentication, a new context will be created" (kSecUseAuthenticationContext): then the system asks by itself.
private func release(_ item: [String: Any], _ query: [String: Any]) -> OSStatus {
    guard let control = item["accc"] as? SecAccessControl else { return errSecSuccess }
    let flags = control.flags
    // The system gives up what the changed enrollment was to release; a passcode beside it still does.
    let isStale = flags.contains(.biometryCurrentSet) && control.enrollment != ScriptedDevice.current.with(\.enrollment)
    let passcode = !flags.isDisjoint(with: [.userPresence, .devicePasscode])
    if isStale, !passcode { return errSecItemNotFound }
    let biometrics = !isStale && !flags.isDisjoint(with: [.userPresence, .biometryAny, .biometryCurrentSet])
    guard let context = query["u_AuthCtx"] as? any ScriptedAuthentication else {
        return ScriptedDevice.current.askByKeychain("")
    }
    return context.satisfy(biometrics: biometrics, passcode: passcode)
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let query = dictionary(query)
    let (status, found) = ScriptedDevice.current.withItems { items, state -> (OSStatus, [String: Any]?) in
        if let status = ScriptedDevice.noteCall("SecItemCopyMatching", &state) { return (status, nil) }
        guard isGood(query) else { return (errSecParam, nil) }
        guard let item = items.first(where: { matches($0, query) }) else { return (errSecItemNotFound, nil) }
        if locked(item, state) { return (errSecInteractionNotAllowed, nil) }
        return (errSecSuccess, item)
    }
    guard status == errSecSuccess, let found else { return status }
    let answer = release(found, query)
    if answer != errSecSuccess { return answer }
    guard query["r_Data"] as? Bool == true else { return errSecSuccess }
    result?.pointee = (found["v_Data"] as? Data).map { NSData(data: $0) }
    return errSecSuccess
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    let (query, change) = (dictionary(query), dictionary(attributesToUpdate))
    let found = ScriptedDevice.current.withItems { items, state in
        items.first { isGood(query) && matches($0, query) && !locked($0, state) }
    }
    if let found {
        let answer = release(found, query)
        if answer != errSecSuccess { return answer }
    }
    return ScriptedDevice.current.withItems { items, state in
        if let status = ScriptedDevice.noteCall("SecItemUpdate", &state) { return status }
        guard isGood(query),
            !query.keys.contains(where: { $0.hasPrefix("r_") || $0.hasPrefix("v_") || $0.hasPrefix("m_") })
        else { return errSecParam }
        guard let index = items.firstIndex(where: { matches($0, query) }) else { return errSecItemNotFound }
        if locked(items[index], state) { return errSecInteractionNotAllowed }
        items[index].merge(change) { $1 }
        return errSecSuccess
    }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    let query = dictionary(query)
    return ScriptedDevice.current.withItems { items, state in
        if let status = ScriptedDevice.noteCall("SecItemDelete", &state) { return status }
        guard isGood(query) else { return errSecParam }
        let before = items.count
        items.removeAll { matches($0, query) }
        return items.count == before ? errSecItemNotFound : errSecSuccess
    }
}
