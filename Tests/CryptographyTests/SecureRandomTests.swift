import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import SystemCalls

@Suite struct SecureRandomTests {
    @Test(arguments: [0, 1, 12, 16, 32, 33, 4096, 5000])
    func sizes(_ count: Int) throws {
        #expect(try SecureRandom.bytes(count).count == count)
        let secret = try SecureRandom.secret(count)
        #expect(secret.count == count)
        let longLived = try SecureRandom.secret(count, lifetime: .longLived)
        #expect(longLived.count == count)
    }

    @Test(arguments: [-1, Int.min, 1 << 31])
    func impossibleSizesAreRefused(_ count: Int) {
        #expect(throws: CryptographyError.invalidSize) { try SecureRandom.bytes(count) }
        #expect(throws: CryptographyError.memory(.invalidSize(count))) { _ = try SecureRandom.secret(count) }
    }

    @Test("no two of many draws are equal, and every byte of a draw is written")
    func draws() throws {
        var seen: Set<[UInt8]> = []
        var touched = [Bool](repeating: false, count: 32)
        for _ in 0..<500 {
            for draw in [try SecureRandom.bytes(32), try SecureRandom.secret(32).revealed()] {
                #expect(seen.insert(draw).inserted)
                for (place, byte) in draw.enumerated() where byte != 0 { touched[place] = true }
            }
        }
        #expect(touched.allSatisfy { $0 })
    }
}

@Suite struct NoncePoolTests {
    @Test func nonceSizes() {
        for size in 0...16 {
            let nonce = Nonce96(Array(0..<UInt8(size)))
            #expect((nonce != nil) == (size == 12))
        }
    }

    @Test func aNonceLendsTheBytesItCopied() throws {
        let bytes = Array(UInt8(3)..<15)
        let nonce = try #require(Nonce96(bytes))
        #expect(nonce.array == bytes)
    }

    @Test("nonces differ across refills of the pool and between pools")
    func unique() throws {
        var first = try NoncePool()
        var second = try NoncePool()
        var seen: Set<[UInt8]> = []
        for _ in 0..<1100 {
            let (a, b) = (try first.next().array, try second.next().array)
            let isNew = seen.insert(a).inserted && seen.insert(b).inserted
            #expect(isNew)
            #expect(a != [UInt8](repeating: 0, count: 12), "a wiped nonce was handed out")
        }
    }

    @Test("a nonce is wiped from the pool as it is handed out, and no other")
    func wiped() throws {
        var pool = try NoncePool()
        for used in 1...3 {
            let nonce = try pool.next().array
            let bytes = pool.withPool { bytes in
                (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            }
            #expect(bytes.prefix(12 * used).allSatisfy { $0 == 0 })
            #expect(!bytes.dropFirst(12 * used).prefix(12).allSatisfy { $0 == 0 })
            #expect(nonce != [UInt8](repeating: 0, count: 12))
        }
    }

    #if canImport(Glibc) && !canImport(Darwin)
    @Test("a forked child neither repeats its parent's nonces nor touches its memory")
    func fork() async {
        await #expect(processExitsWith: .success) {
            var pool = try NoncePool()
            _ = try pool.next()
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { exit(2) }
            let child = forkProcess()
            let nonces = try [pool.next().array, pool.next().array].flatMap { $0 }
            if child == 0 {
                _ = unsafe write(ends[1], nonces, nonces.count)
                _exit(0)
            }
            var status: Int32 = 0
            guard unsafe waitpid(child, &status, 0) == child, status == 0 else { exit(3) }
            var others = [UInt8](repeating: 0, count: 24)
            guard unsafe read(ends[0], &others, 24) == 24 else { exit(4) }
            guard Set([nonces.prefix(12), nonces.suffix(12), others.prefix(12), others.suffix(12)]).count == 4
            else { exit(5) }
            exit(0)
        }
    }

    @Test("the end of a pool in a forked child leaves its parent's memory alone")
    func forkWithoutUse() async {
        await #expect(processExitsWith: .success) {
            let pool = try NoncePool()
            let child = forkProcess()
            if child == 0 {
                end(pool)
                _exit(0)
            }
            var status: Int32 = 0
            guard unsafe waitpid(child, &status, 0) == child, status == 0 else { exit(3) }
            exit(0)
        }
    }
    #endif
}

private func end(_ pool: consuming NoncePool) {}

#if canImport(Glibc) && !canImport(Darwin)
private func forkProcess() -> pid_t { fork() }
#endif
