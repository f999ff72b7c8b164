#if canImport(SwiftUI)
internal import HoldfastUI
internal import SwiftUI
internal import VaultFormat

/// Keys of the items' words in `Localizable.strings`.
enum ItemText {
    static func kind(_ kind: ItemKind) -> LocalizedStringKey {
        switch kind {
        case .login: "item.kind.login"
        case .note: "item.kind.note"
        case .card: "item.kind.card"
        case .identity: "item.kind.identity"
        case .sshKey: "item.kind.sshKey"
        case .oneTimeCode: "item.kind.oneTimeCode"
        case .file: "item.kind.file"
        case .value: "item.kind.value"
        default: "item.kind.other"
        }
    }

    /// Of a field as templates name it, which all programs find it by; nil for a label of the user's own.
    static func label(_ label: String) -> LocalizedStringKey? {
        switch label {
        case "username": "item.label.username"
        case "password": "item.label.password"
        case "website": "item.label.website"
        case "code": "item.label.code"
        case "holder": "item.label.holder"
        case "number": "item.label.number"
        case "expires": "item.label.expires"
        case "security code": "item.label.securityCode"
        case "PIN": "lock.pin"
        case "name": "item.label.name"
        case "email": "item.label.email"
        case "phone": "item.label.phone"
        case "address": "item.label.address"
        case "born": "item.label.born"
        case "passphrase": "item.label.passphrase"
        case "public key": "item.label.publicKey"
        case "private key": "item.label.privateKey"
        default: nil
        }
    }

    static func key(_ refusal: ItemDraft.Refusal) -> LocalizedStringKey {
        switch refusal {
        case .code: "item.refused.code"
        case .date: "item.refused.date"
        case .label: "item.refused.label"
        case .other(let problem): ProblemText.key(problem)
        }
    }
}
#endif
