package import ProgramProtocols
internal import SecretMemory
internal import Synchronization
internal import SystemCalls
package import VaultStorage

/// The collection `session`: what programs store for as long as the vault is open. It is in memory alone, and a lock
/// ends it, so that nothing is left after that.
package final class SecretServiceMemory: Sendable {
    /// Items at once, and bytes of them all together: locked memory is what the vault itself needs.
    package static let most = 256, mostBytes = 1 << 20
    /// Bytes of one secret, at most.
    package static let longest = 65_536

    fileprivate struct Kept {
        var label: String
        var attributes: SecretServiceAttributes
        var secret: SecretServiceSecret
        let created: Int64
        var modified: Int64

        var size: Int { secret.value.count + secret.contentType.utf8.count + label.utf8.count + attributes.text.count }
    }

    fileprivate struct State {
        var items: [UInt64: Kept] = [:]
        var last: UInt64 = 0
        var locks: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// A lock of the vault: everything goes, and what still works for a call finds nothing.
    package func clear() {
        state.withLock { state in
            state.items = [:]
            state.locks += 1
        }
    }

    /// For one call, until the next lock.
    package var items: Items { Items(memory: self, locks: state.withLock { $0.locks }) }

    /// The items, for as long as the vault stays open.
    package struct Items: Sendable {
        fileprivate let memory: SecretServiceMemory
        fileprivate let locks: UInt64

        private func access<R: Sendable>(_ body: (inout State) throws(VaultError) -> R) throws(VaultError) -> R {
            try memory.state.withLock { state throws(VaultError) in
                guard state.locks == locks else { throw .locked }
                return try body(&state)
            }
        }

        private func change(_ number: UInt64, _ body: (inout Kept) -> Void) throws(VaultError) {
            try access { state throws(VaultError) in
                guard var item = state.items[number] else { throw .notKept }
                body(&item)
                item.modified = WallClock.milliseconds
                try state.keep(item, number)
            }
        }

        /// Numbers of the items that have all attributes of a question, the oldest first.
        /// - Throws: `locked`.
        package func search(_ question: SecretServiceAttributes) throws(VaultError) -> [UInt64] {
            try access { state in state.items.filter { $0.value.attributes.answer(question) }.keys.sorted() }
        }

        /// - Throws: `locked`, `recordNotFound`.
        package func secret(_ number: UInt64) throws(VaultError) -> SecretServiceSecret {
            try access { state throws(VaultError) in
                guard let item = state.items[number] else { throw .notKept }
                return item.secret
            }
        }

        /// As ``SecretServiceStore/entry(_:in:)``.
        /// - Throws: `locked`, `recordNotFound`.
        package func entry(_ number: UInt64) throws(VaultError) -> SecretServiceStore.Entry {
            try access { state throws(VaultError) in
                guard let item = state.items[number] else { throw .notKept }
                return SecretServiceStore.Entry(
                    path: .sessionItem(number), label: item.label, attributes: item.attributes,
                    contentType: item.secret.contentType, created: item.created, modified: item.modified)
            }
        }

        /// Keeps an item, or changes one with the same attributes.
        /// - Returns: Its number, and whether it is new.
        /// - Throws: `locked`, `tooLarge`.
        package func create(
            _ draft: SecretServiceStore.Draft, _ secret: SecretServiceSecret
        ) throws(VaultError) -> (number: UInt64, isNew: Bool) {
            try access { state throws(VaultError) in
                let now = WallClock.milliseconds
                let same = state.items.filter { $0.value.attributes == draft.attributes }.keys.min()
                guard draft.replaces, let same, var item = state.items[same] else {
                    let item = Kept(
                        label: draft.label, attributes: draft.attributes, secret: secret, created: now, modified: now)
                    try state.keep(item, state.last + 1)
                    state.last += 1
                    return (state.last, true)
                }
                (item.secret, item.modified) = (secret, now)
                if !draft.label.isEmpty { item.label = draft.label }
                try state.keep(item, same)
                return (same, false)
            }
        }

        /// - Throws: `locked`, `recordNotFound`, `tooLarge`.
        package func set(_ number: UInt64, _ secret: SecretServiceSecret) throws(VaultError) {
            try change(number) { $0.secret = secret }
        }

        /// - Throws: As ``set(_:_:)``.
        package func set(_ number: UInt64, label: String) throws(VaultError) { try change(number) { $0.label = label } }

        /// - Throws: As ``set(_:_:)``.
        package func set(_ number: UInt64, attributes: SecretServiceAttributes) throws(VaultError) {
            try change(number) { $0.attributes = attributes }
        }

        /// - Throws: `locked`, `recordNotFound`.
        package func delete(_ number: UInt64) throws(VaultError) {
            try access { state throws(VaultError) in
                guard state.items.removeValue(forKey: number) != nil else { throw .notKept }
            }
        }
    }
}

extension SecretServiceMemory.State {
    fileprivate mutating func keep(_ item: SecretServiceMemory.Kept, _ number: UInt64) throws(VaultError) {
        let others = items.filter { $0.key != number }
        guard others.count < SecretServiceMemory.most, item.secret.value.count <= SecretServiceMemory.longest,
            others.values.reduce(item.size, { $0 + $1.size }) <= SecretServiceMemory.mostBytes
        else {
            let (most, longest) = (SecretServiceMemory.most, SecretServiceMemory.longest / 1024)
            let all = SecretServiceMemory.mostBytes / 1024
            throw VaultError(
                .tooLarge, "the collection session has at most \(most) items of \(longest) KiB, and \(all) KiB together"
            )
        }
        items[number] = item
    }
}

extension VaultError {
    fileprivate static let notKept = VaultError(.recordNotFound, "there is no such item of the Secret Service")
}
