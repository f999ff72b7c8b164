@testable import AgentMessages
import SyncFormat
import TestSupport
import Testing
import VaultFormat

/// Every message there and back, and everything that is not one.
@Suite(.seeded) struct MessageTests {
    /// A message that is added is forgotten nowhere.
    @Test func `every request has an example here`() {
        #expect(Set(MessageTests.requests.map { $0.0.head()[5] }) == Set(Request.numbers))
    }

    @Test func `every number is of one request`() {
        #expect(Set(Request.numbers).count == Request.numbers.count)
    }

    private static let path = RecordName(collection: "logins", name: "mail \u{e9}")!

    private static let key = TrashKey(collection: "logins", id: [UInt8](1...16))!

    private static let folder = EntryFolder(first: "logins", rest: "work/\u{e9}")!

    private static func call(_ action: FolderCall.Action) -> FolderCall {
        FolderCall(action, digest: [UInt8](repeating: 7, count: FolderCall.digestSize))!
    }

    static let requests: [(Request, payload: Int)] = [
        (.connection(.hello(version: 7)), 0), (.connection(.status), 0),
        (.lock(.unlock(.passcode, idle: nil, timeout: nil, secret: 11..<19)), 8),
        (.lock(.unlock(.passcode, isRemembered: true, idle: nil, timeout: nil, secret: 11..<19)), 8),
        (.lock(.unlock(.pin, idle: nil, timeout: nil, secret: 11..<15)), 4),
        (.lock(.unlock(.recoveryPhrase, idle: 1, timeout: .max, secret: 11..<1035)), 1024),
        (.lock(.open(idle: nil, timeout: nil)), 0), (.lock(.open(idle: 60, timeout: .max)), 0), (.lock(.lock), 0),
        (.lock(.ask(.git, idle: nil, timeout: 7)), 0), (.lock(.ask(.unlock, idle: 1, timeout: nil)), 0),
        (.records(.get(path)), 0),
        (.records(.put(path, replacing: true)), 0), (.records(.put(path, replacing: false)), 0),
        (.records(.list(collection: nil)), 0),
        (.records(.list(collection: "")), 0), (.records(.list(collection: "logins")), 0), (.records(.remove(path)), 0),
        (.connection(.ping), 0), (.lock(.shutDown), 0),
        (.transfer(.data(0..<1)), 1), (.transfer(.data(0..<65_536)), 65_536), (.transfer(.end), 0),
        (.change(.begin(.enable, countdown: nil, secret: 6..<14)), 8),
        (.change(.begin(.disable, countdown: .max, secret: 6..<7)), 1), (.change(.confirm), 0),
        (.change(.finish(secret: 0..<1024)), 1024), (.change(.cancel), 0), (.change(.pending), 0),
        (.owner(.confirm(.biometrics, idle: nil, timeout: nil)), 0),
        (.owner(.confirm(.devicePasscode, idle: 60, timeout: .max)), 0), (.owner(.answer(secret: 0..<1024)), 1024),
        (.owner(.cancel), 0),
        (.records(.move(path, to: RecordName(collection: "", name: "n")!)), 0),
        (.records(.copy(RecordName(collection: "c", name: "n")!, to: path)), 0),
        (.records(.find("", collection: nil)), 0),
        (.programs(.credential(.store, collection: "git", attributes: 6..<11)), 5), (.programs(.serveSSH), 0),
        (.programs(.serveSecrets), 0), (.programs(.stopSecrets), 0), (.programs(.disallow(tag: "git:\u{e9}")), 0),
        (.programs(.importSSH(RecordName(collection: "c", name: "n")!, key: 6..<8)), 2),
        (.records(.value(path, label: nil, isCode: false)), 0),
        (.records(.value(path, label: "user name", isCode: true)), 0),
        (.records(.find("mail #work \u{e9}", collection: "")), 0), (.records(.find("x", collection: "logins")), 0),
        (.items(.item(path)), 0), (.items(.putItem(path, replacing: nil)), 0),
        (.items(.putItem(path, replacing: .max)), 0),
        (.items(.discard(path, seconds: .max)), 0), (.items(.discard(path, seconds: 0)), 0),
        (.items(.trash), 0), (.items(.restore(key, nil)), 0), (.items(.restore(key, path)), 0),
        (.items(.emptyTrash(nil)), 0),
        (.items(.emptyTrash(key)), 0), (.items(.tags), 0),
        (.items(.folder(call(.move(folder, to: EntryFolder(first: "", rest: "")!)))), 0),
        (.items(.folder(call(.copy(EntryFolder(first: "work", rest: "")!, to: folder)))), 0),
        (.items(.folder(call(.discard(folder, seconds: .max)))), 0), (.items(.folder(call(.remove(folder)))), 0),
        (.items(.folder(call(.adopt))), 0), (.connection(.introduce(Introduction())), 0),
        (
            .connection(
                .introduce(
                    Introduction(
                        program: .init(device: 1, inode: .max), display: ":0", waylandDisplay: "wayland-1",
                        terminalType: "xterm"))), 0
        ),
        (.leases(.lease(.item(path), seconds: nil)), 0), (.leases(.lease(.tag("work"), seconds: .max)), 0),
        (.leases(.list), 0),
        (.maintenance(.inbox), 0), (.maintenance(.rejectInbox("note")), 0), (.maintenance(.securityLog), 0),
        (.maintenance(.verify), 0), (.sync(.now), 0), (.sync(.status), 0),
        (.maintenance(.acceptInbox(Acceptance(item: "n", name: nil, collection: nil, isReplacing: false))), 0),
        (.maintenance(.acceptInbox(Acceptance(item: "n", name: "\u{e9}", collection: "c", isReplacing: true))), 0),
        (.leases(.revoke(nil)), 0), (.leases(.revoke(.max)), 0),
        (.owner(.status), 0), (.identity(IdentityCall(.status)), 0), (.identity(IdentityCall(.openSession)), 0),
        (.identity(IdentityCall(.refreshSession, allowsPlain: true)), 0), (.identity(IdentityCall(.endSession)), 0),
        (.identity(IdentityCall(.rotate)), 0),
        (.identity(IdentityCall(.request(IdentityCall.AppRequest(path: "/a"), json: 8..<10))), 2),
        (
            .identity(
                IdentityCall(
                    .request(
                        IdentityCall.AppRequest(path: "/a/b", target: "https://app.example", key: "1AAI"),
                        json: 37..<1037), allowsPlain: true)), 1000
        ),
    ]

    /// Answers with any number of entries.
    private static let lists: [Reply.Kind] = [
        .records, .trash, .texts, .leases, .inbox, .logEntries, .logFindings,
    ]

    private static var report: IdentityReport {
        var report = IdentityReport(state: "authenticated")
        report.identity = "EA"
        report.device = "EB"
        report.publicKey = "1AAI"
        report.isInChip = false
        report.server = "https://id.example"
        report.keyChain = "EC"
        report.firstKeys = [.init(server: "https://id.example", key: "1AAI"), .init(server: "", key: "k")]
        report.sessionExpiry = -1
        report.refreshExpiry = .max
        report.drillDue = .min
        report.isDrillDue = true
        report.isUnfinished = true
        report.unfinished = "the device's key was rotated"
        report.isRotationDue = true
        return report
    }

    private static var verification: VerificationReport {
        var report = VerificationReport()
        report.records = .max
        report.expectedRecords = 7
        report.files = 1
        report.damagedRecords = 2
        report.isRolledBack = true
        report.arePagesWhole = false
        report.orphanedFiles = 3
        report.openItems = 4
        report.openUnreadable = 5
        report.isOpenAltered = true
        report.hasSetAside = true
        report.publicKey = "replaced"
        return report
    }

    private static var sync: SyncStatus {
        var road = SyncStatus.Road(path: "/home/ada/Sync \u{e9}")
        (road.given, road.taken, road.published) = (.max, 1, 2)
        road.hitches = ["missing: 14 of laptop", "one torn file"]
        road.problem = "the disk is full"
        road.time = .min
        let members = (0..<2).map { number in
            SyncStatus.Member(
                SyncMemberID([UInt8](repeating: UInt8(number), count: 16))!, name: "laptop \u{e9}",
                isThisDevice: number == 0)
        }
        return SyncStatus(
            members: members, words: ["one", "two", "three", "four"], roads: [road, SyncStatus.Road(path: "/")])
    }

    static let replies: [(Reply, payload: Int)] = [
        (.sync(nil), 0), (.sync(sync), 0),
        (.sync(SyncStatus(members: Array(sync.members.prefix(1)), words: [], roads: [])), 0),
        (.inbox([]), 0), (.logEntries([]), 0), (.logFindings([]), 0), (.progress(done: 1, total: .max), 0),
        (.verification(VerificationReport()), 0), (.verification(verification), 0),
        (
            .inbox([
                InboxEntry(name: "n", original: path, size: .max, created: -1, modified: .min, wasSealed: true)
            ]), 0
        ),
        (
            .logEntries([
                LoggedEntry(index: .max, entry: LogEntry(moment: .zero, event: .created))
            ]), 0
        ),
        (.logFindings([LogFinding(kind: "cut", position: 3, text: "the newest entries")]), 0),
        (.done, 0), (.failure(Failure(code: "locked", reason: "")), 0), (.leases([]), 0),
        (
            .leases([
                LeaseEntry(number: 1, session: 7, program: "/usr/bin/ssh", target: .item(path), remaining: 600_000),
                LeaseEntry(number: .max, session: .max, program: "", target: .tag("work"), remaining: nil),
            ]), 0
        ),
        (.failure(Failure(code: "wrongPasscode", reason: "wrong", remainingAttempts: 4, retryAfter: .max)), 0),
        (.welcome(version: 1, process: .max, program: "0.1.0"), 0),
        (.status(AgentStatus(process: 1, isUnlocked: true, locksIn: 900_000, connections: 3, locks: 2)), 0),
        (.status(AgentStatus(process: 1, isUnlocked: false, locksIn: nil, connections: 1, locks: 0)), 0),
        (.unlocked(locksIn: 0), 0), (.unlocked(locksIn: nil), 0), (.ready, 0), (.piece(0..<65_536), 65_536),
        (.records([]), 0),
        (
            .records([
                RecordEntry(
                    path: path, size: .max, created: -1, modified: .min, isFile: true, isOpen: false, isItem: true),
                RecordEntry(
                    path: path, size: 0, created: .max, modified: 0, isFile: false, isOpen: true, isItem: false),
            ]), 0
        ), (.finished(.max), 0), (.change(nil), 0),
        (.change(PendingChange(change: .enable, countdown: 30_000, remaining: nil)), 0),
        (.change(PendingChange(change: .disable, countdown: .max, remaining: 0)), 0),
        (.guidance(.touch), 0), (.guidance(.checking), 0),
        (.prompt(.hidden("Password: ")), 0), (.prompt(.problem("")), 0),
        (.owner(OwnerStatus(expiry: nil, sincePasscode: 7, nonMatches: 4)), 0),
        (.owner(OwnerStatus(expiry: .enrollmentChanged, sincePasscode: nil, nonMatches: 0)), 0),
        (.notice(""), 0), (.notice("done now, from an earlier command"), 0),
        (.item(ItemHead(sequence: .max, isOfValue: true, size: 1 << 20)), 0), (.trash([]), 0), (.texts([]), 0),
        (.trash([TrashEntry(key: key, name: "mail \u{e9}", moved: -1, expires: .max)]), 0),
        (.texts(["work", "\u{e9}"]), 0),
        (.identity(IdentityReport(state: "ready")), 0), (.identity(report), 0),
    ]

    @Test("request", arguments: requests.indices)
    func aRequestComesBack(_ index: Int) throws {
        let (request, payload) = MessageTests.requests[index]
        let bytes = request.head(payload: payload) + [UInt8](repeating: 9, count: payload)
        #expect(try parseRequest(bytes) == request)
        // Cut anywhere, it is none; nor with a byte behind it.
        for count in (payload > 2000 ? 0..<40 : 0..<bytes.count) {
            #expect(throws: MessageError.self) { try parseRequest(Array(bytes[..<count])) }
        }
        #expect(throws: MessageError.self) { try parseRequest(bytes + [0]) }
    }

    @Test("reply", arguments: replies.indices)
    func aReplyComesBack(_ index: Int) throws {
        let (reply, payload) = MessageTests.replies[index]
        let bytes = reply.head(payload: payload) + [UInt8](repeating: 9, count: payload)
        #expect(try parseReply(bytes) == reply)
        for count in (payload > 2000 ? 0..<40 : 0..<bytes.count) {
            #expect(throws: MessageError.self) { try parseReply(Array(bytes[..<count])) }
        }
        #expect(throws: MessageError.self) { try parseReply(bytes + [0]) }
    }

    /// The body is cut, and the frame says so: the fields themselves must notice.
    @Test func aShortBodyIsRefused() throws {
        for (request, payload) in MessageTests.requests where payload == 0 {
            let bytes = request.head()
            for count in Frame.size..<bytes.count {
                let body = Array(bytes[Frame.size..<count])
                let message = Frame.bytes(kind: bytes[5], bodySize: body.count) + body
                #expect(throws: MessageError.self, "\(request) \(count)") { try parseRequest(message) }
            }
            let longer = Frame.bytes(kind: bytes[5], bodySize: bytes.count - Frame.size + 1)
            #expect(throws: MessageError.self) { try parseRequest(longer + bytes[Frame.size...] + [0]) }
        }
        for (reply, payload) in MessageTests.replies where payload == 0 && reply.head().count > Frame.size {
            let bytes = reply.head()
            for count in Frame.size..<bytes.count {
                let body = Array(bytes[Frame.size..<count])
                if MessageTests.lists.contains(reply.kind), body.isEmpty { continue }  // nothing is a list too
                // A list may end behind any of its entries.
                let message = Frame.bytes(kind: reply.kind.rawValue, bodySize: body.count) + body
                if MessageTests.lists.contains(reply.kind), let shorter = try? parseReply(message) {
                    #expect(shorter.head() == message)
                    continue
                }
                #expect(throws: MessageError.self, "\(reply) \(count)") { try parseReply(message) }
            }
        }
    }

    @Test func lengthsAreLimitedBeforeAnythingIsRead() throws {
        for kind in Request.numbers {
            let most = [11, 22, 33, 41].contains(kind) ? 65_536 : 4096
            #expect(throws: MessageError.tooLong(most + 1)) {
                try frame(Frame.bytes(kind: kind, bodySize: most + 1)).expectRequest()
            }
            #expect(throws: MessageError.tooLong(Int(UInt32.max))) {
                try frame([255, 255, 255, 255, 1, kind]).expectRequest()
            }
            try frame(Frame.bytes(kind: kind, bodySize: most)).expectRequest()
        }
        #expect(throws: MessageError.tooLong(65_537)) {
            try frame(Frame.bytes(kind: 134, bodySize: 65_537)).expectReply()
        }
    }

    @Test func otherVersionsAndKindsAreNamed() throws {
        for version in UInt8.min ... .max where version != 1 {
            #expect(throws: MessageError.otherVersion(version)) { try frame([0, 0, 0, 0, version, 9]) }
        }
        for kind in UInt8.min ... .max {
            let bytes: [UInt8] = [0, 0, 0, 0, 1, kind]
            if !Request.numbers.contains(kind) {
                #expect(throws: MessageError.unknownKind(kind)) { try frame(bytes).expectRequest() }
            }
            if Reply.Kind(rawValue: kind) == nil {
                #expect(throws: MessageError.unknownKind(kind)) { try frame(bytes).expectReply() }
            }
        }
    }

    @Test func fieldsOutsideTheirRangeAreRefused() throws {
        let bad: [(UInt8, [UInt8])] = [
            (3, [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 65]),  // a factor that there is not
            (3, [1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 65]),  // an invalid flag
            (3, [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 65]),  // a time behind no flag
            (3, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 65]),  // no time at all
            (3, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),  // no secret
            (3, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 65, count: 1025)),
            (5, [0, 0, 0, 0]),  // no name
            (5, [0, 0, 1, 0, 0xFF]),  // no UTF-8
            (5, [0, 0, 2, 0, 0xC0, 0x80]),  // an overlong form
            (5, [0, 1] + [UInt8](repeating: 65, count: 256) + [1, 0, 65]),  // a collection that is too long
            (5, [0, 0, 1, 4] + [UInt8](repeating: 65, count: 1025)),  // a name that is too long
            (13, [3, 0, 0, 0, 0, 0, 65]), (13, [1, 0, 1, 0, 0, 0, 65]), (13, [1, 0, 0, 0, 0, 0]), (15, []), (14, [0]),
            (53, [0] + [UInt8](repeating: 7, count: 32)),  // an action that there is not
            (53, [6] + [UInt8](repeating: 7, count: 32)), (53, [5] + [UInt8](repeating: 7, count: 31)),
            (53, [5] + [UInt8](repeating: 7, count: 32) + [0, 0, 0, 0]),  // a folder that is not asked for
            (53, [4] + [UInt8](repeating: 7, count: 32) + [0, 1] + [UInt8](repeating: 65, count: 256) + [0, 0]),
            (53, [4] + [UInt8](repeating: 7, count: 32) + [0, 0, 1, 4] + [UInt8](repeating: 65, count: 1025)),
            (6, [2, 0, 0, 1, 0, 65]), (7, [2]), (11, []), (1, []),
        ]
        for (kind, body) in bad {
            #expect(throws: MessageError.self, "\(kind) \(body.prefix(12))") {
                try parseRequest(Frame.bytes(kind: kind, bodySize: body.count) + body)
            }
        }
        #expect(RecordName(collection: "", name: "") == nil)
        #expect(EntryFolder(first: String(repeating: "c", count: 256), rest: "") == nil)
        #expect(FolderCall(.adopt, digest: [1]) == nil)
        #expect(RecordName(collection: String(repeating: "c", count: 256), name: "n") == nil)
        #expect(RecordName(collection: "", name: String(repeating: "n", count: 1025)) == nil)
    }

    @Test func texts() throws {
        let long = String(repeating: "\u{20ac}", count: 1000)  // 3 bytes each: the limit falls inside of one
        guard case .failure(let failure) = try parseReply(Reply.failure(Failure(code: "c", reason: long)).head()) else {
            throw MessageError.truncated
        }
        #expect(failure.reason == String(repeating: "\u{20ac}", count: 682))
        let composed = RecordName(collection: "", name: "\u{e9}")
        #expect(composed != RecordName(collection: "", name: "e\u{301}"))
    }

    /// A status of which every part is as long as it may be, and the hitches longer.
    @Test func `a sync status fits into one message, however much stands in the way`() throws {
        let members = (0..<SyncLimits.members).map { number in
            SyncStatus.Member(
                SyncMemberID([UInt8](repeating: UInt8(number), count: 16))!,
                name: String(repeating: "n", count: SyncLimits.name), isThisDevice: false)
        }
        var road = SyncStatus.Road(path: "/" + String(repeating: "p", count: SyncLimits.path - 1))
        road.hitches = (0..<1000).map { "hitch \($0)" } + [String(repeating: "\u{20ac}", count: 4000), ""]
        road.problem = String(repeating: "\u{20ac}", count: 40_000)
        road.time = 1
        let status = SyncStatus(
            members: members, words: Array(repeating: String(repeating: "w", count: 16), count: 4),
            roads: Array(repeating: road, count: SyncLimits.roads))
        let bytes = Reply.sync(status).head()
        #expect(bytes.count <= Frame.size + Frame.longestBody)
        guard case .sync(let read?) = try parseReply(bytes) else { throw MessageError.truncated }
        #expect(read.members == status.members && read.words == status.words && read.roads.count == 4)
        for found in read.roads {
            #expect(found.path == road.path && found.time == 1)
            let shown = found.hitches.dropLast()
            #expect(shown.count > 100 && Array(shown) == Array(road.hitches.prefix(shown.count)))
            #expect(found.hitches.last == "and \(1001 - shown.count) more")
            #expect(found.problem == String(repeating: "\u{20ac}", count: 1706))
        }
        // What was cut is not cut again.
        #expect(Reply.sync(read).head() == bytes)
    }

    @Test func `a sync status beyond its limits is refused`() throws {
        func message(_ body: [UInt8]) -> [UInt8] { Frame.bytes(kind: 152, bodySize: body.count) + body }
        let member = [UInt8](repeating: 3, count: 16) + [1, 0, 65, 0]
        func members(_ count: Int) -> [UInt8] {
            [1, UInt8(count), 0] + (0..<count).flatMap { _ in member }
        }
        let none = [UInt8](repeating: 0, count: 10)
        func road(path: [UInt8] = [1, 0, 47], hitches: [UInt8] = [0, 0], end: [UInt8]? = nil) -> [UInt8] {
            path + [UInt8](repeating: 0, count: 24) + hitches + (end ?? none)
        }
        let one = members(1) + [0, 0, 1, 0]
        let whole = message(one + road())
        #expect(try parseReply(whole).head() == whole)
        let many = (0..<2049).flatMap { _ in [1, 0, 65] as [UInt8] }
        let bad: [(String, [UInt8])] = [
            ("no members", members(0) + [0, 0, 0, 0]), ("33 members", members(33) + [0, 0, 0, 0]),
            ("another flag", [2]), ("something behind nothing", [0, 0]),
            ("five words", members(1) + [5, 0] + (0..<5).flatMap { _ in [1, 0, 65] as [UInt8] } + [0, 0]),
            ("an empty word", members(1) + [1, 0, 0, 0, 0, 0]),
            ("five roads", members(1) + [0, 0, 5, 0] + (0..<5).flatMap { _ in road() }),
            ("no path", one + road(path: [0, 0])),
            ("a time behind no flag", one + road(end: [0, 0, 1] + none.dropFirst(3))),
            ("an empty problem", one + road(end: [1, 0, 0] + none.dropFirst())),
            ("an empty hitch", one + road(hitches: [1, 0, 0, 0])),
            ("too many hitches", one + road(hitches: [1, 8] + many)),
        ]
        for (what, body) in bad {
            #expect(throws: MessageError.self, "\(what)") { try parseReply(message(body)) }
        }
    }

    /// Random bytes behind a right frame: a message or an error, and what is a message has one form only.
    @Test func garbageNeverTraps() throws {
        var random = SeededGenerator()
        for _ in 0..<20_000 {
            let kind = UInt8(truncatingIfNeeded: random.next())
            let body = (0..<Int(random.next() % 60)).map { _ in UInt8(truncatingIfNeeded: random.next() & random.next())
            }
            let bytes = Frame.bytes(kind: kind, bodySize: body.count) + body
            if let request = try? parseRequest(bytes) {
                let payload = request.payload
                #expect(request.head(payload: payload) == Array(bytes.dropLast(payload)))
            }
            if let reply = try? parseReply(bytes) {
                let payload = if case .piece(let range) = reply { range.count } else { 0 }
                #expect(reply.head(payload: payload) == Array(bytes.dropLast(payload)))
            }
        }
    }

    private func frame(_ bytes: [UInt8]) throws -> Frame { try unsafe Frame(parsing: bytes.span.bytes) }

    private func parseRequest(_ bytes: [UInt8]) throws -> Request {
        let frame = try frame(Array(bytes.prefix(Frame.size)))
        let body = Array(bytes.dropFirst(Frame.size))
        return try unsafe Request(frame, body: body.span.bytes)
    }

    private func parseReply(_ bytes: [UInt8]) throws -> Reply {
        let frame = try frame(Array(bytes.prefix(Frame.size)))
        let body = Array(bytes.dropFirst(Frame.size))
        return try unsafe Reply(frame, body: body.span.bytes)
    }
}

extension Request {
    var payload: Int {
        switch self {
        case .lock(.unlock(_, _, _, _, let range)), .change(.begin(_, _, let range)), .change(.finish(let range)),
            .transfer(.data(let range)), .owner(.answer(let range)), .programs(.credential(_, _, let range)),
            .programs(.importSSH(_, let range)):
            range.count
        default: 0
        }
    }
}
