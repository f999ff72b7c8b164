import CAdw

/// What there is room for, from the width of the window alone, so that it is the same whichever way a width is reached.
struct WindowLayout: Equatable {
    /// Whether the tabs are in the header; else they are at the bottom.
    let hasWideHeader: Bool
    /// Whether the parts of the vault stand beside the list; else they come over it.
    let hasSidebar: Bool
    /// Whether an item stands beside the list; else it takes its place.
    let isSplit: Bool

    /// - Parameters:
    ///   - width: In pixels.
    ///   - textScale: How much larger texts are than usual; less fits then.
    init(width: Int, textScale: Double) {
        let room = Double(width) / max(1, textScale)
        hasWideHeader = room >= 560
        hasSidebar = room >= 640
        isSplit = room >= 920
    }
}
