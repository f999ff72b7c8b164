import Foundation
import Testing

/// `holdfast inject`: templates in, secrets out.
@Suite struct InjectTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox(prepared: true)
        try sandbox.addSamples()
        return sandbox
    }

    private static let template = """
        user = {{ holdfast://default/logins%2Fmail/username }}
        password = "{{holdfast://default/logins%2Fmail/password}}" # {{ .Other }}
        again = {{ holdfast://default/logins%2Fmail/username }}
        """
    private static let result = """
        user = ada
        password = "\(Sandbox.password)" # {{ .Other }}
        again = ada
        """

    @Test func `values stand in place of insertions`() throws {
        let sandbox = try sandbox()
        let template = try sandbox.file(Self.template.utf8)
        let piped = try sandbox.run("inject", passcode: Prepared.passcode, input: .file(template))
        #expect(piped.code == 0 && piped.text == Self.result, "\(piped.errors)")
        let named = try sandbox.run("inject", "--in", template, passcode: Prepared.passcode)
        #expect(named.text == Self.result)
        let plain = try sandbox.run("inject", input: .file(sandbox.file("no { } {{ insertion }}".utf8)))
        #expect(plain.code == 0 && plain.text == "no { } {{ insertion }}", "nothing is asked for without references")
    }

    @Test func `a value that looks like an insertion is not looked through again`() throws {
        let sandbox = try sandbox()
        let value = "{{ holdfast://work/api }}"
        _ = try sandbox.run("put", "trap", passcode: Prepared.passcode, input: .file(sandbox.file(value.utf8)))
        let result = try sandbox.run(
            "inject", passcode: Prepared.passcode, input: .file(sandbox.file("{{ holdfast://default/trap }}".utf8)))
        #expect(result.text == value)
    }

    @Test func `nothing is written unless every value is found`() throws {
        let sandbox = try sandbox()
        let template = try sandbox.file("{{ holdfast://work/api }} {{ holdfast://work/none }}".utf8)
        let path = "/dev/shm/holdfast-\(UUID().uuidString)"
        let result = try sandbox.run(
            "inject", "--out", path, passcode: Prepared.passcode, input: .file(template))
        #expect(result.code == 6 && result.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path))
        let broken = try sandbox.run("inject", input: .file(sandbox.file("a\n{{ holdfast://x }}".utf8)))
        #expect(broken.code == 2 && broken.errors.contains("line 2") && broken.output.isEmpty)
    }

    /// It gets its name by another one, under which a kill can leave it.
    @Test func `what a killed command left beside its file is removed by the next one`() throws {
        let sandbox = try sandbox()
        let template = try sandbox.file(Self.template.utf8)
        let folder = "/dev/shm/holdfast-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let products = URL(fileURLWithPath: Program.path).deletingLastPathComponent().path
        func inject(killedAt call: Int) throws -> Int32 {
            let words = ["inject", "--in", template, "--out", folder + "/result", "--replace"]
            let preloaded = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { [$0] } ?? []
            let faults = [
                "LD_PRELOAD": (preloaded + [products + "/libFaultInjection.so"]).joined(separator: ":"),
                "HOLDFAST_FAULT_UNDER": folder, "HOLDFAST_FAULT": "kill", "HOLDFAST_FAULT_AT": "\(call)",
            ]
            return try sandbox.run(
                raw: words.map { Array($0.utf8) }, passcode: Prepared.passcode, environment: faults
            ).code
        }
        #expect(try inject(killedAt: 1000) == 0)
        var most = 1
        for call in 1...100 {
            let code = try inject(killedAt: call)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            most = max(most, names.count)
            #expect(names.count <= 2)
            if code == 0 {
                #expect(names == ["result"])
                break
            }
            #expect(code == 1009)
        }
        #expect(most == 2, "no call lies between the two names")
    }

    @Test func `a file is only the user's, is new, and lies in memory`() throws {
        let sandbox = try sandbox()
        let template = try sandbox.file(Self.template.utf8)
        let path = "/dev/shm/holdfast-\(UUID().uuidString)"
        defer { unsafe unlink(path) }
        func inject(_ words: String...) throws -> Sandbox.Result {
            try sandbox.run(
                raw: (["inject", "--in", template] + words).map { Array($0.utf8) }, passcode: Prepared.passcode)
        }
        let result = try inject("--out", path)
        #expect(result.code == 0 && result.output.isEmpty, "\(result.errors)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.result)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try inject("--out", path).code == 1, "an existing file is not replaced")
        #expect(try inject("--out", path, "--replace").code == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "/dev/shm").filter {
                path.contains($0) || $0.contains(path.dropFirst(9))
            }.count == 1)
        let disk = try inject("--out", Program.root.path + "/.build-test/holdfast-\(UUID().uuidString)")
        #expect(disk.code == 2 && disk.errors.contains("--on-disk"), "\(disk.errors)")
        #expect(try inject("--on-disk").code == 2)
        let allowed = Program.root.path + "/.build-test/holdfast-\(UUID().uuidString)"
        defer { unsafe unlink(allowed) }
        #expect(try inject("--out", allowed, "--on-disk").code == 0)
        #expect(try String(contentsOfFile: allowed, encoding: .utf8) == Self.result)
    }

    @Test func `a link in the place of the file is not followed`() throws {
        let sandbox = try sandbox()
        let template = try sandbox.file(Self.template.utf8)
        let (path, target) = ("/dev/shm/holdfast-\(UUID().uuidString)", sandbox.path + "/target")
        defer { unsafe unlink(path) }
        unsafe symlink(target, path)
        let refused = try sandbox.run("inject", "--in", template, "--out", path, passcode: Prepared.passcode)
        #expect(refused.code == 1 && !sandbox.exists("target"))
        let replaced = try sandbox.run(
            "inject", "--in", template, "--out", path, "--replace", passcode: Prepared.passcode)
        #expect(replaced.code == 0 && !sandbox.exists("target"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.result)
    }
}
