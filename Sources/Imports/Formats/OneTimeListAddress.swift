internal import OneTimeCodes
internal import SecretMemory
internal import VaultFormat

/// The address of a one-time code, and what else a program wrote into it.
struct OneTimeListAddress: ~Copyable {
    /// The address with the parameters that belong to the code.
    private let text: SecretBytes
    /// What an item is called whose code is not understood: by its label, else by its issuer. Where no parameter is the
    /// key, the label may be it.
    let name: String
    /// Ente's settings of the entry, in JSON.
    let display: SecretBytes?
    /// Other parameters that say something, each as a note calls it.
    let others: [String]

    private static let known: Set = ["secret", "issuer", "algorithm", "digits", "period", "counter", "encoder"]
    /// Pictures and colours of the entry in a list.
    private static let meaningless: Set = ["image", "icon", "color"]

    /// Parameters, at most.
    private static let mostParameters = 64

    /// - Parameter place: Where the line is.
    init(_ line: RawSpan, _ place: String) throws(ImportError) {
        var end = 0
        while end < line.byteCount, line[end] != UInt8(ascii: "?") { end += 1 }
        let label = OneTimeListAddress.label(line, end)
        var issuer = ""
        var hasKey = false
        let text = SecretBufferBox(limit: line.byteCount + 1)
        try text.append(line.extracting(0..<end))
        var display: SecretBytes?
        var others: [String] = []
        var separator = UInt8(ascii: "?")
        var count = 0
        while end < line.byteCount {
            let start = end + 1
            end = start
            while end < line.byteCount, line[end] != UInt8(ascii: "&") { end += 1 }
            count += 1
            guard count <= OneTimeListAddress.mostParameters else {
                throw .malformed(place, "there are more than \(OneTimeListAddress.mostParameters) parameters")
            }
            var equals = start
            while equals < end, line[equals] != UInt8(ascii: "=") { equals += 1 }
            let isNamed = OneTimeListAddress.isName(line.extracting(start..<equals)) && equals < end
            let name = isNamed ? line.openText(start..<equals) : ""
            let hasValue = equals + 1 < end
            if name.lowercased() == "codedisplay" {
                display = try OneTimeListAddress.form(line.extracting(equals + 1..<end))
                if display == nil { others.append("the parameter \(name)") }
            } else if OneTimeListAddress.known.contains(name.lowercased()) {
                try text.append(separator)
                try text.append(line.extracting(start..<end))
                separator = UInt8(ascii: "&")
                if name.lowercased() == "secret", hasValue { hasKey = true }
                if name.lowercased() == "issuer", hasValue {
                    issuer = try OneTimeListAddress.form(line.extracting(equals + 1..<end))?.openText() ?? ""
                }
            } else if !isNamed, start < end {
                others.append("a parameter")
            } else if hasValue, !OneTimeListAddress.meaningless.contains(name.lowercased()) {
                others.append("the parameter \(name)")
            }
        }
        let proper = hasKey ? label.flatMap { try? PercentCoding.text(line.extracting($0), or: .label) } ?? "" : ""
        self.text = try text.bytes()
        name = [proper, issuer].first { !$0.isEmpty } ?? "unnamed"
        self.display = display
        self.others = others
    }

    /// Where the label is, between the kind of the code and the parameters; nil where the place of the kind is all that
    /// there is.
    private static func label(_ line: RawSpan, _ end: Int) -> Range<Int>? {
        if line.begins(inAnyCase: "steam://") { return nil }
        var slash = end
        while slash > 0, line[slash - 1] != UInt8(ascii: "/") { slash -= 1 }
        return line.begins(inAnyCase: "otpauth://") && slash <= "otpauth://".utf8.count ? nil : slash..<end
    }

    /// Whether a text is what parameters are called: anything else may be a secret that lost its place.
    private static func isName(_ text: RawSpan) -> Bool {
        1...32 ~= text.byteCount
            && (0..<text.byteCount).allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[$0] | 0x20) }
    }

    /// Issuer and account, and the text of the code; nil for one that is not understood.
    func code() throws(ImportError) -> OneTimeListCode? {
        do throws(OneTimeCodeError) {
            let code = try OneTimeCode(parsing: text)
            return OneTimeListCode(path: [code.issuer, code.account], text: try code.text())
        } catch .memory(let error) { throw ImportError(error) } catch { return nil }
    }

    /// Adds what Ente knows of the entry.
    /// - Returns: False for an entry in Ente's trash.
    func addDisplay(to item: ImportedItem) throws(ImportError) -> Bool {
        switch display {
        case .none: return true
        case .some(let display):
            do throws(ImportError) { return try EnteDisplay.read(memory(display.copy()), into: item) } catch {
                guard error.kind == .malformed else { throw error }
                item.note(.leftOut, "the parameter codeDisplay")
                return true
            }
        }
    }

    /// What a value of a form stands for: a plus sign is a space.
    private static func form(_ value: RawSpan) throws(ImportError) -> SecretBytes? {
        let spaced = SecretBufferBox(limit: value.byteCount + 1)
        for offset in 0..<value.byteCount {
            try spaced.append(value[offset] == UInt8(ascii: "+") ? 32 : value[offset])
        }
        return try spaced.bytes().withBytes(decoded)
    }

    /// What a value stands for; nil for one that is not percent-encoded as it should be.
    static func decoded(_ value: RawSpan) throws(ImportError) -> SecretBytes? {
        do throws(OneTimeCodeError) { return try PercentCoding.decode(value, or: .parameters) } catch .memory(let error)
        {
            throw ImportError(error)
        } catch { return nil }
    }
}

/// A code of a list that was understood.
struct OneTimeListCode: ~Copyable {
    let path: [String]
    let text: SecretBytes
}

/// What Ente Auth knows of an entry beside its code: the parameter `codeDisplay`.
enum EnteDisplay {
    /// How often and when a code was used, its place in the list and its picture.
    private static let meaningless: Set = ["lastUsedAt", "tapCount", "position", "iconSrc", "iconID"]

    /// - Returns: False for an entry in Ente's trash.
    static func read(_ json: consuming SecretBytes, into item: ImportedItem) throws(ImportError) -> Bool {
        let document = try JSONDocument(json)
        let root = document.root
        if root["trashed"]?.isTrue ?? false { return false }
        if root["pinned"]?.isTrue ?? false { item.favour() }
        for tag in root["tags"]?.elements ?? [] { if let tag = try document.text(tag) { item.addTag(tag) } }
        if let note = try document.string(root["note"]) { try item.addNotes(note) }
        document.noteUnread(in: root, of: item, except: meaningless)
        return true
    }
}
