import CAdw
import GtkKit
import Holdfast
import QRReading
import SecretMemory

/// The desktop app of Holdfast.
@main
enum Main {
    // Not `async`: on Linux an async entry point gives the main thread away.
    static func main() {
        ProcessHardening.apply()
        if let code = QRReading.serve() { _exit(code) }
        // What is missing of the machine's libraries ends the app now, not at the first unlock.
        CLibraries.load()
        guard let place = Place() else { exit(64) }
        Translation.load(from: place.translations)
        guard !place.isAsking else { exit(ask(place)) }
        // Another home than the usual one is another window, not that of the first start.
        let app = Application(id: Place.id, isUnique: place.isUsual)
        var window: MainWindow?
        let status = app.run {
            if window == nil { window = MainWindow(app, place) }
            window?.present()
        }
        window = nil
        // Not `exit`: threads that ask a key store may still be using what it gives up.
        fflush(nil)
        _exit(status)
    }

    /// Is a pinentry program until the one that asks has gone.
    private static func ask(_ place: Place) -> Int32 {
        let app = Application(id: Place.id, isUnique: false)
        var window: PromptWindow?
        let status = app.run { if window == nil { window = PromptWindow(app, place) } }
        window = nil
        return status
    }
}
