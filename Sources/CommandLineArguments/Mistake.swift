/// A mistake in the value of an option, and where that value stands.
package struct Mistake: Sendable, Hashable, CustomStringConvertible {
    /// `FILE:LINE: NAME`, `$VARIABLE`, or the option as it is typed.
    package let place: String
    /// What is wrong, and what to do.
    package let text: String
    /// As ``UsageError/mayPass``.
    package let mayPass: Bool

    package init(_ place: String, _ text: String, mayPass: Bool = false) {
        self.place = place
        self.text = text
        self.mayPass = mayPass
    }

    package var description: String { "\(place): \(text)" }
}

/// All mistakes that were found in one run; nothing was done.
package struct Mistakes: Error {
    package let all: [Mistake]

    package init(_ all: [Mistake]) { self.all = all }

    /// Whether all of it may go away by itself. One that does not has to be mended, whatever else may pass.
    package var mayPass: Bool { all.allSatisfy(\.mayPass) }
}
