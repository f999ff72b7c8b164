package import VaultFormat

/// What a wipe would do now, in its order. Making one changes nothing.
package struct WipePlan: Sendable, Hashable {
    /// One target.
    package struct Step: Sendable, Hashable {
        /// Its name in journal and receipt.
        package let target: WipeTargetID
        /// What it is, in words.
        package let what: String
        /// How it is erased.
        package let method: Method
        /// Names of files that are there.
        package let files: Int
        /// Their bytes.
        package let bytes: UInt64

        package init(target: WipeTargetID, what: String, method: Method, files: Int, bytes: UInt64) {
            self.target = target
            self.what = what
            self.method = method
            self.files = files
            self.bytes = bytes
        }
    }

    /// How a target is erased.
    package enum Method: String, Sendable, Hashable {
        /// Overwritten in place, flushed, removed.
        case overwritten = "overwritten"
        /// Removed; nothing can read it once the keys are gone.
        case removed = "removed"
        /// Let go of by the hardware or the key store that holds it.
        case released = "released"
        /// Left to the home that it was made for: this one is a backup or was restored from one.
        case left = "left"
        /// By the app that registered it.
        case byApp = "byApp"
        /// Registered by an app that is not running here: it waits for that app's next start.
        case waiting = "waiting"
    }

    /// What is erased, in order.
    package let steps: [Step]
    /// Other names in the folder, which are left alone.
    package let strangers: [String]
    /// What else the wipe ends, or does not end, in whole sentences: for the owner, before it begins.
    package let warnings: [String]

    package init(steps: [Step], strangers: [String], warnings: [String]) {
        self.steps = steps
        self.strangers = strangers
        self.warnings = warnings
    }
}
