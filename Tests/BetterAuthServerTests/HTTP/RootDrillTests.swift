import Foundation
import RealParts
import TestSupport
import Testing

/// Drills that root runs while the server is another user's.
@Suite(.enabled(if: geteuid() == 0, "without root nothing belongs to another user"))
struct RootDrillTests {
    private final class NobodysFolder: Sendable {
        let path: String
        init() throws { path = try OrdinaryUser.makeFolder("root-drills") }
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private let own: ScratchFolder
    private let theirs: NobodysFolder
    private let nobody: uid_t
    private var database: String { theirs.path + "/accounts.db" }

    init() throws {
        let entry = unsafe try #require(unsafe getpwnam("nobody"))
        nobody = unsafe entry.pointee.pw_uid
        own = try ScratchFolder("root-drills")
        theirs = try NobodysFolder()
    }

    private func run(_ arguments: [String]) throws {
        let result = try runServerCommand(arguments, own.path)
        #expect(result.status == 0, "\(arguments): \(result.output)")
    }

    /// Started by the user whose the folder is.
    private func serve() throws -> ServerProcess {
        try ServerProcess(
            ["serve", "--listen", "127.0.0.1:0", "--database", database] + ServerProcess.unlimited, folder: own.path,
            before: OrdinaryUser.words)
    }

    private func owners(_ folder: String = "") throws -> Set<uid_t> {
        var owners: Set<uid_t> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: theirs.path + folder) + ["."] {
            var status = stat()
            #expect(unsafe lstat("\(theirs.path)\(folder)/\(name)", &status) == 0)
            owners.insert(status.st_uid)
        }
        return owners
    }

    @Test func `what root makes, rotates and restores is the server's`() throws {
        try run(["init", "--database", database])
        let first = try serve()
        try run(["rotate-keys", "--keys-file", database + ".keys", "--publish-seconds", "0"])
        try #require(try owners() == [nobody])
        let client = try HTTPClient(first.address)
        #expect(try Patience.wait { try client.post("/key/response", []).text != first.key }, "\(first.log)")
        #expect(try client.get("/ready").text == "ready\n")
        try run(["backup", "--database", database, "--to", own["backup"]])
        first.process.end(SIGTERM)
        let second = try serve()
        #expect(second.key != first.key)
        second.process.end(SIGTERM)
        for name in try FileManager.default.contentsOfDirectory(atPath: theirs.path) {
            try FileManager.default.removeItem(atPath: "\(theirs.path)/\(name)")
        }
        try run(["restore", "--from", own["backup"], "--database", database])
        let third = try serve()
        #expect(third.key == second.key)
        #expect(try HTTPClient(third.address).get("/ready").text == "ready\n")
        #expect(try owners() == [nobody])
    }

    /// A link in a folder of another user's leads nowhere: root gives nothing away but what it has made.
    @Test func `nothing that root has not made changes its owner`() throws {
        let kept = own["kept"]
        try writeSecret("kept", to: kept)
        let chain = theirs.path + "/chain"
        try FileManager.default.createDirectory(atPath: chain, withIntermediateDirectories: false)
        #expect(unsafe chown(chain, nobody, gid_t.max) == 0)
        for name in ["accounts.db", "chain/events.new", "chain/endorsed.new"] {
            #expect(unsafe link(kept, "\(theirs.path)/\(name)") == 0)
        }
        #expect(unsafe symlink(kept, theirs.path + "/linked.db") == 0)
        for name in ["accounts.db", "linked.db"] {
            #expect(try runServerCommand(["init", "--database", "\(theirs.path)/\(name)"], own.path).status != 0)
        }
        try run(["init-chain", "--folder", chain])
        var status = stat()
        #expect(unsafe stat(kept, &status) == 0)
        for name in ["events.new", "endorsed.new"] { unsafe unlink("\(chain)/\(name)") }
        #expect(try owners("/chain") == [nobody])
        let text = try String(contentsOfFile: kept, encoding: .utf8)
        #expect(status.st_uid == 0 && text == "kept")
    }
}
