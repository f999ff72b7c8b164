internal import Cryptography
package import SecretMemory
internal import SyncFormat
package import VaultCore

/// The new device's side of joining by a code over a folder. Until ``join(_:)`` nothing is stored in its vault.
package final class FolderJoining {
    private let road: FolderRoad
    private let code: InvitationCode
    private let name: String
    private var memory = RoadMemory()
    /// Invitations that this code does not open.
    private var others: Set<JoinFileName> = []
    private var invited: Invited?
    private let keys: MemberKeys
    private var welcome: OpenedWelcome?
    private var roster: [UInt8] = []

    private final class Invited {
        let key: InvitationKey
        let invitation: OpenedInvitation
        let card: JoinMessage
        let member: MemberCard

        init(_ key: consuming InvitationKey, _ invitation: OpenedInvitation, _ card: JoinMessage, _ member: MemberCard)
        {
            self.key = key
            (self.invitation, self.card, self.member) = (invitation, card, member)
        }
    }

    /// Opens the folder.
    /// - Parameters:
    ///   - path: Absolute.
    ///   - name: What its user calls this device, 1 to 64 bytes without control characters.
    ///   - code: As the member shows it.
    /// - Throws: `folder` where it is none of a group; `format` for a name that no device can have.
    package init(folder path: String, name: String, _ code: consuming InvitationCode) throws(SyncError) {
        road = try onFolder { () throws(RoadError) in try FolderRoad(opening: path, of: FolderRoad.group(at: path)) }
        self.name = name
        self.code = code
        keys = try MemberKeys.generate()
        _ = try keys.record(name: name)
    }

    /// Whether there is an invitation that the code does not open.
    package var hasOthers: Bool { !others.isEmpty }

    /// Looks for the invitation, and answers it with this device's card. Takes a moment for each one that is new.
    /// - Returns: Whether it was there.
    /// - Throws: `folder`: the folder may be back the next time.
    package func lookForInvitation() throws(SyncError) -> Bool {
        guard invited == nil else { return true }
        try onFolder { () throws(RoadError) in _ = try road.list(&memory, only: [.joins]) }
        for name in memory.joins where name.message == .invitation && !others.contains(name) {
            guard others.count < SyncLimits.invitations else { throw .tooManyInvitations }
            guard let bytes = try onFolder({ () throws(RoadError) in try road.bytes(of: name, &memory) }) else {
                continue
            }
            let key = try code.key(for: name.invitation)
            guard let opened = try? OpenedInvitation(bytes, under: key), opened.group == road.group else {
                others.insert(name)
                continue
            }
            try answer(opened, key)
            return true
        }
        return false
    }

    private func answer(_ invitation: OpenedInvitation, _ key: consuming InvitationKey) throws(SyncError) {
        let card = try OpenedCard.seal(name, to: invitation, under: key, by: keys)
        let member = try keys.record(name: name)
        let file = try JoinFileName(.card, card, key.invitation)
        try onFolder { () throws(RoadError) in _ = try road.write(file, card.bytes) }
        invited = Invited(key, invitation, card, MemberCard(member))
    }

    /// What the member calls itself; nil before the invitation is here.
    package var inviter: String? { invited?.invitation.inviter.name }

    /// What both devices show.
    package func comparingWords() throws(SyncError) -> SecretBytes {
        guard let invited else { throw .invitationEnded(.refused) }
        return try ComparingWords.words(invited.key.invitation, invited.member, inviter: invited.invitation.inviter)
    }

    /// Looks for the member's welcome.
    /// - Returns: What the other devices of the group are called; nil while it is not here.
    /// - Throws: `folder`: the folder may be back the next time.
    package func lookForWelcome() throws(SyncError) -> [String]? {
        if let others = otherNames { return others }
        guard let invited else { return nil }
        try onFolder { () throws(RoadError) in _ = try road.list(&memory, only: [.joins]) }
        for name in memory.joins where name.invitation == invited.key.invitation && name.message == .welcome {
            guard let bytes = try onFolder({ () throws(RoadError) in try road.bytes(of: name, &memory) }) else {
                continue
            }
            // Anybody can write a file of this name.
            welcome = try? OpenedWelcome(
                bytes, to: invited.invitation, card: invited.card, under: invited.key, with: keys)
            if let others = otherNames { return others }
        }
        return nil
    }

    private var otherNames: [String]? {
        welcome?.roster.roster.body.members.filter { $0.id != keys.id }.map(\.name).sorted()
    }

    /// Comes into the group, with the folder as its first road. The proof that this wants is the caller's.
    /// - Throws: `vault` with `recordExists` where the vault is in a group; `invitationEnded` without a welcome.
    package func join(_ vault: Vault) throws(SyncError) -> GroupHome {
        guard let welcome = welcome.take() else { throw .invitationEnded(.refused) }
        let home = try GroupHome.join(welcome, in: vault, name: name, keys: MemberKeys(keys.bytes()))
        _ = try home.add(folder: road.path)
        return home
    }
}
