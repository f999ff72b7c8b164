import CAdw

/// Texts in the user's language, by gettext.
package enum Translation {
    package static let domain = "holdfast"

    /// - Parameter folder: Where `LANGUAGE/LC_MESSAGES/holdfast.mo` lie.
    package static func load(from folder: String) {
        setlocale(LC_ALL, "")
        bindtextdomain(domain, folder)
        bind_textdomain_codeset(domain, "UTF-8")
        textdomain(domain)
    }
}

// gettext gives an untranslated message's own pointer back, so the C string has to outlive the call: no implicit
// bridging here.

/// The message in the user's language.
package func tr(_ message: String) -> String {
    message.withCString { String(cString: g_dgettext(Translation.domain, $0)) }
}

/// The message with `%s` replaced, one after the other.
package func tr(_ message: String, _ arguments: String...) -> String { fill(tr(message), arguments) }

/// The message for a number of things; `%d` is the number.
package func trn(_ one: String, _ many: String, _ count: Int) -> String {
    let text = one.withCString { one in
        many.withCString { many in String(cString: g_dngettext(Translation.domain, one, many, UInt(max(0, count)))) }
    }
    return replace("%d", in: text, with: String(count))
}

private func fill(_ text: String, _ arguments: [String]) -> String {
    // Once through the text: what is put in is never looked at again.
    var (result, rest) = ("", text[...])
    for argument in arguments {
        guard let place = rest.firstRange(of: "%s") else { break }
        result += rest[..<place.lowerBound] + argument
        rest = rest[place.upperBound...]
    }
    return result + rest
}

private func replace(_ mark: String, in text: String, with value: String) -> String {
    guard let range = text.firstRange(of: mark) else { return text }
    return text[..<range.lowerBound] + value + text[range.upperBound...]
}
