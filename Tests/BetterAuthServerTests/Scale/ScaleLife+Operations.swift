import BetterAuthMessages
import BetterAuthServer
import Foundation

// What one account goes through.
extension ScaleLife {
    /// One life, from an address of its own: what one address may do is limited.
    func live() throws {
        let address = "2001:db8:\((0..<6).map { _ in String(random(0..<65_536), radix: 16) }.joined(separator: ":"))"
        let hash = RecoveryHash(try freshDigest())
        var device = try TestDevice(recovery: hash)
        try expect(post("/account/create", device.creation(hash).bytes, address), "a new account")
        for _ in 0..<2 {
            let (message, next) = try device.rotation()
            let reply = try post("/device/rotate", message.bytes, address)
            try expect(reply, "a rotation")
            // A repeat elsewhere gets the same reply.
            let again = try post("/device/rotate", message.bytes, address)
            guard again.body == reply.body else { throw HTTPClient.Problem(description: "a repeat: \(again.text)") }
            device = next
        }
        let both = [try device.rotation(), try device.rotation()]
        device = both[try race("/device/rotate", both.map(\.0.bytes), address, refusal: "BA104", within: 240).0].1
        var session = try open(device, address)
        session = try refresh(session, address)
        try access(session, address)
        if random(0..<3) == 0 { device = try revoke(from: device, address) }
        let isDeleted = random(0..<2) == 0
        if isDeleted { try expect(post("/account/delete", device.deletion().bytes, address), "a deletion") }
        if isDeleted { try expectRefusal(session, address) }
        try keep(device, isDeleted: isDeleted, address)
    }

    private func expect(_ reply: HTTPClient.Reply, _ what: String) throws {
        guard reply.status != 200 else { return }
        throw HTTPClient.Problem(description: "\(what): \(reply.status) \(reply.text)")
    }

    /// Two answers to one challenge at once.
    private func open(_ device: TestDevice, _ address: String) throws -> TestSession {
        let question = UnsignedMessage(RequestSession.Request(nonce: try freshNonce(), identity: device.identity))
        let asked = try post("/session/request", question.bytes, address)
        try expect(asked, "a challenge")
        let challenge = try SignedMessage<Response<RequestSession>>(parsing: asked.body).payload.body.challenge
        let answers = [try TestSession.opening(device, challenge), try TestSession.opening(device, challenge)]
        let (index, reply) = try race(
            "/session/create", answers.map(\.0.bytes), address, refusal: "HF402", within: 45)
        let token = try SignedMessage<Response<CreateSession>>(parsing: reply.body).payload.body.token
        return TestSession(current: answers[index].1, next: answers[index].2, token: token)
    }

    /// Two refreshes of one token at once.
    private func refresh(_ session: TestSession, _ address: String) throws -> TestSession {
        let both = [try session.refreshing(), try session.refreshing()]
        let (index, reply) = try race(
            "/session/refresh", both.map(\.0.bytes), address, refusal: "HF410", within: 240)
        let token = try SignedMessage<Response<RefreshSession>>(parsing: reply.body).payload.body.token
        return TestSession(current: session.next, next: both[index].1, token: token)
    }

    /// One request for access at two processes: it is not repeated, so that one at most gets through.
    private func access(_ session: TestSession, _ address: String) throws {
        let request = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now).bytes
        let begin = ContinuousClock.now
        let replies = (0..<2).map { once("/foo/bar", request, address, at: $0) }
        let done = replies.count { $0?.status == 200 }
        // Where one was not answered nobody knows.
        let isKnown = replies.allSatisfy { $0 != nil } && ContinuousClock.now - begin < .seconds(25)
        guard done == 1 || done == 0 && !isKnown else {
            throw HTTPClient.Problem(description: "access, \(done) times: \(replies.map { $0?.text ?? "no answer" })")
        }
    }

    /// Another device joins, opens a session, and is taken out: its token and its session end with that.
    private func revoke(from device: TestDevice, _ address: String) throws -> TestDevice {
        let other = try TestDevice(identity: device.identity)
        let (linking, linked) = try device.linking(other.container())
        try expect(post("/device/link", linking.bytes, address), "a link")
        let session = try open(other, address)
        let (unlinking, after) = try linked.unlinking(other.id)
        try expect(post("/device/unlink", unlinking.bytes, address), "an unlink")
        try expectRefusal(session, address)
        return after
    }

    /// A device that is gone gets nothing, from no process.
    private func expectRefusal(_ session: TestSession, _ address: String) throws {
        for index in 0..<4 {
            let request = try accessRequest(session, #"{"foo":1,"bar":2}"#, now: SystemClock().now)
            for (path, bytes) in [
                ("/foo/bar", request.bytes), ("/session/refresh", try session.refreshing().0.bytes),
            ] {
                let reply = try post(path, bytes, address, from: index)
                guard reply.status != 200 else {
                    throw HTTPClient.Problem(description: "\(path) of a device that is gone: \(reply.text)")
                }
            }
        }
    }
}
