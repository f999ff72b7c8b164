internal import Items
internal import SecretMemory
internal import VaultFormat

/// Earlier versions of an entry. Each is the whole entry as it was: what differs from the next one was changed then.
extension KeePassEntries {
    private enum Earlier {
        /// A string that the next version has otherwise.
        case string(XMLNode, key: String, of: XMLNode, replaced: Int64?)
        /// What we kept, exactly.
        case ours(KeePassLayout.Field, of: XMLNode)
    }

    private static let knownOfVersions = meaningless.union([
        "Binary", "Tags", "OverrideURL", "AutoType", "CustomData", "String",
    ])

    func addHistory(of node: XMLNode, _ times: XMLNode?, to item: ImportedItem) throws(ImportError) {
        let versions = node["History"]?.all("Entry") ?? []
        guard !versions.isEmpty else { return }
        let current = Set(node.all("Binary").map(KeePassEntries.attachment))
        var earlier: [Earlier] = []
        for (index, version) in versions.enumerated() {
            let next = index + 1 < versions.count ? versions[index + 1] : node
            note(version, next, current, to: item)
            if let field = ours(version) {
                earlier.append(.ours(field, of: version))
                continue
            }
            let replaced = KeePassTree.time(next["Times"]?["LastModificationTime"])
            let after = KeePassStrings(next)
            for (key, value) in KeePassStrings(version).others where !KeePassEntries.isSame(value, after.value(key)) {
                earlier.append(.string(value, key: key, of: version, replaced: replaced))
            }
        }
        if earlier.count > ItemLimits.history {
            item.note(.leftOut, "earlier values, the oldest of more than \(ItemLimits.history)")
        }
        for one in earlier.suffix(ItemLimits.history) {
            try item.part { () throws(ImportError) in try add(one, to: item) }
        }
    }

    private static func isSame(_ value: XMLNode, _ other: XMLNode?) -> Bool {
        let isEmpty = value.text?.withBytes { $0.byteCount == 0 } ?? true
        // An empty value is none that was lost.
        return isEmpty || value.text?.withBytes { text in other?.text?.isEqual(to: text) ?? false } ?? true
    }

    /// An attachment's name and where it is.
    private static func attachment(_ binary: XMLNode) -> String {
        (binary["Key"]?.openText ?? "") + "\n" + (binary["Value"]?.attributes["Ref"] ?? "")
    }

    /// Says what of a version is not kept.
    private func note(_ version: XMLNode, _ next: XMLNode, _ current: Set<String>, to item: ImportedItem) {
        if ours(version) == nil {
            if !version.all("Binary").allSatisfy({ current.contains(KeePassEntries.attachment($0)) }) {
                item.note(.leftOut, "attachments of earlier versions")
            }
            let (old, new) = (KeePassTags(version["Tags"]), KeePassTags(next["Tags"]))
            if old.isCut || new.isCut || Set(old.all) != Set(new.all) {
                item.note(.leftOut, "tags of earlier versions")
            }
            for name in ["OverrideURL", "AutoType"] where !(version[name]?.isSame(as: next[name]) ?? true) {
                item.note(.leftOut, "auto-type and addresses that stand in for others, of earlier versions")
            }
        }
        for path in version.unread(except: KeePassEntries.knownOfVersions) {
            item.note(.leftOut, KeePassEntries.unknown("History.\(path)"))
        }
        version.markRead()
    }

    private func ours(_ version: XMLNode) -> KeePassLayout.Field? {
        let data = version["CustomData"]?.all("Item").first { $0["Key"]?.openText == KeePassLayout.earlierKey }
        guard let value = data?["Value"], value.text?.withBytes({ $0.byteCount <= 4096 }) ?? false else { return nil }
        return KeePassLayout("field " + value.openText)?.fields.first
    }

    private func add(_ earlier: Earlier, to item: ImportedItem) throws(ImportError) {
        switch earlier {
        case .string(let value, let key, let version, let replaced):
            let (kind, label) = KeePassEntries.meaning(key, value)
            guard kind != .oneTimeCode else { return try add(value, kind, label, replaced, to: item) }
            switch try references.resolve(value, of: version) {
            case .plain: try add(value, kind, label, replaced, to: item)
            case .unresolved:
                item.note(.changed, KeePassEntries.unresolved)
                try add(value, kind, label, replaced, to: item)
            case .resolved(let found):
                let isProtected = found.isProtected && kind.isOpen
                try found.text.withBytes { text throws(ImportError) in
                    try add(text, isProtected ? .secret : kind, label, replaced, to: item)
                }
            }
        case .ours(let field, let version):
            if field.place == .content || field.place == .file {
                return try addFile(field, version, to: item)
            }
            guard let value = KeePassStrings(version).value(field.key) else { return }
            try add(value, value.kind(field.kind), field.label, field.replaced, to: item)
        }
    }

    private func add(
        _ value: XMLNode, _ kind: FieldKind, _ label: String, _ replaced: Int64?, to item: ImportedItem
    ) throws(ImportError) {
        try value.text?.withBytes { text throws(ImportError) in try add(text, kind, label, replaced, to: item) }
    }

    private func add(
        _ value: RawSpan, _ kind: FieldKind, _ label: String, _ replaced: Int64?, to item: ImportedItem
    ) throws(ImportError) {
        let before = item.item.history.count
        try item.addEarlier(
            ItemValue.isValid(value, kind) ? kind : .secret, label, bytes: value, replaced: replaced)
        if value.byteCount > 0, item.item.history.count <= before {
            item.note(.leftOut, "earlier values that an entry has no room for")
        }
    }

    /// Adds what was replaced in an attachment of an earlier version.
    private func addFile(
        _ field: KeePassLayout.Field, _ version: XMLNode, to item: ImportedItem
    ) throws(ImportError) {
        let binary = version.all("Binary").first { $0["Key"]?.openText == field.key }
        guard let binary else { return }
        try withContent(of: binary, for: item) { content throws(ImportError) in
            guard field.place == .file else {
                let kind = binary["Value"]?.kind(field.kind) ?? field.kind
                return try add(content, kind, field.label, field.replaced, to: item)
            }
            let value = try KeePassLayout.fileValue(field, content)
            try value.withBytes { value throws(ImportError) in
                try add(value, field.kind, field.label, field.replaced, to: item)
            }
        }
    }

    /// What a string of an earlier version was here.
    private static func meaning(_ key: String, _ value: XMLNode) -> (FieldKind, String) {
        let hidden: FieldKind = value.isProtected ? .secret : .text
        return switch key {
        case "Title": (hidden, "title")
        case "UserName": (hidden, "username")
        case "Password": (.secret, "password")
        case "URL": (value.isProtected ? .secret : .url, "website")
        case "Notes": (.secret, "notes")
        case "otp": (.oneTimeCode, "code")
        case _ where key.hasPrefix("KP2A_URL"): (value.isProtected ? .secret : .url, key)
        default: (hidden, key)
        }
    }
}

extension XMLNode {
    /// Whether both have the same elements and texts.
    fileprivate func isSame(as other: XMLNode?) -> Bool {
        let others = other?.children ?? []
        // Between elements there is only space, as deep as they are.
        let isText =
            !children.isEmpty
            || text?.withBytes { text in other?.text?.isEqual(to: text) ?? (text.byteCount == 0) } ?? true
        return isText && children.count == others.count
            && zip(children, others).allSatisfy { $0.name == $1.name && $0.isSame(as: $1) }
    }
}
