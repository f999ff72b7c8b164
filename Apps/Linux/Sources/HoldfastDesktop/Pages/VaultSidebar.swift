import CAdw
import GtkKit
import HoldfastUI

/// The parts of the vault, beside the list of what is in one.
final class VaultSidebar {
    /// What a row leads to.
    enum Place: Equatable {
        /// A heading, which leads nowhere.
        case heading
        case section(VaultSection)
        case trash
        /// Another page, about the passwords of all items.
        case health
    }

    private let list: ListBox
    private var places: [Place] = []

    init(_ list: ListBox, onChoose: @escaping (Place) -> Void) {
        self.list = list
        list.onSelect { [unowned self] index in
            if let place = places[safe: index], place != .heading { onChoose(place) }
        }
    }

    func show(_ sections: [VaultSection.Entry], _ selected: Place) {
        list.removeAll()
        places = []
        var heading: String?
        for entry in sections {
            let wanted = VaultSidebar.heading(entry.section)
            if let wanted, wanted != heading { append(.heading, Label.heading(wanted)) }
            heading = wanted
            let (name, icon) = ItemText.of(entry.section)
            append(.section(entry.section), VaultSidebar.row(name, icon, entry.count))
        }
        append(.heading, Label.heading(""))
        append(.trash, VaultSidebar.row(tr("Trash"), "user-trash-symbolic", nil))
        append(.health, VaultSidebar.row(tr("Password Health"), "security-medium-symbolic", nil))
        select(selected)
    }

    func select(_ place: Place) { if let index = places.firstIndex(of: place) { list.select(index) } }

    private func append(_ place: Place, _ row: Widget) {
        places.append(place)
        list.append(row)
    }

    private static func heading(_ section: VaultSection) -> String? {
        switch section {
        case .collection: tr("Folders")
        case .tag: tr("Tags")
        case .all, .favourites, .kind: nil
        }
    }

    private static func row(_ name: String, _ icon: String, _ count: Int?) -> Widget {
        let box = Widget(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8)!)
        gtk_box_append(box.pointer(), gtk_image_new_from_icon_name(icon))
        let title = Label(name)
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_END)
        gtk_label_set_xalign(title.opaque, 0)
        gtk_widget_set_hexpand(title.widget, 1)
        let number = Label(count.map(String.init) ?? "")
        number.setClass("dim-label", true)
        gtk_box_append(box.pointer(), title.widget)
        gtk_box_append(box.pointer(), number.widget)
        let row = Widget(gtk_list_box_row_new()!)
        gtk_list_box_row_set_child(row.pointer(), box.widget)
        row.accessibleLabel(count.map { name + ", " + trn("%d item", "%d items", $0) } ?? name)
        return row
    }
}
