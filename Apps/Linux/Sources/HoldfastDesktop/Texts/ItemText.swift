import GtkKit
import Holdfast
import HoldfastUI

/// Kinds, fields and what is wrong with them, in the user's words.
enum ItemText {
    /// One of a kind.
    static func name(_ kind: ItemKind) -> String {
        switch kind {
        case .login: tr("Login")
        case .note: tr("Note")
        case .card: tr("Card")
        case .identity: tr("Personal Data")
        case .sshKey: tr("SSH Key")
        case .oneTimeCode: tr("One-Time Code")
        case .file: tr("File")
        case .value: tr("Plain Value")
        default: tr("Item")
        }
    }

    /// All of a kind.
    static func plural(_ kind: ItemKind) -> String {
        switch kind {
        case .login: tr("Logins")
        case .note: tr("Notes")
        case .card: tr("Cards")
        case .identity: tr("Personal Data")
        case .sshKey: tr("SSH Keys")
        case .oneTimeCode: tr("One-Time Codes")
        case .file: tr("Files")
        case .value: tr("Plain Values")
        default: tr("Other Items")
        }
    }

    static func icon(_ kind: ItemKind?) -> String {
        switch kind {
        case .login: "dialog-password-symbolic"
        case .note: "document-edit-symbolic"
        case .card: "auth-smartcard-symbolic"
        case .identity: "avatar-default-symbolic"
        case .sshKey: "utilities-terminal-symbolic"
        case .oneTimeCode: "alarm-symbolic"
        case .file: "text-x-generic-symbolic"
        default: "channel-secure-symbolic"
        }
    }

    static func name(_ kind: FieldKind) -> String {
        switch kind {
        case .secret: tr("Secret")
        case .text: tr("Text")
        case .url: tr("Address")
        case .oneTimeCode: tr("One-Time Code")
        case .date: tr("Date")
        default: tr("File")
        }
    }

    /// What a field is called: those that every program names alike in the user's language, others as they are.
    static func label(_ label: String) -> String {
        switch label {
        case "username": tr("User Name")
        case "password": tr("Password")
        case "website": tr("Website")
        case "code": tr("Code")
        case "holder": tr("Holder")
        case "number": tr("Number")
        case "expires": tr("Expires")
        case "security code": tr("Security Code")
        case "PIN": tr("PIN")
        case "name": tr("Name")
        case "email": tr("Email")
        case "phone": tr("Phone")
        case "address": tr("Address")
        case "born": tr("Date of Birth")
        case "passphrase": tr("Passphrase")
        case "public key": tr("Public Key")
        case "private key": tr("Private Key")
        case "file": tr("File")
        case "value": tr("Value")
        default: label
        }
    }

    static func of(_ refusal: ItemDraft.Refusal) -> String {
        switch refusal {
        case .code: tr("A one-time code is an otpauth:// address, or the key that the service shows.")
        case .date: tr("A date looks like 2031-12-24 or 2031-12.")
        case .label: tr("A field has a label, a label has at most 255 bytes, and a tag at most 64.")
        case .other(let problem): ProblemText.of(problem)
        }
    }

    static func of(_ section: VaultSection) -> (name: String, icon: String) {
        switch section {
        case .all: (tr("All Items"), "view-list-symbolic")
        case .favourites: (tr("Favourites"), "starred-symbolic")
        case .kind(let kind): (plural(kind), icon(kind))
        case .collection(Vault.defaultCollection): (tr("No Folder"), "folder-symbolic")
        case .collection(let name): (name, "folder-symbolic")
        case .tag(let tag): ("#\(tag)", "user-bookmarks-symbolic")
        }
    }
}
