import Foundation
import Testing

/// Pictures of QR codes, drawn by `qrencode`.
enum QRPictures {
    /// Whether they can be drawn here.
    static var canDraw: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/qrencode") }

    /// - Returns: The path of the picture.
    static func draw(_ text: String, _ sandbox: Sandbox) throws -> String {
        let target = sandbox.path + "/qr-\(UUID().uuidString.prefix(8)).png"
        let drawn = try sandbox.run(
            "/usr/bin/qrencode", raw: ["-o", target, text].map { Array($0.utf8) })
        try #require(drawn.code == 0, "\(drawn.errors)")
        return target
    }
}

extension Sandbox {
    /// What is in a file.
    func contents(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
}
