internal import Holdfast
internal import HoldfastCommand
internal import Imports

extension Chapter {
    /// What it makes is removed in the end: later chapters count the records.
    static let everyday = Chapter(
        title: "A login, from day to day",
        steps: [
            Step("stored a login with a new password and a key for one-time codes") { tour in
                let rules = PasswordRules(length: 20)
                var item = try Item(.login)
                try item.add(.text, "username", Tour.secret("ada@example.org"))
                try item.add(.secret, "password", PasswordGenerator.password(rules))
                let text = "otpauth://totp/Example:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8"
                try item.add(.oneTimeCode, "code", Tour.secret(text))
                try item.addTag("tour")
                try ItemStore(tour.openedApp().vault).add(item, as: place)
                return "\(item.fields.count) fields, a password of \(Int(rules.entropy)) bits"
            },
            Step("found it by a tag and a part of its user name, and not by its password") { tour in
                let items = ItemStore(try tour.openedApp().vault)
                let found = try items.search(ItemQuery("example.org #tour"))
                try tour.expect(found.map(\.name) == [place.name], "\(found.count) records were found")
                let password = try items.text(of: "password")
                try tour.expect(try items.search(ItemQuery(password)).isEmpty, "a password was found")
                return "\(Format.count(found.count, "record"))"
            },
            Step("computed the code that RFC 6238 has for its 59th second") { tour in
                let text = try Tour.secret(ItemStore(tour.openedApp().vault).text(of: "code"))
                let code = try OneTimeCode(parsing: text).code(at: 59)
                let digits = code.withBytes { $0.text }
                try tour.expect(digits == "94287082", "the code is \(digits)")
                return digits
            },
            Step("changed the password, and kept the one before") { tour in
                let items = ItemStore(try tour.openedApp().vault)
                let before = try items.text(of: "password")
                try items.change(place.name, in: place.collection) { item in
                    guard let field = item.field("password") else { return }
                    try item.set(field, PasswordGenerator.words())
                }
                let item = try items.item(place)
                let kept = item.history.last.map { earlier in item.withValue(of: earlier) { $0.text } }
                try tour.expect(kept == before, "the password before is not there")
                return "\(Format.count(item.history.count, "earlier value"))"
            },
            Step("exported it as a database of KeePass, and an import knew that it is the same") { tour in
                let items = ItemStore(try tour.openedApp().vault)
                let root = KDBXGroup()
                root.add(place, try items.item(place))
                var export = try KDBXExport(title: "Tour")
                try export.append(root)
                var settings = KDBXExport.Settings()
                settings.memoryKiB = 8 << 10
                let file = try export.seal(password: Tour.secret("another password"), settings: settings)
                let imported = try KDBXImport.read(file, password: Tour.secret("another password"), keyFile: nil)
                let plan = try ImportPlan(imported, into: items)
                try tour.expect(
                    imported.items.map(\.name) == [place.text], "\(imported.items.count) items are in the database")
                try tour.expect(plan.additions == 0, "the import would store it twice")
                return Format.size(UInt64(file.count))
            },
            Step("imported the passwords of a browser: two were stored, and none by a second import") { tour in
                let items = ItemStore(try tour.openedApp().vault)
                let table =
                    "name,url,username,password,note\nShop,https://shop.example,ada,one,\nBank,,ada,two,a note\n"
                func plan() throws -> ImportPlan {
                    let imported = try TableImport.read(Tour.secret(table))
                    return try ImportPlan(imported, into: items, folder: "browser")
                }
                try plan().store(in: items)
                let added = try items.list().filter { $0.collection == "browser" }.map(\.name)
                try tour.expect(added.sorted() == ["Bank", "Shop"], "\(added.count) items were stored")
                try tour.expect(plan().additions == 0, "they would be stored twice")
                for name in added { try items.trash(name, in: "browser") }
                try items.emptyTrash()
                return Format.count(added.count, "item")
            },
            Step("threw it away, took it back, and removed it for good") { tour in
                let items = ItemStore(try tour.openedApp().vault)
                try items.trash(place.name, in: place.collection)
                try await tour.expectRefusal(.recordNotFound, "a read of what is in the trash") {
                    _ = try items.item(place).kind
                }
                let trashed = try items.trashed()
                try tour.expect(trashed.map(\.name) == [place.name], "\(trashed.count) items are in the trash")
                try items.restore(trashed[0])
                try items.trash(place.name, in: place.collection)
                try items.emptyTrash()
                try tour.expect(try items.trashed().isEmpty, "the trash is not empty")
                return "the trash is empty"
            },
        ])

    fileprivate static let place = EntryPath(collection: "logins", name: "example")
}

extension ItemStore {
    /// A field of the tour's item as a text, which only sample data may become.
    fileprivate func text(of label: String) throws -> String {
        let item = try item(Chapter.place)
        guard let field = item.field(label) else { throw TourFailure(description: "there is no field \(label)") }
        return item.withValue(of: field) { $0.text }
    }
}

extension RawSpan {
    fileprivate var text: String { unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
}
