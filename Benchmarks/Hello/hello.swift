// What the command's start is compared with: a program with the same runtime linked in that says one line and ends.
// With the name of a socket it first sends a little over it and waits for as much, as a client of the agent that does
// nothing else.
import Glibc

if CommandLine.arguments.count > 1 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: CommandLine.arguments[1].utf8) }
    let peer = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(peer, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    var bytes = [UInt8](repeating: 0, count: 256)
    guard status == 0, send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count,
        recv(peer, &bytes, bytes.count, Int32(MSG_WAITALL)) == bytes.count
    else { exit(1) }
}
print("hello")
