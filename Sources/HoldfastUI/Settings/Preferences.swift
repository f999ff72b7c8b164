internal import Holdfast

/// What the user chose about one user interface. Kept in the vault, so that the lock cannot be weakened without the
/// passcode.
package struct Preferences: Sendable, Hashable {
    /// What leaving the window for another one does.
    package enum FocusLoss: String, Sendable, Hashable, CaseIterable {
        /// Nothing: the content stays to be seen.
        case ignored = "ignored"
        /// The content is covered until the window has the focus again.
        case covers = "covers"
        /// It is treated as leaving the app: the lock timing starts.
        case leaves = "leaves"
    }

    /// What leaving the window does.
    package var focusLoss = FocusLoss.ignored
    /// Whether the cover shows a blurred picture of the content; else it is plain.
    package var blursCover = true
    /// Whether content is covered while the system says that the screen is recorded, mirrored or shown elsewhere. Linux
    /// says nothing of the kind.
    package var coversCapture = true
    /// Whether minimising the window locks at once; else it covers only.
    package var locksWhenMinimised = false
    /// Whether closing the lid locks at once, where the app's code wants that; else it is treated as leaving the app.
    package var locksWhenLidCloses = true
    /// Seconds without any key or movement after which the app locks; nil for never.
    package var idleSeconds: UInt32? = 300
    /// Seconds after which a copied secret is taken off the clipboard.
    package var clipboardSeconds: UInt32 = 30
    /// Seconds after which a value that is shown is hidden again.
    package var revealSeconds: UInt32 = 30
    /// How the list of items is sorted.
    package var order = VaultOrder.name
    /// Until when an advice stays away: seconds since 1970.
    package var silenced: [ProtectionAdvice: Int64] = [:]

    /// What a user interface offers for ``idleSeconds``.
    package static let idlePresets: [UInt32?] = [60, 300, 900, 1800, nil]
    /// What a user interface offers for ``clipboardSeconds``.
    package static let clipboardPresets: [UInt32] = [10, 30, 60, 120]

    /// The defaults.
    package init() {}

    static let longestText = 1024

    /// What locks at once: what the app's code gave, with what its user adds, or takes away of a lid that is closed
    /// often.
    func triggers(given: LockTriggers) -> LockTriggers {
        let chosen = locksWhenMinimised ? given.union(.minimised) : given
        return locksWhenLidCloses ? chosen : chosen.subtracting(.lidClosed)
    }

    /// Lines of `key=value`, in a fixed order.
    var text: String {
        """
        focus-loss=\(focusLoss.rawValue)
        blur=\(blursCover ? 1 : 0)
        capture=\(coversCapture ? 1 : 0)
        minimised=\(locksWhenMinimised ? 1 : 0)
        lid=\(locksWhenLidCloses ? 1 : 0)
        idle=\(idleSeconds.map(String.init) ?? "never")
        clipboard=\(clipboardSeconds)
        reveal=\(revealSeconds)
        order=\(order.rawValue)

        """ + silenced.map { "silenced-\($0.rawValue)=\($1)\n" }.sorted().joined()
    }

    /// Reads what ``text`` wrote. Lines that mean nothing here keep the default: a newer version may have written them.
    init(parsing text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            let (key, value) = (parts[0], parts[1])
            let seconds = UInt32(value).flatMap { (1...86_400).contains($0) ? $0 : nil }
            switch key {
            case "focus-loss": focusLoss = FocusLoss(rawValue: value) ?? focusLoss
            case "blur": blursCover = Preferences.isOn(value) ?? blursCover
            case "capture": coversCapture = Preferences.isOn(value) ?? coversCapture
            case "minimised": locksWhenMinimised = Preferences.isOn(value) ?? locksWhenMinimised
            case "lid": locksWhenLidCloses = Preferences.isOn(value) ?? locksWhenLidCloses
            case "idle": if value == "never" { idleSeconds = nil } else if let seconds { idleSeconds = seconds }
            case "clipboard": clipboardSeconds = seconds ?? clipboardSeconds
            case "order": order = VaultOrder(rawValue: value) ?? order
            case "reveal": revealSeconds = seconds ?? revealSeconds
            default:
                guard key.hasPrefix("silenced-"), let end = Int64(value), end > 0,
                    let advice = ProtectionAdvice(rawValue: String(key.dropFirst("silenced-".count)))
                else { continue }
                silenced[advice] = end
            }
        }
    }

    /// Whether an advice stays away. One that would stay away for longer than that was sent away by a clock that was
    /// put back since.
    func silences(_ advice: ProtectionAdvice, at now: Int64) -> Bool {
        guard let end = silenced[advice], end > now else { return false }
        return end - now <= ProtectionAdvice.silence
    }

    private static func isOn(_ value: String) -> Bool? { value == "0" ? false : value == "1" ? true : nil }
}
