import CRawLoops
import Foundation
import Synchronization

/// How busy the machine is with something else: the same work on every core, before, between and after what is
/// measured.
struct Noise {
    /// More than this beside the quietest moment, and what was measured next to it is marked.
    private static let tolerance = 0.1

    private struct Sample {
        /// Nanoseconds until the slowest core was done.
        let time: Double
        /// The same by the processor time that it took: other work took the rest.
        let waiting: Double
    }

    private var samples: [Sample] = []

    /// Does the work once.
    mutating func sample() {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let spent = Mutex<[Double]>([])
        let taken = time {
            DispatchQueue.concurrentPerform(iterations: cores) { _ in
                let seconds = raw_calibrate()
                spent.withLock { $0.append(seconds * 1e9) }
            }
        }
        let most = spent.withLock { $0.max() } ?? taken
        samples.append(Sample(time: taken, waiting: taken / max(1, most)))
    }

    /// How much slower a sample was than it can be; 0 in a quiet moment.
    private func excess(_ sample: Sample) -> Double {
        let quietest = samples.map(\.time).min() ?? sample.time
        return max(sample.time / quietest, sample.waiting) - 1
    }

    /// Whether what was measured between the last two samples was measured in noise, as far as is known by now.
    var isLastNoisy: Bool { samples.suffix(2).contains { excess($0) > Noise.tolerance } }

    private var sorted: [Double] { samples.map(excess).sorted() }

    var line: String {
        let worst = sorted.last ?? 0
        let quietest = (samples.map(\.time).min() ?? 0) / 1e6
        return "noise: a loop that takes \(number(quietest)) ms took up to \(number(100 * worst)) % longer, "
            + "\(number(100 * median(sorted))) % in the middle of \(samples.count) times"
            + (worst > Noise.tolerance ? "; what was measured beside that has the mark ~" : "")
    }

    var json: String {
        let list = samples.map { "\(Int(1000 * excess($0)))" }.joined(separator: ", ")
        return "{\"quietest_us\": \(Int((samples.map(\.time).min() ?? 0) / 1000)), \"excess_per_mille\": [\(list)]}"
    }
}
