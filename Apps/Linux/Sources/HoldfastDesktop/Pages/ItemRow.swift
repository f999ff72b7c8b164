import CAdw
import GtkKit
import Holdfast
import HoldfastUI

/// One item in the list: its picture, name, user, folder and tags.
final class ItemRow: ListRow {
    let root: Widget
    var index = 0
    private let check = CheckMark()
    private let avatar = Avatar(size: 32)
    private let title = Label(""), details = Label("")
    private let star = Widget(gtk_image_new_from_icon_name("starred-symbolic")!)

    /// How one is shown.
    struct Look: Equatable {
        /// Whether several are being chosen, and it is one of them; nil while none are.
        var isChosen: Bool?
        /// Whether its page is beside the list.
        var isOpen = false
    }

    init() {
        root = Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12)!)
        let texts = Widget(gtk_box_new(GTK_ORIENTATION_VERTICAL, 2)!)
        for label in [title, details] {
            gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
            gtk_label_set_xalign(label.opaque, 0)
            gtk_box_append(texts.pointer(), label.widget)
        }
        details.setClass("dim-label", true)
        details.setClass("caption", true)
        gtk_widget_set_hexpand(texts.widget, 1)
        gtk_widget_set_valign(texts.widget, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(avatar.widget, GTK_ALIGN_CENTER)
        check.isVisible = false
        root.setClass("item-row", true)
        for child in [check, avatar, texts, star] as [Widget] { gtk_box_append(root.pointer(), child.widget) }
    }

    func show(_ item: VaultItem, _ look: Look) {
        title.text = item.title
        let described = ItemRow.details(of: item)
        details.text = described
        details.isVisible = !described.isEmpty
        avatar.show(item.title, icon: item.kind == .login ? nil : ItemText.icon(item.isFile ? .file : item.kind))
        star.isVisible = item.isFavourite
        check.isVisible = look.isChosen != nil
        check.isOn = look.isChosen == true
        guard let place = row else { return }
        place.setClass("open", look.isOpen)
        place.accessibleLabel(item.title)
        let spoken = [look.isChosen == true ? tr("selected") : "", item.isFavourite ? tr("favourite") : "", described]
        place.accessibleDescription(spoken.filter { !$0.isEmpty }.joined(separator: ", "))
    }

    func clear() {
        for label in [title, details] { label.text = "" }
        avatar.show("", icon: nil)
        row?.accessibleLabel("")
        row?.accessibleDescription("")
    }

    /// What the list has put it into; that is what a screen reader meets.
    private var row: Widget? { gtk_widget_get_parent(root.widget).map { Widget(borrowing: $0) } }

    /// Who it is for and where it is; what it was before its kind was read has neither.
    static func details(of item: VaultItem) -> String {
        ([item.user, item.folder] + item.tags.map { "#\($0)" }).filter { !$0.isEmpty }.joined(separator: " · ")
    }
}
