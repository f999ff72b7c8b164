import Foundation
import TestSupport
import Testing

/// `holdfast export`: what a database of KeePass gets, and what is said to be left out.
@Suite struct ExportTests {
    @Test func `a value of more than 1 MiB is an attachment for KeePass, and comes back`() throws {
        let sandbox = try Sandbox(prepared: true)
        let large = (0..<(3 << 19)).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let file = try sandbox.file(large, "big.bin")
        let put = try sandbox.run(
            raw: ["put", "scans/big.bin"].map { Array($0.utf8) }, passcode: Prepared.passcode, input: .file(file),
            descriptors: [:])
        #expect(put.code == 0, "\(put.errors)")
        let target = sandbox.path + "/out.kdbx"
        let password = try sandbox.lines("new one")
        let out = try sandbox.run(
            "export", target, "--file-password-fd=5", passcode: Prepared.passcode, descriptors: [5: password])
        #expect(
            out.code == 0 && !out.errors.contains("left out"),
            "\(out.errors)")
        let other = try Sandbox(prepared: true)
        let copy = try other.file(sandbox.bytes("out.kdbx"), "in.kdbx")
        let done = try other.run(
            "import", copy, "--file-password-fd=5", passcode: Prepared.passcode,
            descriptors: [5: other.lines("new one")])
        #expect(done.code == 0, "\(done.errors)")
        #expect(try other.run("get", "scans/big.bin", passcode: Prepared.passcode).output == large)
        let plain = try sandbox.run(
            "export", sandbox.path + "/out.json", "--plain", "--yes", passcode: Prepared.passcode)
        #expect(plain.code == 8 && plain.errors.contains("'scans/big.bin'"), "\(plain.errors)")
    }
}
