import Testing

@testable import VaultCore
@testable import VaultStorage

/// What a failed commit puts back must be what was there.
@Suite struct MetaPageTests {
    @Test func thePageThatACommitOverwritesIsReadAsItLiesInTheFile() throws {
        let home = try TestHome()
        let vault = try home.unlocked()
        try vault.put([1], "name")
        let database = try DatabaseEnvironment.acquire(.protected, in: vault.home)
        let file = try home.bytes("vault.mdb")
        for number: UInt64 in [4, 5] {
            let page = unsafe DatabaseFile.metaPage(ofTransaction: number, database.environment.handle)
            let start = number % 2 == 0 ? 0 : 4096
            #expect(page.count == 152)
            #expect(page == Array(file[start..<start + page.count]))
        }
    }
}
