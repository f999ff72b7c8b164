internal import Holdfast
internal import HoldfastCommand
internal import SystemCalls

extension Chapter {
    static let log = Chapter(
        title: "The log",
        steps: [
            Step("read what happened until now") { tour in
                let app = try tour.openedApp()
                if !app.vault.isUnlocked { try await tour.unlock(app, with: tour.passcode) }
                let report = try app.vault.securityLog()
                let names = Set(report.entries.map(\.event.name))
                let expected = ["created", "unlocked", "locked", "refused", "passcodeChanged", "recovered", "backedUp"]
                for name in expected { try tour.expect(names.contains(name), "the log has no entry \(name)") }
                try tour.expect(report.isIntact, "the log is not as it was written")
                for entry in report.entries.prefix(4) { tour.show("\(entry.index)  \(LogText.of(entry.event))") }
                return "\(report.entries.count) entries, each proved"
            },
            Step("written while locked, unreadable then") { tour in
                let app = try tour.openedApp()
                let before = try app.vault.securityLog().entries.count
                await app.lock.forceLock()
                _ = try await tour.expectWrong(Samples.wrongPasscode, app)
                try await tour.expectRefusal(.locked, "reading the log") { _ = try app.vault.securityLog() }
                try await tour.unlock(app, with: tour.passcode)
                let added = try app.vault.securityLog().entries.dropFirst(before).map(\.event.name)
                try tour.expect(added == ["locked", "refused", "unlocked"], "the log says \(added)")
                return added.joined(separator: ", ")
            },
            Step("one changed byte is found") { tour in
                let app = try tour.openedApp()
                let changed = try tour.changeLog { bytes in bytes[3 * 192 + 60] ^= 1 }
                defer { tour.restoreLog(changed) }
                let report = try app.vault.securityLog()
                try tour.expect(report.findings.first?.position == 2, "the change is not named")
                return report.findings.map(\.text).joined(separator: ", ")
            },
            Step("two entries removed are found") { tour in
                let app = try tour.openedApp()
                let changed = try tour.changeLog { bytes in bytes.removeSubrange(4 * 192..<6 * 192) }
                defer { tour.restoreLog(changed) }
                let report = try app.vault.securityLog()
                try tour.expect(report.findings.first?.position == 3, "the removal is not named")
                return report.findings.map(\.text).joined(separator: ", ")
            },
        ])
}

extension Tour {
    /// Edits the log behind the vault's back, as someone with the files could.
    /// - Returns: The bytes as they were.
    fileprivate func changeLog(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
        let path = home + "/log"
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        try expect(file >= 0, "\(path): \(SystemError.last)")
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        var elements = bytes.mutableSpan
        var span = unsafe elements.mutableBytes
        let count = try Descriptors.read(file, into: &span)
        bytes.removeLast(bytes.count - count)
        var changed = bytes
        change(&changed)
        try write(changed, to: path)
        return bytes
    }

    fileprivate func restoreLog(_ bytes: [UInt8]) { try? write(bytes, to: home + "/log") }
}
