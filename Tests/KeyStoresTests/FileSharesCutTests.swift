import Foundation
import KeyStores
import RealParts
import TestSupport
import Testing
import VaultFormat

/// A process that makes or revokes a share in a file, ended or refused at every call that changes the folder.
@Suite struct FileSharesCutTests {
    private enum Fault: String, CaseIterable {
        case kill
        /// What was not flushed is gone, too.
        case cut
        /// An error, once.
        case fail
        /// No call is made any more that changes anything.
        case readOnly
    }

    @Test(arguments: ["make", "revoke"])
    func `whatever call is cut off, what was noted can be revoked and nothing is left`(_ operation: String) throws {
        let vault = try vaultID(1)
        let scratch = try ScratchFolder("file-cuts")
        let trash = try ScratchFolder("file-trash")
        let home = scratch.path + "/home"
        let folder = home + "/shares"
        let store = FileShares(in: folder)
        let nonce = Hexadecimal.encode([UInt8](repeating: 3, count: 16))
        func run(_ variables: [String: String]) throws -> (item: ShareItem, status: Int32) {
            try? FileManager.default.removeItem(atPath: home)
            try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
            var words = ["make", nonce, "7"]
            if operation == "revoke" {
                let name = try #require(ShareName(vault: vault, nonce: [UInt8](repeating: 3, count: 16)))
                words = ["revoke", Hexadecimal.encode(try store.made(as: name).encoded)]
            }
            let (status, said) = try runSubject(
                ["shares"] + words, environment: variables.merging(["SUBJECT_SHARES": folder]) { $1 })
            let name = try #require(ShareName(vault: vault, nonce: [UInt8](repeating: 3, count: 16)))
            let item = ShareItem(name, .named(.file, backend: "file"))
            if operation == "make", said.contains("\n") {
                #expect(said.hasPrefix(Hexadecimal.encode(item.encoded)), "noted before the folder has anything")
            }
            return (item, status)
        }
        let products = URL(fileURLWithPath: subject).deletingLastPathComponent().path
        var variables = [
            "LD_PRELOAD": products + "/libFaultInjection.so", "HOLDFAST_FAULT_UNDER": home,
            "HOLDFAST_FAULT_TRASH": trash.path, "HOLDFAST_FAULT_SEED": "\(TestRun.seed & 0xFFFF_FFFF)",
        ]
        let log = trash.path + "/log"
        variables["HOLDFAST_FAULT"] = "count"
        variables["HOLDFAST_FAULT_LOG"] = log
        _ = try run(variables)
        let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        variables["HOLDFAST_FAULT_LOG"] = nil
        #expect(calls.count >= 4)
        for fault in Fault.allCases {
            for number in calls.indices {
                var variables = variables
                variables["HOLDFAST_FAULT_AT"] = "\(number + 1)"
                switch fault {
                case .kill, .cut: variables["HOLDFAST_FAULT"] = fault.rawValue
                case .fail, .readOnly:
                    variables["HOLDFAST_FAULT"] = "fail"
                    variables["HOLDFAST_FAULT_ERROR"] = "\(fault == .fail ? EIO : EROFS)"
                    variables["HOLDFAST_FAULT_ONCE"] = fault == .fail ? "1" : nil
                }
                let place = "\(fault) at call \(number + 1) (\(calls[number])) of \(operation)"
                let (item, status) = try run(variables)
                switch fault {
                case .kill, .cut: #expect(status == -1, "\(place)")
                case .fail, .readOnly: #expect(status == 0, "\(place)")
                }
                switch store.reading(item, of: vault) {
                // All of it, or nothing that a header could have named.
                case .share([UInt8](repeating: 7, count: 32)), .share(shareBytes), .failure(.lost): break
                case let other: Issue.record("\(place): \(other)")
                }
                #expect(store.revoking(item, of: vault) == .revoked(.gone), "\(place)")
                #expect(store.reading(item, of: vault) == .failure(.lost(.notThere)), "\(place)")
                let left = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                #expect(left == [], "\(place)")
            }
        }
    }
}
