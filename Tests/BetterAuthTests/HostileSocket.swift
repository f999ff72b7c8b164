import BetterAuth
import BetterAuthMessages
import Foundation
import Synchronization

/// The true server behind a socket, and what only a socket can do wrong. Ends with this object.
final class HostileSocket: Sendable {
    enum Attack: String, CaseIterable {
        case closed, reset, halfHead, halfBody, silence, announcedHuge, endlessBody, endlessHead, informationalFlood
        case informationalThenPage, switching, page404, page502, redirect, otherCoding, brokenChunks, noHTTP, oldHTTP
        case strangeStatus
    }

    struct Plan {
        let attack: Attack
        let path: String
        let isProcessed: Bool
    }

    let plan = Mutex<Plan?>(nil)
    private let world: World
    private let listener = Mutex<LocalListener?>(nil)

    var port: UInt16 { listener.withLock { $0?.port ?? 0 } }

    init(_ world: World) throws {
        self.world = world
        let made = try LocalListener { [weak self] connection in self?.serve(connection) }
        listener.withLock { $0 = made }
    }

    private func serve(_ connection: Int32) {
        guard let (path, body) = HostileSocket.request(connection) else { return }
        let plan = plan.withLock { $0?.path == path ? $0 : nil }
        guard let plan else {
            let answer = world.deliver(path, body)
            write(connection, head(200, "Content-Type: application/json", count: answer.count) + answer)
            return
        }
        let answer = plan.isProcessed ? world.deliver(path, body) : Array(#"{"payload":{"access":{"nonce":"#.utf8)
        attack(plan.attack, connection, answer)
    }

    private func attack(_ attack: Attack, _ connection: Int32, _ answer: [UInt8]) {
        let page = WrongAnswer.page
        switch attack {
        case .closed: break
        case .reset:
            var now = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        case .halfHead: write(connection, Array("HTTP/1.1 200 OK\r\nContent-Le".utf8))
        case .halfBody: write(connection, head(200, count: answer.count) + answer.prefix(answer.count / 2))
        case .silence: HostileSocket.waitForTheEnd(of: connection)
        case .announcedHuge:
            write(connection, head(200, count: 1 << 40) + answer)
            HostileSocket.waitForTheEnd(of: connection)
        case .endlessBody:
            write(connection, Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
            while write(connection, [UInt8](repeating: 0x20, count: 65_536)) {}
        case .endlessHead:
            write(connection, Array("HTTP/1.1 200 OK\r\n".utf8))
            while write(connection, Array("X-More: \(String(repeating: "a", count: 4000))\r\n".utf8)) {}
        case .informationalFlood:
            while write(connection, Array("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n".utf8)) {}
        case .informationalThenPage:
            write(connection, Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n".utf8))
            write(connection, head(404, "Content-Type: text/html", count: page.count) + page)
        case .switching:
            write(connection, Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\u{1}\u{2}".utf8))
        case .page404: write(connection, head(404, "Content-Type: text/html", count: page.count) + page)
        case .page502: write(connection, head(502, "Content-Type: text/html", count: page.count) + page)
        case .redirect:
            write(connection, head(302, "Location: http://127.0.0.1:\(port)\(RotateDevice.path)", count: 0))
        case .otherCoding:
            write(connection, head(200, "Content-Encoding: gzip", count: answer.count + 1) + [0x1F] + answer)
        case .brokenChunks:
            write(connection, Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".utf8) + answer)
        case .noHTTP: write(connection, Array("\u{0}\u{1} this is no HTTP\r\n\r\n".utf8))
        case .oldHTTP: write(connection, page)
        case .strangeStatus:
            write(
                connection,
                Array("HTTP/1.1 999 \u{1b}[2J\r\nContent-Type: \u{1b}[2J/x\r\nContent-Length: 3\r\n\r\n\u{1b}[J".utf8))
        }
    }

    private func head(_ status: Int, _ line: String = "Content-Type: application/json", count: Int) -> [UInt8] {
        Array("HTTP/1.1 \(status) Status\r\n\(line)\r\nContent-Length: \(count)\r\nConnection: close\r\n\r\n".utf8)
    }

    @discardableResult private func write(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Until the other side gives up.
    private static func waitForTheEnd(of connection: Int32) {
        var byte: UInt8 = 0
        while unsafe recv(connection, &byte, 1, 0) > 0 {}
    }

    private static func request(_ connection: Int32) -> (path: String, body: [UInt8])? {
        var received: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(connection, &block, block.count, 0)
            guard count > 0 else { return nil }
            received += block[..<count]
            guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
            let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            let size = length.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
            guard received.count - end.upperBound >= size else { continue }
            let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            return (path, Array(received[end.upperBound...]))
        }
    }
}

/// A port that the system chooses, and a thread for each connection to it. Ends with this object.
final class LocalListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// - Parameter serve: Gets each connection, which is closed behind it.
    init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = fcntl(listening, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listening, $0, size) == 0 && listen(listening, 64) == 0
                    && getsockname(listening, $0, &size) == 0
            }
        }
        guard isBound else { throw World.Fault() }
        descriptor = listening
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else { return }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread {
                    serve(connection)
                    // A program that was just started may have a copy, and the connection has to end now.
                    shutdown(connection, Int32(SHUT_RDWR))
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }
}
