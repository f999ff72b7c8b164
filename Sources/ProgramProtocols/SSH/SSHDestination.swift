/// One hop that a key may be used for, from this machine or a host to another host (OpenSSH, PROTOCOL.agent,
/// `restrict-destination-v00@openssh.com`). Hosts are their keys; their names are for people.
package struct SSHDestination: Sendable, Hashable {
    /// Public keys of the host that the hop begins at; nil where it is this machine.
    package let from: Set<[UInt8]>?
    /// Public keys of the host that it leads to. An authority that signs host keys is no key of a host, so it is not in
    /// here.
    package let to: Set<[UInt8]>
    /// A pattern of the user's name there, with `*` and `?`; empty for every user.
    package let user: [UInt8]

    package init(from: Set<[UInt8]>?, to: Set<[UInt8]>, user: [UInt8] = []) {
        self.from = from
        self.to = to
        self.user = user
    }

    /// Whether the hop is allowed.
    /// - Parameters:
    ///   - host: Where it begins; nil for this machine.
    ///   - target: Where it leads; nil for anywhere.
    ///   - name: The user there; nil for anyone.
    package func allows(from host: [UInt8]?, to target: [UInt8]?, user name: [UInt8]?) -> Bool {
        switch (host, from) {
        case (nil, nil): break
        case (let host?, let from?): guard from.contains(host) else { return false }
        default: return false
        }
        if let target, !to.contains(target) { return false }
        guard let name, !user.isEmpty else { return true }
        return SSHDestination.matches(name, user)
    }

    /// Compares with a pattern, in a time that is the product of their lengths at most.
    package static func matches(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        var (at, here) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while here < text.count {
            if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
                star = (at, here)
                at += 1
            } else if at < pattern.count, pattern[at] == UInt8(ascii: "?") || pattern[at] == text[here] {
                at += 1
                here += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                (at, here) = (last.pattern + 1, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// Reads all of them. None at all is refused: it would be a key without a constraint.
    /// - Throws: ``SSHError``.
    package static func list(_ range: Range<Int>, _ bytes: RawSpan) throws(SSHError) -> [SSHDestination] {
        var reader = SSHReader(range)
        var list: [SSHDestination] = []
        while !reader.isAtEnd {
            var one = SSHReader(try reader.string(bytes))
            let from = try Hop(try one.string(bytes), bytes)
            let to = try Hop(try one.string(bytes), bytes)
            guard try one.string(bytes).isEmpty else { throw .invalid }
            try one.expectEnd()
            guard from.user.isEmpty, from.hasName == from.hasKeys, to.hasName, to.hasKeys else { throw .invalid }
            list.append(SSHDestination(from: from.hasName ? from.keys : nil, to: to.keys, user: to.user))
        }
        guard !list.isEmpty else { throw .invalid }
        return list
    }

    /// An end of a hop, as it is written.
    private struct Hop {
        let user: [UInt8]
        let hasName: Bool
        var hasKeys = false
        var keys: Set<[UInt8]> = []

        init(_ range: Range<Int>, _ bytes: RawSpan) throws(SSHError) {
            var reader = SSHReader(range)
            user = Array(try reader.text(bytes).utf8)
            hasName = try !reader.text(bytes).isEmpty
            guard try reader.string(bytes).isEmpty else { throw .invalid }
            while !reader.isAtEnd {
                let key = bytes.bytes(in: try reader.string(bytes))
                guard !key.isEmpty else { throw .invalid }
                hasKeys = true
                if try !reader.flag(bytes) { keys.insert(key) }
            }
        }
    }
}

extension RawSpan {
    /// A copy of a part that is no secret.
    func bytes(in range: Range<Int>) -> [UInt8] {
        unsafe extracting(range).withUnsafeBytes { unsafe Array($0) }
    }
}
