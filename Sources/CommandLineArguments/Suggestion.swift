/// Finds the word that was probably meant.
package enum Suggestion {
    /// The candidate nearest to `word`; nil if none is close.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { ($0, distance(Array(word.utf8), Array($0.utf8))) }
        if let (best, changes) = ranked.min(by: { $0.1 < $1.1 }), changes <= max(1, best.utf8.count / 3) { return best }
        let longer = candidates.filter { $0.hasPrefix(word) }
        return longer.count == 1 && word.utf8.count > 1 ? longer[0] : nil
    }

    /// ` (did you mean X?)`, or nothing.
    package static func hint(_ word: String, _ candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }

    /// Insertions, deletions, changes and swaps of neighbours that lead from one word to the other (optimal string
    /// alignment). Long words are not compared, so that input cannot make this slow.
    package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard left.count <= 64, right.count <= 64 else { return .max }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let isSame = left[i] == right[j]
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (isSame ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, beforeLast[j - 1] + 1)
                }
                row.append(cost)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}
