import Foundation
import RealParts
import TestSupport
import Testing

@testable import DeviceOwner

/// A name on a bus, and the calls that come to it.
@Suite(.enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed: no name is claimed on a bus"))
struct ServiceBusTests {
    private static let name = "org.example.service"
    private let bus: PrivateBus

    init() throws { bus = try PrivateBus() }

    /// The bus is named by the environment of the process, which all tests share: a connection is made by its address.
    private func service(waits: Bool = false) throws -> ServiceBus {
        let address = BusAddress(bus.address)
        return try ServiceBus(claiming: Self.name, waits: waits) { () throws(BusFailure) in try SystemBus(address) }
    }

    /// Calls the service and does not wait for an answer; the unique name of the client, which stays until the result
    /// is closed.
    private func call(_ member: String) throws -> Spawned {
        try bus.start([
            "dbus-send", "--bus=\(bus.address)", "--print-reply", "--dest=\(Self.name)", "/", "org.example.\(member)",
        ])
    }

    private func wait(_ service: ServiceBus) -> Bool {
        Patience.wait {
            var waiting = pollfd(fd: service.descriptor, events: service.events, revents: 0)
            return unsafe poll(&waiting, 1, 0) > 0
        }
    }

    private func next(_ service: ServiceBus) throws -> BusCall? {
        while true {
            switch try service.next() {
            case .call(let call): return call
            case .left: continue
            case nil: return nil
            }
        }
    }

    /// Large ones would be waited for, and the agent with them.
    @Test func `calls that come while the bus is asked for a client are not read before its answer`() throws {
        let service = try service()
        let first = try call("First")
        var one: BusCall?
        let isThere = try Patience.wait {
            one = try next(service)
            return one != nil
        }
        let caller = try #require(isThere ? one : nil)
        #expect(caller.member == "First")
        while try next(service) != nil {}
        #expect(!service.hasMore)
        let second = try call("Second")
        #expect(wait(service))
        let process = try #require(service.process(of: caller.sender))
        #expect(process.process == first.identifier && process.isAlive)
        #expect(!service.hasMore && wait(service))
        #expect(try next(service)?.member == "Second")
        _ = second
    }

    @Test func `a name that another process has is waited for, if that is wanted`() throws {
        var first: ServiceBus? = try service()
        #expect(first?.isOwner == true)
        #expect(throws: ServiceBus.Problem.taken(process: getpid())) { _ = try service() }
        let second = try service(waits: true)
        #expect(!second.isOwner && second.owner() == getpid())
        first = nil
        let isOwner = Patience.wait {
            _ = try? next(second)
            return second.isOwner
        }
        #expect(isOwner)
    }
}
