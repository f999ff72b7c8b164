internal import OneTimeCodes
internal import SecretMemory
internal import VaultFormat

/// One-time codes of an entry, in the forms of KeePass, KeePassXC and KeePass' plugins. A key whose settings are not
/// understood is kept as a secret: with other settings it would give wrong codes.
enum KeePassCodes {
    /// How a key is written.
    private enum Form: String, CaseIterable {
        case text = "", hex = "-Hex", base32 = "-Base32", base64 = "-Base64"
    }

    /// Adds the codes that are there.
    /// - Returns: The names of the fields that they were made of; they need not be added again.
    static func add(
        _ strings: [XMLNode], to item: ImportedItem
    ) throws(ImportError) -> Set<String> {
        var values: [String: XMLNode] = [:]
        for string in strings {
            guard let key = string["Key"]?.openText, let value = string["Value"], values[key] == nil else { continue }
            values[key] = value
        }
        var used: Set<String> = []
        // KeePassXC's text, which has all settings in it.
        if let value = values["otp"] {
            used.insert("otp")
            try value.text?.withBytes { text throws(ImportError) in
                try item.addCode("code", bytes(text))
            }
        }
        if let value = values["TOTP Seed"] {
            let settings = values["TOTP Settings"]?.openText ?? "30;6"
            let code = try code(value, .base32, moment: period(settings), digits: digits(settings), hash: .sha1)
            try add(code, value, ["TOTP Seed", "TOTP Settings"], to: item, &used)
        }
        for form in Form.allCases {
            if let value = values["TimeOtp-Secret\(form.rawValue)"] {
                let code = try code(
                    value, form, moment: number(values["TimeOtp-Period"], 30).map { .time(period: $0) },
                    digits: number(values["TimeOtp-Length"], 6), hash: hash(values["TimeOtp-Algorithm"]))
                let names = ["TimeOtp-Period", "TimeOtp-Length", "TimeOtp-Algorithm"]
                try add(code, value, ["TimeOtp-Secret\(form.rawValue)"] + names, to: item, &used)
            }
            if let value = values["HmacOtp-Secret\(form.rawValue)"] {
                let code = try code(
                    value, form, moment: number(values["HmacOtp-Counter"], UInt64(0)).map { .counter($0) }, digits: 6,
                    hash: .sha1)
                try add(code, value, ["HmacOtp-Secret\(form.rawValue)", "HmacOtp-Counter"], to: item, &used)
            }
        }
        return used
    }

    /// Adds the code, or else the key as a secret under the first name; then the settings stay fields of their own.
    private static func add(
        _ code: consuming SecretBytes?, _ value: XMLNode, _ names: [String], to item: ImportedItem,
        _ used: inout Set<String>
    ) throws(ImportError) {
        switch consume code {
        case .some(let text):
            used.formUnion(names)
            try item.addCode("code", text)
        case .none:
            used.insert(names[0])
            try value.text?.withBytes { text throws(ImportError) in try item.add(.secret, names[0], bytes: text) }
            item.note(.changed, ImportedItem.unknownCode)
        }
    }

    /// The code's text; nil where the key or a setting is not understood.
    private static func code(
        _ value: XMLNode, _ form: Form, moment: OneTimeCode.Moment?, digits: Int?, hash: OneTimeCode.Hash?
    ) throws(ImportError) -> SecretBytes? {
        guard let moment, let digits, let hash else { return nil }
        return try value.text?.withBytes { text throws(ImportError) -> SecretBytes? in
            guard (1...OneTimeCode.longestText).contains(text.byteCount) else { return nil }
            let key: SecretBytes?
            switch form {
            case .base32: key = try bytes(text)
            case .text: key = try bytes(text)
            case .hex: key = try Hex.decode(text)
            case .base64:
                let box = SecretBufferBox(limit: OneTimeCode.longestText)
                key = try box.appendBase64(text) ? try box.bytes() : nil
            }
            switch consume key {
            case .none: return nil
            case .some(let key):
                do throws(OneTimeCodeError) {
                    guard form != .base32 else {
                        return try OneTimeCode(base32: key, hash: hash, characters: .digits(digits), moment: moment)
                            .text()
                    }
                    return try OneTimeCode(key: key, hash: hash, characters: .digits(digits), moment: moment).text()
                } catch { return nil }
            }
        } ?? nil
    }

    private static func bytes(_ text: RawSpan) throws(ImportError) -> SecretBytes {
        try memory(SecretBytes(copying: text))
    }

    /// `30;6`: seconds, then digits; a third part is the address of a clock. Letters in place of digits are another
    /// kind of codes.
    private static func period(_ settings: String) -> OneTimeCode.Moment? {
        settings.split(separator: ";", omittingEmptySubsequences: false).first.flatMap { Int($0) }
            .map { .time(period: $0) }
    }

    private static func digits(_ settings: String) -> Int? {
        let parts = settings.split(separator: ";", omittingEmptySubsequences: false)
        return parts.count > 1 ? Int(parts[1]) : nil
    }

    /// A setting that may be missing; nil for one that is no number.
    private static func number<T: FixedWidthInteger>(_ node: XMLNode?, _ usual: T) -> T? {
        guard let text = node?.openText, !text.isEmpty else { return usual }
        return T(text)
    }

    private static func hash(_ node: XMLNode?) -> OneTimeCode.Hash? {
        switch node?.openText ?? "" {
        case "", "HMAC-SHA-1": .sha1
        case "HMAC-SHA-256": .sha256
        case "HMAC-SHA-512": .sha512
        default: nil
        }
    }
}
