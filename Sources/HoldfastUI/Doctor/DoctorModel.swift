internal import DeviceOwner
@_exported public import HoldfastDoctor
internal import Observation
internal import SystemCalls

/// What protects a vault on this machine, determined without any prompt.
@MainActor @Observable
package final class DoctorModel {
    /// How thoroughly was looked.
    package enum Depth: Sendable, Hashable {
        /// Only whether each part is there and answers.
        case quick
        /// What can be made to work was made to work, and taken back.
        case deep
    }

    /// One finding for each part, in a fixed order; empty until the first look.
    package private(set) var findings: [Finding] = []
    /// How thoroughly the findings were made.
    package private(set) var depth = Depth.quick
    /// The look that is under way.
    package private(set) var looking: Depth?

    @ObservationIgnored private let home: String
    @ObservationIgnored private let examine: Examine
    @ObservationIgnored private var looks = 0

    package typealias Examine = @Sendable (Examination.Request) -> [Finding]

    /// - Parameter home: The vault's folder.
    package convenience init(home: String) { self.init(home: home) { Examination.run($0) } }

    /// - Parameter examine: Runs the examination; blocks until it is done.
    package init(home: String, examine: @escaping Examine) {
        self.home = home
        self.examine = examine
    }

    /// What is wrong or could be better: the findings that something can be done about.
    package var advice: [Finding] { findings.filter(\.canBeImproved) }

    /// Checks everything, within a time limit. A look while another one is under way is not
    /// begun.
    package func look(_ depth: Depth = .quick) async {
        guard looking == nil else { return }
        looking = depth
        looks += 1
        let mine = looks
        let found = await DoctorModel.run(Examination.Request(home: home, isDeep: depth == .deep), examine)
        looking = nil
        guard mine == looks else { return }
        findings = found
        self.depth = depth
    }

    /// Forgets what was found: the lock fell.
    package func drop() {
        looks += 1
        findings = []
        depth = .quick
    }

    /// In a thread of its own: those of the concurrency runtime are few, and a part may be silent.
    private nonisolated static func run(
        _ request: Examination.Request, _ examine: @escaping Examine
    ) async -> [Finding] {
        await withCheckedContinuation { answer in
            if !DetachedThread.start({ answer.resume(returning: examine(request)) }) { answer.resume(returning: []) }
        }
    }
}
