import BetterAuthPostgres
import Foundation
import RealParts
import Testing

@testable import HoldfastServer

/// Where another service is, as an operator writes it.
@Suite struct RedisLocationTests {
    @Test(arguments: [
        "redis://127.0.0.1", "redis://127.0.0.1:6380", "redis://[::1]:6380/3", "redis://:secret@host/0",
        "redis://user:p%40ss%3aword@host", "redis://host/", "unix:/run/redis.sock",
        "unix:///run/redis.sock", "unix://:secret@/run/redis.sock", "unix://user:p%40ss@/run/a@b.sock",
    ])
    func `a location is understood`(_ text: String) { #expect(RedisLocation(text) != nil) }

    @Test(arguments: [
        "", "redis:", "redis://", "redis://host:port", "redis://host:70000", "redis://host:1:2", "redis://host/x",
        "redis://host/-1", "redis://[::1", "redis://[::1]x", "redis://::1:6379", "redis://user@host",
        "redis://:p%4@host", "redis://:p%zz@host", "redis://:p%ff@host", "rediss://host", "http://host",
        "unix:", "unix://user@/run/redis.sock", "unix://:p%4@/run/redis.sock", "unix://:secret@run/redis.sock",
    ])
    func `anything else is no location`(_ text: String) { #expect(RedisLocation(text) == nil) }

    @Test func `a user of Redis's own is named to it, and its password decoded`() throws {
        let redis = try RedisServer()
        let port = try redis.listen()
        try redis.command("ACL", "SETUSER", "holdfast", "on", ">p@ss:word", "~*", "+@all")
        try redis.command("ACL", "SETUSER", "default", "off")
        func probe(_ text: String) throws -> Bool {
            let shared = SharedAccess(try #require(RedisLocation(text)))
            do {
                try shared.probe()
                return true
            } catch { return false }
        }
        #expect(try probe("redis://holdfast:p%40ss%3Aword@127.0.0.1:\(port)"))
        #expect(try !probe("redis://:p%40ss%3Aword@127.0.0.1:\(port)"), "the user default is off")
        #expect(try probe("unix://holdfast:p%40ss%3Aword@\(redis.folder)/redis.sock"))
        #expect(try !probe("unix:\(redis.folder)/redis.sock"))
        #expect(try !probe("redis://holdfast:wrong@127.0.0.1:\(port)"))
    }

    @Test func `TLS that Redis's client does not have is said, and no password repeated`() throws {
        let fixture = try StoreFixture(.memory)
        try writeSecret("rediss://:hunter2@host\n", to: fixture.folder + "/redis")
        let refused = try runServerCommand(
            [
                "serve", "--listen", "127.0.0.1:0", "--database", "postgres://x/y", "--keys-file",
                fixture.folder + "/keys", "--redis", "@\(fixture.folder)/redis",
            ], fixture.folder)
        #expect(refused.status == 2 && refused.output.contains("tunnel"), "\(refused.output)")
        #expect(!refused.output.contains("hunter2"))
    }

    @Test func `services are at addresses of both versions`() {
        for text in ["http://127.0.0.1:80", "http://host:8080/", "http://[::1]:8080"] {
            #expect(PlainHTTP(text) != nil, "\(text)")
        }
        for text in [
            "http://host", "http://::1:80", "http://[::1]", "http://host:x", "http://host:80/path", "https://h:1",
        ] {
            #expect(PlainHTTP(text) == nil, "\(text)")
        }
    }
}
