import Cryptography
import Foundation
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultFormat

/// Shares in indexes of a real swtpm; tpm2-tools are everybody else who may talk to the chip.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: shares in a TPM are not tested"))
struct TPMSharesTests {
    let chip: SoftwareTPM
    let store: TPMShares
    let vault: VaultID

    init() throws {
        chip = try SoftwareTPM()
        store = TPMShares(at: TPMLocation(chip.location))
        vault = try vaultID(1)
    }

    private func made() throws -> ShareItem {
        try store.made(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
    }

    private func indexes() throws -> [String] {
        try chip.tool("tpm2_getcap", "handles-nv-index").output.split(separator: "\n").map { line in
            line.trimmingCharacters(in: ["-", " "])
        }
    }

    private func index(_ item: ShareItem) throws -> ShareItem.Index {
        guard case .index(let index) = item.place else { throw Unexpected("an item of no TPM") }
        return index
    }

    private func number(_ item: ShareItem) throws -> String { "0x" + String(try index(item).handle, radix: 16) }

    private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = "\(chip.folder)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The policy of the index as the chip tells everybody.
    private func policy(_ item: ShareItem) throws -> [UInt8] {
        let lines = try chip.tool("tpm2_nvreadpublic", number(item)).output.split(separator: "\n")
        let line = try #require(lines.first { $0.contains("authorization policy") })
        let text = try #require(line.split(separator: " ").last).lowercased()
        return try #require(Hexadecimal.decode(text))
    }

    @Test func `a share in an index keeps every promise of a store`() throws {
        try store.checkContract()
        #expect(try indexes() == [], "nothing is left in the chip")
    }

    @Test func `a share survives a power cut and nothing else is left in the chip`() throws {
        let item = try made()
        try chip.cutPower()
        #expect(store.reading(item, of: vault) == .share(shareBytes))
        for _ in 0..<10 { _ = store.reading(item, of: vault) }
        #expect(try indexes().count == 1)
        for kind in ["handles-transient", "handles-loaded-session", "handles-saved-session"] {
            #expect(try chip.tool("tpm2_getcap", kind).output == "", "\(kind)")
        }
        let other = try SoftwareTPM()
        let elsewhere = TPMShares(at: TPMLocation(other.location))
        #expect(elsewhere.reading(item, of: vault) == .failure(.lost(.notThere)), "another chip never had it")
    }

    @Test func `the index is an ordinary one that only its own authorisation reads and writes`() throws {
        let item = try made()
        let said = try chip.tool("tpm2_nvreadpublic", number(item)).output
        #expect(said.contains("friendly: authwrite|authread|no_da|written"))
        #expect(said.contains("size: 32"))
        let place = try index(item)
        let authorisation = "hex:" + hexadecimal(place.authorisation)
        #expect(
            try chip.tool("tpm2_nvread", "-C", number(item), "-P", authorisation, number(item), "-o", "/dev/null")
                .status == 0)
        for stranger in try [["-C", "o"], ["-C", number(item)], ["-C", "p"], ["-C", number(item), "-P", "hex:00"]] {
            #expect(try chip.tool(arguments: ["tpm2_nvread"] + stranger + [number(item)]).status != 0, "\(stranger)")
        }
        #expect(try policy(item) == sha256(Array("holdfast/1/device-of".utf8) + item.name.bytes))
    }

    @Test func `an index that was revoked does not come back with the old item`() throws {
        let item = try made()
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        // Somebody defines the same index again: same number, same policy, same authorisation, another content.
        try define(item, authorisation: index(item).authorisation, content: [UInt8](repeating: 9, count: 32))
        #expect(store.reading(item, of: vault) == .share([UInt8](repeating: 9, count: 32)), "which opens nothing")
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        #expect(try indexes() == [])
    }

    /// What tpm2-tools makes of the public area of a share's index.
    private func define(
        _ item: ShareItem, attributes: String = "authread|authwrite|no_da", authorisation: [UInt8],
        policy: [UInt8]? = nil,
        content: [UInt8]?, size: Int = 32
    ) throws {
        let own = sha256(Array("holdfast/1/device-of".utf8) + item.name.bytes)
        let rules = try file("policy", policy ?? own)
        let made = try chip.tool(
            "tpm2_nvdefine", number(item), "-C", "o", "-s", "\(size)", "-a", attributes, "-L", rules, "-p",
            "hex:" + hexadecimal(authorisation))
        #expect(made.status == 0, "\(made.output)")
        guard let content else { return }
        let written = try chip.tool(
            "tpm2_nvwrite", "-C", number(item), "-P", "hex:" + hexadecimal(authorisation), "-i",
            file("content", content),
            number(item))
        #expect(written.status == 0, "\(written.output)")
    }

    @Test func `an index that a stranger undefined is lost, and one put in its place is never taken for it`() throws {
        let item = try made()
        let ours = try policy(item)
        #expect(try chip.tool("tpm2_nvundefine", "-C", "o", number(item)).status == 0)
        #expect(store.reading(item, of: vault) == .failure(.lost(.notThere)))
        // With another authorisation, which the name does not show.
        try define(item, authorisation: [1, 2, 3], content: shareBytes)
        #expect(store.reading(item, of: vault) == .failure(.lost(.replaced)))
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        #expect(try indexes() == [], "its policy says that it is ours")
        // Defined and not written: what a making leaves that was cut off.
        try define(item, authorisation: index(item).authorisation, content: nil)
        #expect(store.reading(item, of: vault) == .failure(.lost(.unfinished)))
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        #expect(try indexes() == [])
        // Another form, with our policy.
        try define(
            item, attributes: "authread|authwrite|no_da|ownerread", authorisation: [4], policy: ours,
            content: shareBytes)
        #expect(store.reading(item, of: vault) == .failure(.lost(.replaced)))
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        #expect(try indexes() == [])
    }

    @Test(arguments: [true, false])
    func `a stranger's index under our number is left alone, written or not`(_ isWritten: Bool) throws {
        let item = try made()
        #expect(try chip.tool("tpm2_nvundefine", "-C", "o", number(item)).status == 0)
        let theirs = [UInt8](repeating: 7, count: 32)
        try define(item, authorisation: [5, 6], policy: theirs, content: isWritten ? shareBytes : nil)
        #expect(store.reading(item, of: vault) == .failure(.lost(.replaced)))
        #expect(store.revoking(item, of: vault) == .revoked(.gone), "ours is not there any more")
        #expect(try indexes().count == 1)
        #expect(try policy(item) == theirs)
    }

    @Test func `an item that does not fit together is not asked for`() throws {
        let item = try made()
        let place = try index(item)
        let name = item.name
        func altered(_ handle: UInt32, _ indexName: [UInt8], _ authorisation: [UInt8]) -> ShareItem {
            ShareItem(
                name, .index(ShareItem.Index(handle: handle, name: indexName, authorisation: authorisation)))
        }
        let items = [
            altered(place.handle ^ 1, place.name, place.authorisation),
            altered(0x0100_0001, place.name, place.authorisation),
            altered(place.handle, [0, 0x0b] + [UInt8](repeating: 3, count: 32), place.authorisation),
            altered(place.handle, place.name, Array(place.authorisation.dropLast())),
            ShareItem(name, .named(.secretService, backend: "")),
        ]
        for item in items {
            #expect(store.reading(item, of: vault) == .failure(.damaged))
            #expect(store.revoking(item, of: vault) == .revoked(.anothers))
        }
        #expect(store.reading(item, of: vault) == .share(shareBytes))
    }

    @Test func `an authorisation on the chip's owner refuses new shares, gives the old ones and lets them be revoked`()
        throws
    {
        let item = try made()
        #expect(try chip.tool("tpm2_changeauth", "-c", "o", "stranger").status == 0)
        #expect(store.probing() == .failure(.unavailable(.ownedByAnother)))
        #expect(
            try store.making(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
                == .failure(.unavailable(.ownedByAnother)))
        #expect(store.reading(item, of: vault) == .share(shareBytes), "no word of the owner's is needed for it")
        #expect(store.revoking(item, of: vault) == .revoked(.emptied))
        #expect(store.reading(item, of: vault) == .failure(.lost(.emptied)))
        #expect(try indexes().count == 1, "the index stays, and nothing is in it")
        let authorisation = "hex:" + hexadecimal(try index(item).authorisation)
        let content = "\(chip.folder)/left"
        #expect(
            try chip.tool("tpm2_nvread", "-C", number(item), "-P", authorisation, number(item), "-o", content).status
                == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: content)) == Data(count: 32))
        #expect(try chip.tool("tpm2_changeauth", "-c", "o", "-p", "stranger").status == 0)
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        #expect(try indexes() == [])
    }

    @Test func `a chip that is full says so and keeps what it has`() throws {
        let item = try made()
        var number = 0x0181_0000
        for size in ["2048", "256", "16"] {
            while try chip.tool("tpm2_nvdefine", "0x" + String(number, radix: 16), "-C", "o", "-s", size).status == 0 {
                number += 1
                guard number < 0x0181_0400 else { throw Unexpected("the chip never gets full") }
            }
        }
        let before = try indexes().count
        #expect(
            try store.making(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
                == .failure(.unavailable(.full)))
        #expect(try indexes().count == before)
        #expect(store.reading(item, of: vault) == .share(shareBytes))
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
        #expect(
            try store.making(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes))) == .done,
            "there is room again")
    }

    @Test func `a chip that is not there has lost nothing`() throws {
        let item = try made()
        let nowhere = TPMShares(at: TPMLocation("swtpm:path=/nonexistent/tpm.sock"))
        for outcome in [
            nowhere.reading(item, of: vault), nowhere.revoking(item, of: vault), nowhere.probing(),
            try nowhere.making(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes))),
        ] {
            guard case .failure(.unavailable(.absent(.tpm, _))) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
        }
        #expect(nowhere.revoking(item, of: try vaultID(2)) == .revoked(.anothers), "and is not asked for others")
    }

    @Test func `a cleared chip has lost its shares`() throws {
        let item = try made()
        #expect(try chip.tool("tpm2_clear").status == 0)
        #expect(store.reading(item, of: vault) == .failure(.lost(.notThere)))
        #expect(store.revoking(item, of: vault) == .revoked(.gone))
    }

    /// Every command of a making, a read and a revocation: the power fails at it, or only its answer is lost.
    @Test(arguments: [false, true])
    func `whatever command is cut off, what was noted can be revoked and nothing is left`(_ losesAnswer: Bool) throws {
        let proxy = try TPMProxy(chip)
        let through = TPMShares(at: TPMLocation(proxy.location))
        for step in ["make", "read", "revoke"] {
            var number = 0
            while true {
                var noted: ShareItem?
                if step != "make" { noted = try made() }
                proxy.arm(at: number, losesAnswer: losesAnswer) { [chip] in try? chip.cutPower() }
                let outcome: ShareOutcome
                switch step {
                case "make":
                    let share = try secret(shareBytes)
                    let name = try ShareName.fresh(for: HardwareOwner(vault: vault, home: shareBytes))
                    outcome = ShareOutcome { () throws(ShareFailure) in
                        noted = try through.make(share, as: name, under: .nobodyAsked(.whileUnlocked)) {
                            item throws(ShareFailure) in noted = item
                        }
                        return .done
                    }
                case "read": outcome = through.reading(try #require(noted), of: vault)
                default: outcome = through.revoking(try #require(noted), of: vault)
                }
                let place = "\(step), command \(number), answer lost: \(losesAnswer)"
                let wasCut = proxy.hasCut
                if wasCut {
                    // A flush at the end may be the command that was cut: all was done by then.
                    switch outcome {
                    case .failure(.lost): Issue.record("\(place): a chip that does not answer has lost nothing")
                    default: break
                    }
                }
                if let noted {
                    if step == "read" { #expect(store.reading(noted, of: vault) == .share(shareBytes), "\(place)") }
                    #expect(store.revoking(noted, of: vault) == .revoked(.gone), "\(place)")
                }
                #expect(try indexes() == [], "\(place)")
                guard wasCut else { break }
                number += 1
            }
            #expect(number > 5, "\(step) has commands")
        }
    }

    /// What goes over the wire between program and chip.
    @Test func `neither share nor authorisation is ever sent in the clear`() throws {
        let proxy = try TPMProxy(chip)
        let through = TPMShares(at: TPMLocation(proxy.location))
        proxy.arm(at: nil) {}
        let item = try through.made(as: .fresh(for: HardwareOwner(vault: vault, home: shareBytes)))
        _ = through.reading(item, of: vault)
        let heard = proxy.heard
        #expect(heard.count > 1000)
        #expect(!heard.contains(shareBytes))
        #expect(!heard.contains(try index(item).authorisation))
        #expect(heard.contains(try policy(item)), "what is public is")
        _ = through.revoking(item, of: vault)
    }
}

private func sha256(_ bytes: [UInt8]) -> [UInt8] {
    let hash = unsafe SHA256.hash(bytes.span.bytes)
    return hash.bytes
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        guard part.count <= count else { return false }
        return (0...(count - part.count)).contains { self[$0] == part[0] && Array(self[$0..<$0 + part.count]) == part }
    }
}
