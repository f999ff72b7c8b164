import Foundation
import TestSupport
import Testing

/// A display without a screen and the programs that reach its clipboard; ends with this object.
final class ClipboardPlace {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case xclip, xsel
        /// `wl-copy` and `wl-paste`, on sway.
        case wayland

        var testDescription: String { rawValue }

        private var programs: [String] {
            switch self {
            case .xclip: ["Xvfb", "xclip"]
            case .xsel: ["Xvfb", "xsel"]
            case .wayland: ["sway", "wl-copy", "wl-paste"]
            }
        }

        var isInstalled: Bool { programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") } }

        /// Those whose programs are here.
        static var installed: [Kind] { TestRun.expected(allCases, where: \.isInstalled) }
    }

    let kind: Kind
    /// What reaches the display and finds its programs, and no other.
    private(set) var environment: [String: String] = [:]
    private let folder: String
    private var server: Child?

    init(_ kind: Kind) throws {
        self.kind = kind
        // A short path: sockets have at most 107 bytes.
        folder = "/tmp/holdfast-clip-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        switch kind {
        case .xclip, .xsel:
            let bin = folder + "/bin"
            try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: "\(bin)/\(kind.rawValue)", withDestinationPath: "/usr/bin/\(kind.rawValue)")
            environment = try ["DISPLAY": startX(), "WAYLAND_DISPLAY": "", "PATH": bin]
        case .wayland: environment = try ["DISPLAY": "", "WAYLAND_DISPLAY": startSway()]
        }
    }

    deinit {
        if let server {
            kill(server.pid, SIGTERM)
            _ = server.wait()
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }

    /// A display whose number nobody else has: of servers that choose one themselves, one that ends takes away the
    /// socket of one that has just begun with the same number.
    /// - Returns: The display.
    private func startX() throws -> String {
        for _ in 0..<20 {
            if let display = try startX(number: .random(in: 40_000..<60_000)) { return display }
        }
        throw DisplayMissing()
    }

    /// - Returns: The display; nil where somebody has the number.
    private func startX(number: Int) throws -> String? {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Without -noreset the server starts over whenever its last client goes, and drops whoever comes at that
        // moment.
        let words = [":\(number)", "-displayfd", "9", "-screen", "0", "16x16x24", "-nolisten", "tcp", "-noreset"]
        let server = try Child("/usr/bin/Xvfb", raw: ClipboardPlace.bytes(words), descriptors: [9: .ours(ends[1])])
        close(ends[1])
        var said: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(ends[0], &byte, 1) == 1, byte != 10 { said.append(byte) }
        guard said.elementsEqual("\(number)".utf8) else {
            kill(server.pid, SIGTERM)
            _ = server.wait()
            return nil
        }
        self.server = server
        return ":\(number)"
    }

    /// sway does not run as root: then it is nobody.
    /// - Returns: The socket, by its whole path, which needs no runtime folder.
    private func startSway() throws -> String {
        let runtime = folder + "/run"
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let isRoot = geteuid() == 0
        if isRoot { try #require(unsafe chown(runtime, 65_534, 65_534) == 0) }
        let configuration = folder + "/config"
        // sway says itself when it takes clients.
        let ready = folder + "/run/ready"
        try #require(unsafe mkfifo(ready, 0o666) == 0 && chmod(ready, 0o666) == 0)
        try "xwayland disable\nexec sh -c 'echo $WAYLAND_DISPLAY > \(ready)'\n".write(
            toFile: configuration, atomically: true, encoding: .utf8)
        let opened = unsafe open(ready, O_RDWR | O_CLOEXEC)
        try #require(opened >= 0)
        defer { close(opened) }
        let sway = ["/usr/bin/sway", "-c", configuration]
        let words = isRoot ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + sway : sway
        server = try Child(
            words[0], raw: ClipboardPlace.bytes(Array(words.dropFirst())),
            environment: [
                "XDG_RUNTIME_DIR": runtime, "HOME": runtime, "WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1",
                "WLR_RENDERER": "pixman", "PATH": "/usr/bin:/bin",
            ])
        var waiting = pollfd(fd: opened, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&waiting, 1, Patience.milliseconds) == 1, "sway does not start")
        var name = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(opened, &name, name.count)
        try #require(count > 1)
        return runtime + "/" + String(decoding: name[..<(count - 1)], as: UTF8.self)
    }

    /// What can be pasted; nil where nobody has the clipboard.
    func pasted(_ sandbox: Sandbox) throws -> String? {
        let words: [String] =
            switch kind {
            case .xclip: ["/usr/bin/xclip", "-selection", "clipboard", "-out"]
            case .xsel: ["/usr/bin/xsel", "--clipboard", "--output"]
            case .wayland: ["/usr/bin/wl-paste", "--no-newline"]
            }
        let result = try sandbox.run(
            words[0], raw: ClipboardPlace.bytes(Array(words.dropFirst())), environment: environment)
        return result.code == 0 ? result.text : nil
    }

    /// Another program that copies and serves what it has, in the foreground: a daemon of it would keep the descriptor
    /// by which its end is known.
    func copy(_ text: String, _ sandbox: Sandbox) throws -> Child {
        let words: [String] =
            switch kind {
            case .xclip: ["/usr/bin/xclip", "-quiet", "-selection", "clipboard", "-in"]
            case .xsel: ["/usr/bin/xsel", "--nodetach", "--clipboard", "--input"]
            case .wayland: ["/usr/bin/wl-copy", "--foreground"]
            }
        return try Child(
            words[0], raw: ClipboardPlace.bytes(Array(words.dropFirst())),
            descriptors: [0: .file(try sandbox.file(text.utf8))], environment: environment)
    }
}

/// Xvfb does not start.
private struct DisplayMissing: Error {}
