internal import Cryptography
package import SecretMemory
package import SyncFormat
package import VaultCore
internal import VaultFormat

/// The member's side of joining by a code over a folder: an invitation, the new device's card, and the welcome.
///
/// Nothing is stored before the welcome. Killed before that, a message without a use stays in the folder until this
/// device invites again.
package final class FolderInvitation {
    /// What the user carries to the new device.
    package let code: InvitationCode
    private let key: InvitationKey
    private let message: JoinMessage
    private let road: FolderRoad
    private let writer: RoadWriter
    private let inviter: MemberRecord
    private var memory = RoadMemory()
    private var progress: InvitationProgress
    private var card: OpenedCard?

    /// Writes an invitation into a folder.
    /// - Parameters:
    ///   - place: Which of the vault's roads it is.
    ///   - code: Drawn for it alone.
    ///   - uptime: Milliseconds of a clock that nobody sets; from here on the invitation is good for ten minutes.
    /// - Throws: `folder` for what is wrong with the folder.
    package init(
        _ home: GroupHome, over place: Int, _ code: consuming InvitationCode, uptime: UInt64
    ) throws(SyncError) {
        guard let kept = home.roads[place] else { throw .folder(.noRoad("")) }
        guard home.roster.body.members.count < SyncLimits.members else { throw .tooManyMembers }
        let road = try onFolder { () throws(RoadError) in
            try FolderRoad(opening: kept.path, of: home.group, knowing: home.ownStreams)
        }
        let key = try code.key(for: try GroupHome.randomID())
        let message = try home.keys.with { keys throws(SyncError) in
            try OpenedInvitation.seal(home.name, home.roster, under: key, by: keys)
        }
        let name = try JoinFileName(.invitation, message, key.invitation)
        inviter = try FolderInvitation.record(of: home)
        writer = RoadWriter(road, of: home.stream)
        (self.road, self.message) = (road, message)
        self.key = key
        self.code = code
        progress = InvitationProgress(uptime: uptime)
        try onFolder { () throws(RoadError) in
            try FolderInvitation.removeOld(of: home, road, writer)
            _ = try writer.write(.join(name), message.bytes)
        }
    }

    /// Looks for the card of the new device.
    /// - Returns: How far the invitation is now.
    /// - Throws: `folder` and `road`: the folder may be back the next time.
    package func look(uptime: UInt64) throws(SyncError) -> InvitationProgress.State {
        try onFolder { () throws(RoadError) in _ = try road.list(&memory) }
        for name in memory.joins where name.invitation == key.invitation && name.message == .card {
            guard let bytes = try onFolder({ () throws(RoadError) in try road.bytes(of: name, &memory) }) else {
                continue
            }
            // Anybody can write a file of this name; who does not have the code cannot write a card.
            guard let opened = try? OpenedCard(bytes, to: message, group: road.group, under: key) else { continue }
            progress.card(opened.hash, uptime: uptime)
            if card == nil { card = opened }
        }
        progress.expire(uptime)
        return progress.state
    }

    /// What the new device calls itself; nil before its card is here.
    package var newName: String? { card?.card.member.name }

    /// What both devices show.
    package func comparingWords() throws(SyncError) -> SecretBytes {
        guard let card else { throw .invitationEnded(.refused) }
        return try ComparingWords.words(key.invitation, card.card, inviter: inviter)
    }

    /// Takes the new device into the group and leaves it its welcome. The proof that this wants is the caller's.
    /// - Parameter areEqual: Whether both devices showed the same words.
    /// - Throws: `invitationEnded`; `vault`, `folder`.
    package func admit(into vault: Vault, areEqual: Bool, uptime: UInt64) throws(SyncError) {
        // A second card since ends it.
        _ = try look(uptime: uptime)
        guard let card, progress.confirm(areEqual, uptime: uptime) == card.hash else {
            throw .invitationEnded(progress.end)
        }
        // What others wrote of the members since the invitation comes first.
        try FolderRound.beforeChange(of: vault, isAdding: true)
        guard let home = try GroupHome.load(vault) else { throw .notForThisMember }
        let sealed = try home.admit(card.card.member)
        let welcome = try home.welcome(to: card, with: sealed, under: key)
        let name = try JoinFileName(.welcome, welcome, key.invitation)
        try onFolder { () throws(RoadError) in _ = try writer.write(.join(name), welcome.bytes) }
    }

    /// Takes an invitation back that nobody came by.
    package func takeBack() throws(SyncError) {
        let name = try JoinFileName(.invitation, message, key.invitation)
        try onFolder { () throws(RoadError) in _ = try writer.remove([.join(name)]) }
    }

    private static func record(of home: GroupHome) throws(SyncError) -> MemberRecord {
        try home.keys.with { keys throws(SyncError) in try keys.record(name: home.name) }
    }

    /// Messages of this device's that lie there from before: who was invited by them has come, or never will.
    private static func removeOld(
        of home: GroupHome, _ road: FolderRoad, _ writer: RoadWriter
    ) throws(RoadError) {
        var memory = RoadMemory()
        _ = try road.list(&memory, only: [.joins])
        guard let own = try? SyncSigners([record(of: home)]) else { return }
        for name in memory.joins {
            guard let bytes = try road.bytes(of: name, &memory), let envelope = try? Envelope(parsing: bytes),
                own.signer(of: envelope) != nil
            else { continue }
            _ = try writer.remove([.join(name)])
        }
    }
}

extension InvitationProgress {
    fileprivate var end: End { if case .ended(let end) = state { end } else { .refused } }
}

extension JoinFileName {
    init(_ kind: Message, _ message: JoinMessage, _ invitation: InvitationID) throws(SyncError) {
        guard let name = JoinFileName(invitation: invitation, message: kind, hash: message.hash) else {
            throw .format(.wrongSize)
        }
        self = name
    }
}

extension FolderRoad {
    /// A message as it lies there; nil while it is not whole.
    func bytes(of name: JoinFileName, _ memory: inout RoadMemory) throws(RoadError) -> [UInt8]? {
        guard case .bytes(let bytes, _) = try read(.join(name), &memory) else { return nil }
        return bytes
    }
}
