import ProgramProtocols
import TestSupport
import Testing

/// Keys that are for certain hosts: how the constraint is read, and what it allows.
@Suite(.seeded) struct SSHDestinationTests {
    private static func host(_ number: UInt8) -> [UInt8] {
        SSHKeyKind.ed25519.blob([UInt8](repeating: number, count: 32))
    }

    private static let (first, second, third) = (host(1), host(2), host(3))

    private static func step(_ id: UInt8, _ host: [UInt8], forwarded: Bool) -> SSHSessions.Session {
        SSHSessions.Session(id: [id], host: host, isForwarded: forwarded)
    }

    private static func sessions(_ steps: SSHSessions.Session...) -> SSHSessions {
        var sessions = SSHSessions()
        for step in steps { _ = sessions.add(step) { true } }
        return sessions
    }

    private static func signed(
        _ session: UInt8, user: String = "ada", host: [UInt8]? = nil, key: [UInt8] = first, number: UInt8 = 50,
        service: String = "ssh-connection", algorithm: String = "ssh-ed25519"
    ) -> [UInt8] {
        var writer = SSHWriter()
        writer.string([session])
        writer.byte(number)
        writer.string(user)
        writer.string(service)
        writer.string(host == nil ? "publickey" : "publickey-hostbound-v00@openssh.com")
        writer.byte(1)
        writer.string(algorithm)
        writer.string(key)
        if let host { writer.string(host) }
        return writer.bytes
    }

    private static func login(_ session: UInt8, user: String = "ada", host: [UInt8]? = nil) throws -> SSHLogin {
        try unsafe SSHLogin(parsing: signed(session, user: user, host: host).span.bytes, key: first)
    }

    private static func hop(_ user: String, _ name: String, _ keys: [([UInt8], UInt8)], reserved: String = "")
        -> [UInt8]
    {
        var writer = SSHWriter()
        for text in [user, name, reserved] { writer.string(text) }
        for (key, isAuthority) in keys {
            writer.string(key)
            writer.byte(isAuthority)
        }
        return writer.bytes
    }

    private static func constraint(_ from: [UInt8], _ to: [UInt8], reserved: String = "") -> [UInt8] {
        var (writer, outer) = (SSHWriter(), SSHWriter())
        writer.string(from)
        writer.string(to)
        writer.string(reserved)
        outer.string(writer.bytes)
        return outer.bytes
    }

    private static func list(_ bytes: [UInt8]) throws(SSHError) -> [SSHDestination] {
        try unsafe SSHDestination.list(0..<bytes.count, bytes.span.bytes)
    }

    @Test func `a constraint is read, and an authority is no host`() throws {
        let direct = Self.constraint(Self.hop("", "", []), Self.hop("a*", "one", [(Self.first, 0), (Self.second, 1)]))
        let onward = Self.constraint(Self.hop("", "one", [(Self.first, 0)]), Self.hop("", "two", [(Self.third, 1)]))
        #expect(
            try Self.list(direct + onward) == [
                SSHDestination(from: nil, to: [Self.first], user: Array("a*".utf8)),
                SSHDestination(from: [Self.first], to: []),
            ])
    }

    @Test func `a constraint that could be read as none is refused`() {
        let (here, there) = (Self.hop("", "", []), Self.hop("", "one", [(Self.first, 0)]))
        let wrong: [[UInt8]] = [
            [], Self.constraint(here, here), Self.constraint(Self.hop("ada", "", []), there),
            Self.constraint(Self.hop("", "one", []), there),
            Self.constraint(Self.hop("", "", [(Self.first, 0)]), there),
            Self.constraint(here, Self.hop("", "one", [])), Self.constraint(here, there, reserved: "x"),
            Self.constraint(here, Self.hop("", "one", [(Self.first, 0)], reserved: "x")),
            Self.constraint(here, Self.hop("", "one", [([], 0)])), Self.constraint(here, there) + [0, 0, 0, 0],
        ]
        for bytes in wrong { #expect(throws: SSHError.self, "\(bytes)") { try Self.list(bytes) } }
        let whole = Self.constraint(here, there)
        for count in 1..<whole.count { #expect(throws: SSHError.self) { try Self.list(Array(whole[..<count])) } }
    }

    @Test(
        arguments: [
            ("ada", "ada", true), ("ada", "ad", false), ("ad", "ada", false), ("ada", "*", true), ("", "*", true),
            ("ada", "a?a", true), ("ada", "?", false), ("ada", "*a", true), ("adb", "*a", false),
            ("aXbXc", "a*b*c", true),
            ("abab", "*ab", true), ("", "?", false),
        ])
    func `names of users are compared with patterns`(name: String, pattern: String, matches: Bool) {
        #expect(SSHDestination.matches(Array(name.utf8), Array(pattern.utf8)) == matches)
    }

    @Test func `a key for one host signs the login there, by its user, and nothing else`() throws {
        let key = [SSHDestination(from: nil, to: [Self.first], user: Array("ada".utf8))]
        let there = Self.sessions(Self.step(1, Self.first, forwarded: false))
        #expect(try there.shows(key) && there.allows(key, Self.login(1)))
        #expect(try there.allows(key, Self.login(1, host: Self.first)))
        #expect(try !there.allows(key, Self.login(2)), "another session")
        #expect(try !there.allows(key, Self.login(1, user: "bob")))
        #expect(try !there.allows(key, Self.login(1, host: Self.second)))
        #expect(!there.allows(key, nil), "what is no login")
        let elsewhere = Self.sessions(Self.step(1, Self.second, forwarded: false))
        #expect(try !elsewhere.shows(key) && !elsewhere.allows(key, Self.login(1)))
        #expect(
            try SSHSessions().shows(key) && !SSHSessions().allows(key, Self.login(1)), "a connection that says nothing")
        let handedOn = Self.sessions(Self.step(1, Self.first, forwarded: true))
        #expect(try !handedOn.shows(key) && !handedOn.allows(key, Self.login(1)))
        #expect(there.shows([]) && handedOn.allows([], nil), "a key without a constraint")
    }

    @Test func `a key for a second host is used through the first one alone`() throws {
        let key = [
            SSHDestination(from: nil, to: [Self.first]), SSHDestination(from: [Self.first], to: [Self.second]),
        ]
        let handedOn = Self.step(1, Self.first, forwarded: true)
        #expect(Self.sessions(handedOn).shows(key))
        let there = Self.sessions(handedOn, Self.step(2, Self.second, forwarded: false))
        #expect(try there.shows(key) && there.allows(key, Self.login(2, host: Self.second)))
        #expect(try !there.allows(key, Self.login(2)), "a login that does not name the host")
        #expect(try !there.allows(key, Self.login(1, host: Self.first)), "the session before")
        for steps in [
            Self.sessions(Self.step(1, Self.third, forwarded: true), Self.step(2, Self.second, forwarded: false)),
            Self.sessions(handedOn, Self.step(2, Self.third, forwarded: false)),
            Self.sessions(Self.step(2, Self.second, forwarded: false)),
            Self.sessions(
                handedOn, Self.step(3, Self.third, forwarded: true), Self.step(2, Self.second, forwarded: false)),
        ] {
            #expect(try !steps.shows(key) && !steps.allows(key, Self.login(2, host: Self.second)))
        }
    }

    @Test func `a step that cannot be believed ends the use of such keys for good`() throws {
        let key = [SSHDestination(from: nil, to: [Self.first])]
        let right = Self.step(1, Self.first, forwarded: false)
        func broken(_ begin: SSHSessions, _ step: SSHSessions.Session?, _ isProved: Bool = true) throws {
            var sessions = begin
            #expect(!sessions.add(step) { isProved } && sessions.isBroken)
            #expect(!sessions.add(right) { true } && !sessions.shows(key))
            #expect(try !sessions.allows(key, Self.login(1)) && sessions.shows([]))
        }
        try broken(SSHSessions(), right, false)
        try broken(SSHSessions(), nil)
        try broken(Self.sessions(right), Self.step(2, Self.second, forwarded: true))
        try broken(Self.sessions(Self.step(1, Self.first, forwarded: true)), Self.step(1, Self.second, forwarded: true))
        try broken(Self.sessions(Self.step(1, Self.first, forwarded: true)), right)
        var many = SSHSessions()
        for number in 0..<SSHSessions.most {
            #expect(many.add(Self.step(UInt8(number), Self.first, forwarded: true)) { true })
        }
        #expect(many.add(Self.step(0, Self.first, forwarded: true)) { false }, "a step that is known is proved")
        try broken(many, Self.step(99, Self.first, forwarded: true))
    }

    @Test func `what is no login with the key is not taken for one`() throws {
        let whole = Self.signed(1, host: Self.second)
        #expect(try unsafe SSHLogin(parsing: whole.span.bytes, key: Self.first).host == Self.second)
        var wrong = (0..<whole.count).map { Array(whole[..<$0]) }
        wrong += [
            whole + [0], Self.signed(1, key: Self.second), Self.signed(1, number: 51),
            Self.signed(1, service: "ssh-userauth"), Self.signed(1, algorithm: "ssh-rsa"), Array("SSHSIG".utf8) + whole,
        ]
        for bytes in wrong {
            #expect(throws: SSHError.self) { try unsafe SSHLogin(parsing: bytes.span.bytes, key: Self.first) }
        }
    }
}
