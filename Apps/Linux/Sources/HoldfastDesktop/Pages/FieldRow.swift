import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// One value of an item: its label small above it, what is done with it at the end of the row.
final class FieldRow {
    let row: Row
    private let name: String
    private let reveal: Button?
    private let time: Label?, next: Label?, ring: Ring?

    private static let dots = "••••••••"
    /// Seconds before the end of a code from which on the one that follows is shown.
    private static let nearlyOver = 10

    /// - Parameters:
    ///   - name: What the value is called.
    ///   - isHidden: Whether it is shown only when it is asked for.
    ///   - isTimed: Whether it is a code that changes by itself.
    ///   - isProse: Whether it is read as a text, and not letter by letter.
    ///   - actions: What else is done with it.
    init(
        _ name: String, isHidden: Bool, isTimed: Bool = false, isProse: Bool = false, actions: [Widget],
        onReveal: @escaping () -> Void
    ) {
        self.name = name
        row = Row(title: name)
        row.setClass("field", true)
        row.setClass("secret", isHidden && !isProse)
        row.setClass("code", isTimed)
        if isTimed {
            (time, next, ring) = (Label(""), Label(""), Ring())
            for label in [next, time] {
                guard let label else { continue }
                label.setClass("caption", true)
                row.addSuffix(label)
            }
            next?.setClass("next", true)
            time?.setClass("dim-label", true)
            time?.setClass("numeric", true)
            if let ring { row.addSuffix(ring) }
        } else {
            (time, next, ring) = (nil, nil, nil)
        }
        let reveal = isHidden ? Button(icon: "view-reveal-symbolic", label: tr("Show %s", name)) : nil
        reveal?.onClick(onReveal)
        self.reveal = reveal
        row.addSuffixes([reveal].compactMap(\.self) + actions, styled: "actions")
    }

    /// - Parameter tip: What the pointer is told.
    func onActivate(_ tip: String, _ action: @escaping () -> Void) {
        row.tooltip(tip)
        row.onActivate(action)
    }

    func show(_ value: RawSpan) {
        row.show(value)
        showsValue(true)
    }

    func show(text: String) { row.subtitle = text }

    func showLink(_ address: String) { row.showLink(address, title: name) }

    func hide() {
        row.subtitle = FieldRow.dots
        showsValue(false)
    }

    /// The time of a code runs.
    /// - Parameter withNext: Lends the code that follows to what shows it.
    func show(secondsLeft: Int?, share: Double?, withNext: ((RawSpan) -> Void) -> Void) {
        guard let time, let next, let ring else { return }
        time.text = secondsLeft.map(String.init) ?? ""
        time.accessibleLabel(secondsLeft.map { trn("%d second left", "%d seconds left", $0) } ?? "")
        ring.isVisible = share != nil
        if let share { ring.show(share) }
        next.text = ""
        if let secondsLeft, secondsLeft < FieldRow.nearlyOver {
            withNext { next.show($0) }
            next.tooltip(tr("The next code"))
        }
    }

    /// Nothing of the value stays.
    func clear() {
        row.subtitle = ""
        next?.text = ""
    }

    private func showsValue(_ isShown: Bool) {
        reveal?.setIcon(
            isShown ? "view-conceal-symbolic" : "view-reveal-symbolic",
            label: isShown ? tr("Hide %s", name) : tr("Show %s", name))
    }
}
