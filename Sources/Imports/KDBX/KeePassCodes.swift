internal import Items
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

    /// What the codes are computed with, as an `otpauth://` text says it.
    private struct Settings {
        var isCounter = false
        var hash = "SHA1", digits = "6", step = "30", counter = "0"
        var isSteam = false

        /// What stands behind the key.
        var text: String {
            if isSteam { return "&digits=5&period=30&encoder=steam" }
            return "&algorithm=\(hash)&digits=\(digits)" + (isCounter ? "&counter=\(counter)" : "&period=\(step)")
        }
    }

    /// Adds the codes that are there, and uses the strings that they are made of.
    static func add(_ strings: inout KeePassStrings, to item: ImportedItem) throws(ImportError) {
        // KeePassXC's text, which has all settings in it; or that of KeeOtp.
        if let value = strings.take("otp") {
            try value.text?.withBytes { text throws(ImportError) in
                switch try KeeOtp(text) {
                case .none: try item.addCode(label(item), bytes(text))
                case .some(let other): try add(other, text, to: item)
                }
            }
        }
        // KeePassXC before 2.2 and KeeTrayTOTP: `30;6`, seconds and digits; `S` in place of the digits for Steam's
        // codes; a third part is the address of a clock.
        try add("TOTP Seed", .base32, ["TOTP Settings"], &strings, to: item) { values in
            guard let text = values("TOTP Settings") else { return Settings() }
            let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
            guard parts.count > 1 else { return nil }
            if parts[1] == "S" { return parts[0] == "30" ? Settings(isSteam: true) : nil }
            return Settings(digits: parts[1], step: parts[0])
        }
        for form in Form.allCases {
            let names = ["TimeOtp-Period", "TimeOtp-Length", "TimeOtp-Algorithm"]
            try add("TimeOtp-Secret\(form.rawValue)", form, names, &strings, to: item) { values in
                guard let hash = hash(values("TimeOtp-Algorithm")) else { return nil }
                return Settings(
                    hash: hash, digits: values("TimeOtp-Length") ?? "6", step: values("TimeOtp-Period") ?? "30")
            }
            try add("HmacOtp-Secret\(form.rawValue)", form, ["HmacOtp-Counter"], &strings, to: item) { values in
                Settings(isCounter: true, counter: values("HmacOtp-Counter") ?? "0")
            }
        }
    }

    /// Whether a string of this key has what codes are computed from, hidden or not.
    static func isSecret(_ key: String) -> Bool {
        key == "otp" || key == "TOTP Seed" || ["TimeOtp-Secret", "HmacOtp-Secret"].contains(where: key.hasPrefix)
    }

    /// A label that no other code of the item has.
    static func label(_ item: ImportedItem) -> String {
        let number = item.item.fields.count { $0.kind == .oneTimeCode || $0.label.hasPrefix("code") } + 1
        return number == 1 ? "code" : "code \(number)"
    }

    /// Adds the code, or else the key as a secret under its name; then the settings stay fields of their own.
    private static func add(
        _ name: String, _ form: Form, _ others: [String], _ strings: inout KeePassStrings, to item: ImportedItem,
        _ settings: ((String) -> String?) -> Settings?
    ) throws(ImportError) {
        guard let value = strings.value(name), value.text?.withBytes({ $0.byteCount > 0 }) ?? false else { return }
        let found = settings { name in
            let text = strings.value(name)?.openText ?? ""
            return text.isEmpty ? nil : text
        }
        try value.text?.withBytes { text throws(ImportError) in
            if let found, let code = try code(text, form, found) {
                for other in others { _ = strings.take(other) }
                try item.addCode(label(item), code)
            } else {
                try add(unknown: name, text, to: item)
            }
        }
        _ = strings.take(name)
    }

    private static func add(
        _ other: borrowing KeeOtp, _ text: RawSpan, to item: ImportedItem
    ) throws(ImportError) {
        guard let settings = other.settings,
            let code = try other.key.withBytes({ key throws(ImportError) in try code(key, other.form, settings) })
        else { return try add(unknown: "otp", text, to: item) }
        try item.addCode(label(item), code)
    }

    private static func add(
        unknown name: String, _ text: RawSpan, to item: ImportedItem
    ) throws(ImportError) {
        try item.add(.secret, name, bytes: text)
        item.note(.changed, ImportedItem.unknownCode)
    }

    /// The code's text; nil where the key or a setting is not understood.
    private static func code(_ text: RawSpan, _ form: Form, _ settings: Settings) throws(ImportError) -> SecretBytes? {
        guard (1...OneTimeCode.longestText).contains(text.byteCount) else { return nil }
        let key: SecretBytes?
        switch form {
        case .base32, .text: key = try bytes(text)
        case .hex: key = try Hex.decode(text)
        case .base64:
            let box = SecretBufferBox(limit: OneTimeCode.longestText)
            key = try box.appendBase64(text) ? try box.bytes() : nil
        }
        switch consume key {
        case .none: return nil
        case .some(let key):
            do throws(OneTimeCodeError) {
                // With the usual settings first: whatever form the key has, its text has it in base 32.
                let usual = form == .base32 ? try OneTimeCode(base32: key).text() : try OneTimeCode(key: key).text()
                return try OneTimeCode(parsing: with(settings, usual)).text()
            } catch { return nil }
        }
    }

    private static func with(
        _ settings: Settings, _ usual: borrowing SecretBytes
    ) throws(OneTimeCodeError) -> SecretBytes {
        do throws(SecretMemoryError) {
            var text = SecretBuffer()
            try text.append(settings.isCounter ? "otpauth://hotp" : "otpauth://totp")
            try usual.withBytes { usual throws(SecretMemoryError) in
                let start = "otpauth://totp".utf8.count
                let end = (start..<usual.byteCount).first { usual[$0] == UInt8(ascii: "&") } ?? usual.byteCount
                try text.append(usual.extracting(start..<end))
            }
            try text.append(settings.text)
            return try text.bytes()
        } catch { throw .memory(error) }
    }

    private static func bytes(_ text: RawSpan) throws(ImportError) -> SecretBytes {
        try memory(SecretBytes(copying: text))
    }

    private static func hash(_ name: String?) -> String? {
        switch name?.uppercased() ?? "" {
        case "", "HMAC-SHA-1", "SHA1": "SHA1"
        case "HMAC-SHA-256", "SHA256": "SHA256"
        case "HMAC-SHA-512", "SHA512": "SHA512"
        default: nil
        }
    }
}

extension KeePassCodes {
    /// The text of KeeOtp and KeeOtp2: `key=...&size=6&step=30&type=Totp&otpHashMode=Sha1&counter=0`, each value
    /// percent-encoded.
    private struct KeeOtp: ~Copyable {
        let key: SecretBytes
        let form: Form
        /// Nil where one is not understood.
        let settings: Settings?

        /// Nil for another text.
        init?(_ text: RawSpan) throws(ImportError) {
            guard text.byteCount <= OneTimeCode.longestText else { return nil }
            var key: SecretBytes?
            var values: [String: String] = [:]
            var start = 0
            while start <= text.byteCount {
                let end = (start..<text.byteCount).first { text[$0] == UInt8(ascii: "&") } ?? text.byteCount
                guard let equals = (start..<end).first(where: { text[$0] == UInt8(ascii: "=") }) else { return nil }
                let name = text.openText(start..<equals).lowercased()
                guard let value = try KeeOtp.decode(text.extracting(equals + 1..<end)) else { return nil }
                if name == "key" { key = consume value } else { values[name] = value.openText() }
                start = end + 1
            }
            switch consume key {
            case .none: return nil
            case .some(let found): self.key = found
            }
            form =
                switch values["encoding"]?.lowercased() ?? "" {
                case "base64": .base64
                case "hex": .hex
                case "utf8": .text
                default: .base32
                }
            settings = KeeOtp.settings(values)
        }

        private static func settings(_ values: [String: String]) -> Settings? {
            func value(_ name: String, _ usual: String) -> String {
                values[name].flatMap { $0.isEmpty ? nil : $0 } ?? usual
            }
            guard let hash = hash(value("otphashmode", "Sha1")) else { return nil }
            switch value("type", "Totp").lowercased() {
            case "totp": return Settings(hash: hash, digits: value("size", "6"), step: value("step", "30"))
            case "hotp":
                return Settings(
                    isCounter: true, hash: hash, digits: value("size", "6"), counter: value("counter", "0"))
            case "steam": return Settings(isSteam: true)
            default: return nil
            }
        }

        private static func decode(_ text: RawSpan) throws(ImportError) -> SecretBytes? {
            var plain = SecretBuffer()
            var position = 0
            while position < text.byteCount {
                var byte = text[position]
                position += 1
                if byte == UInt8(ascii: "%") {
                    guard position + 2 <= text.byteCount, let high = Hex.value(text[position]),
                        let low = Hex.value(text[position + 1])
                    else { return nil }
                    byte = high << 4 | low
                    position += 2
                }
                do throws(SecretMemoryError) { try plain.append(byte) } catch { throw ImportError(error) }
            }
            return try memory(plain.bytes())
        }
    }
}
