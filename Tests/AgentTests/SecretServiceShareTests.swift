import AgentMessages
import Foundation
import HoldfastAgent
import RealParts
import TestSupport
import Testing

/// One program of the session bus that takes what it can over many connections, and others that want what is theirs.
@Suite(
    .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed: no program uses the Secret Service"))
struct SecretServiceShareTests {
    private let bus: PrivateBus
    private let pinentry: ScriptedPinentry
    private let agent: TestAgent

    init() throws {
        bus = try PrivateBus()
        let scratch = try Scratch()
        pinentry = try ScriptedPinentry(scratch)
        agent = try TestAgent(scratch, parts: pinentry.part.merging(bus.environment) { $1 })
        try agent.client().serveSecrets()
    }

    private func program() throws -> BusPrograms { try BusPrograms(bus, Self.script) }

    /// Each answer is a line.
    private static let script = """
        import collections, sys, threading
        from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
        from jeepney.io.blocking import open_dbus_connection
        N, S, P = 'org.freedesktop.secrets', 'org.freedesktop.Secret.', '/org/freedesktop/secrets'
        D = P + '/collection/default'
        def told(reply):
            failed = reply.header.message_type == MessageType.error
            return reply.header.fields[HeaderFields.error_name].split('.')[-1] if failed else reply.body
        class Client:
            def __init__(self): self.bus, self.session = open_dbus_connection('SESSION'), None
            def message(self, path, interface, member, types=None, values=()):
                return new_method_call(DBusAddress(path, N, S + interface), member, types, values)
            def call(self, *words): return told(self.bus.send_and_get_reply(self.message(*words)))
            def open(self):
                self.session = self.call(P, 'Service', 'OpenSession', 'sv', ('plain', ('s', '')))[1]
                return self
            def create(self, size, name):
                properties = {S + 'Item.Label': ('s', name), S + 'Item.Attributes': ('a{ss}', {'name': name})}
                return self.call(D, 'Collection', 'CreateItem', 'a{sv}(oayays)b',
                    (properties, (self.session, b'', b'x' * size, 't'), True))[0]
            def set(self, path, size): return self.call(path, 'Item', 'SetSecret', '(oayays)', ((self.session, b'', b'y' * size, 't'),))
            def get(self, path):
                answer = self.call(path, 'Item', 'GetSecret', 'o', (self.session,))
                return answer if isinstance(answer, str) else len(answer[0][2])
        kept, threads, ends = [], [], threading.Event()
        def run(body):
            threads.append(threading.Thread(target=body))
            threads[-1].start()
        def flood(connections):
            # Sixteen calls of each are under way all the time.
            def one():
                client = Client().open()
                search = lambda: client.bus.send(client.message(P, 'Service', 'SearchItems', 'a{ss}', ({'no': 'such'},)))
                for _ in range(16): search()
                begun.release()
                while not ends.is_set():
                    client.bus.receive()
                    search()
            begun = threading.Semaphore(0)
            for _ in range(int(connections)): run(one)
            for _ in range(int(connections)): begun.acquire()
            return 'floods'
        def reread(name, size):
            client, begun = Client().open(), threading.Semaphore(0)
            item = client.create(int(size), name)
            def one():
                while not ends.is_set():
                    found = client.get(item)
                    if found != int(size): failed.append(found)
                    begun.release()
            run(one)
            begun.acquire()
            return 'rereads'
        failed = []
        def rest():
            ends.set()
            for thread in threads: thread.join()
            return str(failed)
        def sessions(connections):
            kept.extend(Client().open() for _ in range(int(connections)))
            return 'has ' + str(len(kept))
        def mine(name, size):
            global own, item
            own = Client().open()
            item = own.create(int(size), name)
            return str(own.get(item))
        def use(rounds, size):
            found = collections.Counter()
            for _ in range(int(rounds)):
                found[str(own.get(item))] += 1
                found[str(own.set(item, int(size)))] += 1
            return ' '.join(f'{count}x{what}' for what, count in sorted(found.items()))
        def prompts(connections, each):
            made = 0
            for _ in range(int(connections)):
                client = Client()
                kept.append(client)
                for _ in range(int(each)):
                    answer = client.call(P, 'Service', 'Unlock', 'ao', ([D],))
                    if isinstance(answer, str): continue
                    made += client.call(answer[1], 'Prompt', 'Prompt', 's', ('',)) == ()
            return 'shown ' + str(made)
        print('ready', flush=True)
        for line in sys.stdin:
            word, *words = line.split()
            print(globals()[word](*words), flush=True)
        """

    @Test func `one that calls over many connections refuses nobody else`() throws {
        try agent.unlock()
        let (own, busy) = (try program(), try (0..<5).map { _ in try program() })
        #expect(try own.ask("mine", "a", "100") == "100")
        for program in busy { #expect(try program.ask("flood", "5") == "floods") }
        #expect(try own.ask("use", "10", "100") == "10x() 10x100")
        for program in busy { #expect(try program.ask("rest") == "[]") }
    }

    @Test func `one with a session over each of many connections ends its own`() throws {
        try agent.unlock()
        let (own, busy) = (try program(), try program())
        #expect(try own.ask("mine", "a", "100") == "100")
        #expect(try busy.ask("sessions", "100") == "has 100")
        #expect(try own.ask("use", "1", "100") == "1x() 1x100")
        #expect(try busy.ask("mine", "b", "7") == "7")
    }

    @Test func `one that has many prompts shown keeps nobody from a prompt`() throws {
        try pinentry.hold("secret")
        let busy = try (0..<4).map { _ in try program() }
        for program in busy { #expect(try program.ask("prompts", "4", "4") == "shown 4") }
        let question = try pinentry.waitForQuestion("secret")
        defer { close(question) }
        #expect(try program().ask("prompts", "1", "1") == "shown 1")
        #expect(try agent.status().isUnlocked == false)
    }

    /// Kibibytes of the agent that are in memory.
    private var resident: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(agent.pid)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            return try #require(line?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        }
    }

    @Test func `what large secrets take of memory is given back`() throws {
        try agent.unlock()
        let own = try program()
        #expect(try own.ask("mine", "a", "70000") == "70000" && own.ask("use", "2", "70000") == "2x() 2x70000")
        _ = try agent.status()
        let before = try resident
        let large = "\(4 << 20)"
        #expect(try own.ask("mine", "a", large) == large && own.ask("use", "5", large) == "5x() 5x" + large)
        // Served after the turn in which that was answered.
        _ = try agent.status()
        #expect(try resident < before + (6 << 10))
    }

    @Test func `one that reads a large secret again and again refuses nobody else, and is refused nothing`() throws {
        try agent.unlock()
        let (own, busy, other) = (try program(), try program(), try program())
        #expect(try own.ask("mine", "a", "102400") == "102400")
        #expect(try busy.ask("reread", "b", "\(4 << 20)") == "rereads")
        #expect(try own.ask("use", "10", "102400") == "10x() 10x102400")
        #expect(try other.ask("mine", "c", "\(4 << 20)") == "\(4 << 20)")
        #expect(try other.ask("use", "3", "\(4 << 20)") == "3x() 3x\(4 << 20)")
        #expect(try busy.ask("rest") == "[]")
    }
}
