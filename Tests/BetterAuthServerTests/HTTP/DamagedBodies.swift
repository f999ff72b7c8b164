import BetterAuthMessages
import BetterAuthServer
import Dispatch
import Synchronization
import TestSupport

/// Messages with random damage, posted to random operations.
struct DamagedBodies: Sendable {
    /// Says what the damage is; named when a test fails.
    let seed = TestRun.seed
    private let originals: [[UInt8]]

    init(_ device: TestDevice) throws {
        originals = [
            try device.rotation().0.bytes, try device.creation(RecoveryHash(freshDigest())).bytes,
            try device.linking(TestDevice(identity: device.identity).container()).0.bytes,
            try TestSession.opening(device, freshNonce()).0.bytes,
        ]
    }

    /// Posts so many over four connections.
    /// - Returns: What was not answered as it should be.
    func post(_ count: Int, to address: String) throws -> [String] {
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { lane in
            var state = seed &+ UInt64(lane)
            func random(_ bound: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(state >> 33) % bound
            }
            do {
                let client = try HTTPClient(address)
                for _ in 0..<count / 4 {
                    let body = damaged(random)
                    let operation = AuthOperation.allCases[random(AuthOperation.allCases.count)]
                    let reply = try client.post(operation.path, body)
                    if reply.body.isEmpty || reply.status == 500 { failures.withLock { $0.append(reply.text) } }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        return failures.withLock { $0 }
    }

    private func damaged(_ random: (Int) -> Int) -> [UInt8] {
        var body = originals[random(originals.count)]
        for _ in 0..<random(5) {
            let index = random(body.count)
            switch random(4) {
            case 0: body[index] = UInt8(random(256))
            case 1: body.removeSubrange(index..<min(body.count, index + random(20)))
            case 2: body.insert(contentsOf: body[..<random(body.count)].suffix(40), at: index)
            default: body.insert(UInt8(random(256)), at: index)
            }
            if body.isEmpty { body = [0] }
        }
        return body
    }
}
