import Cryptography
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
@testable import VaultCore
@testable import VaultFolders
@testable import VaultHeader
import VaultFormat
@testable import VaultLog
@testable import VaultStorage
@testable import VaultWipe

/// The table of what is erased against what is ever made.
@Suite struct WipeTableTests {
    @Test func everyNameThatAHomeCanHaveIsErasedOrKnown() throws {
        let made =
            SecurityLog.fileNames + OpenFiles.all + VaultCreation.ownNames.sorted() + [
                WipeJournalFile.name, WipeReceipt.fileName, "shares",
            ] + IdentityMark.names + HardwareNote.names + [HardwareNote.refused, WipeKeyFile.name]
            + ReceiptKeyFile.names
            + [HeaderFile.name, WipeJournalFile.name, WipeReceipt.fileName].map(HomeDirectory.part(of:))
        for name in made { #expect(HomeTarget.knownNames.contains(name), "\(name)") }
        #expect(Set(HomeTarget.all.map(\.id)).count == HomeTarget.all.count)
        #expect(HomeTarget.all.count == 12, "a name in the table is no identifier")
        for target in HomeTarget.all { #expect(!target.id.isOfApp) }
    }

    @Test func whatIsBeingWrittenHasOneName() {
        #expect(OpenFiles.newPublicKey == HomeDirectory.part(of: OpenFiles.publicKey))
        #expect(OpenFiles.newDatabase == HomeDirectory.part(of: OpenFiles.database))
    }

    @Test func pipesAndSocketsAreRemovedAndNotOpened() throws {
        let home = try TestHome()
        let vault = try home.filled()
        try FileManager.default.createDirectory(atPath: home.file("agent"), withIntermediateDirectories: false)
        for name in ["agent/socket", "files/pipe", "log.new", "open.key"] {
            #expect(unsafe mkfifo(home.file(name), 0o600) == 0)
        }
        #expect(try vault.wipe().isFinished)
        #expect(try home.names() == ["wipe-receipt"])
    }

    @Test func theOpenCompartmentIsErasedAndNotBegunAgain() throws {
        let home = try TestHome()
        let vault = try home.filled()
        let value = try secret("written while locked")
        try vault.open.put(value, for: "note")
        let held = try #require(FileHandle(forReadingAtPath: home.file("open.key")))
        let key = Array(try home.bytes("open.key")[32..<64])
        #expect(try vault.wipe().isFinished)
        #expect(try home.names() == ["wipe-receipt"])
        let bytes = try [UInt8](#require(try held.readToEnd()))
        #expect(!bytes.contains(key))
        #expect(errorCode { try vault.open.put(value, for: "another") } == .wiped)
        #expect(try home.names() == ["wipe-receipt"])
    }
}
