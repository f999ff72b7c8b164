import Testing
import VaultFormat
import VaultSync

@Suite struct SyncErrorTests {
    @Test func anErrorNamesThePlace() {
        #expect(SyncError.notAuthentic("entry signature") != SyncError.format(.wrongMagic))
    }
}
