import Foundation
import RealParts
import TestSupport
import Testing

/// The deployment of the documents as a whole: each of its parts fails in turn, while clients ask.
@Suite struct DeploymentTests {
    @Test(.enabled(if: Deployment.isInstalled, "Prometheus or nginx is not installed"), .patient)
    func `each part fails in turn, its alert fires and is resolved, and nothing is lost`() throws {
        let deployment = try Deployment()
        let load = DeploymentLoad(
            proxy: deployment.addresses[.proxy]!, app: deployment.addresses[.app]!,
            keyService: deployment.addresses[.keys]!, clients: TestRun.isCheck ? 3 : 2)
        defer { load.end() }
        load.waitForMore(30)
        try waitUntilCalm(deployment)
        var figures: [String] = []
        for fault in TestRun.isCheck ? DeploymentFault.allCases : [.secondServer] {
            guard fault != .fullDisk || deployment.canFillDisk else {
                print("SKIPPED: no tmpfs can be mounted here, so no disk was full")
                continue
            }
            let before = load.lost.count
            try fault.begin(in: deployment)
            let missing = try wait(for: fault.alerts(in: deployment), in: deployment)
            #expect(missing == [], "\(fault.rawValue)")
            let begin = ContinuousClock.now
            try fault.end(in: deployment)
            let isReady = Patience.wait { deployment.unready().isEmpty }
            let passed = ContinuousClock.now - begin
            #expect(isReady, "\(fault.rawValue): \(deployment.unready())")
            load.waitForMore(30)
            load.checkKept()
            try waitUntilCalm(deployment)
            let lost = load.lost.dropFirst(before)
            #expect(lost.isEmpty, "\(fault.rawValue)")
            let alerts = Set(fault.alerts(in: deployment).map(\.name)).sorted().joined(separator: ",")
            let seconds = Double(Int(passed / .milliseconds(10))) / 100
            figures.append("fault \(fault.rawValue) lost \(lost.count) ready \(seconds) \(alerts)")
        }
        load.end()
        load.checkKept()
        #expect(load.lost == [])
        try checkWhatIsThere(deployment, load)
        // Those that say that a fault has harmed something, or that a server has one of its own.
        let fired = try deployment.everFired()
        #expect(
            fired.isDisjoint(with: ["HoldfastFault", "HoldfastRowDamaged", "HoldfastChainFills", "HoldfastKeysOld"]))
        print(figures.joined(separator: "\n"))
        print("deployment: \(load.answered) answered, \(load.again) sent again, alerts: \(fired.sorted())")
    }

    /// - Returns: Which alerts do not fire.
    private func wait(
        for alerts: [(name: String, label: String, value: String)], in deployment: Deployment
    ) throws -> [String] {
        var missing: [String] = []
        _ = try Patience.wait {
            let firing = try deployment.firing()
            missing = alerts.filter { alert in
                !firing.contains { $0["alertname"] == alert.name && $0[alert.label] == alert.value }
            }.map { "\($0.name) \($0.value)" }
            return missing.isEmpty
        }
        return missing
    }

    /// Returns when Prometheus reaches all servers, and no alert fires any more.
    private func waitUntilCalm(_ deployment: Deployment) throws {
        var firing: [[String: String]] = []
        let isCalm = try Patience.wait {
            firing = try deployment.firing()
            return try firing.isEmpty && deployment.reachedServers() == Deployment.Part.servers.count
        }
        #expect(isCalm, "\(firing)")
    }

    /// The accounts that were acknowledged, the administration of the deployment, and the audit logs of both machines.
    private func checkWhatIsThere(_ deployment: Deployment, _ load: DeploymentLoad) throws {
        let folder = deployment.folder.path
        let url = deployment.pair.postgres.url(of: deployment.database)
        let counted = try DocumentShell(folder).run(
            "psql -X -At -d '\(url)' -c 'SELECT count(*) FROM holdfast_accounts'")
        #expect(Int(counted.dropLast()).map { $0 >= load.created } == true, "\(counted) of \(load.created)")
        let listed = try runServerCommand(
            ["accounts", "list", "--admin-socket", deployment.folder["1/run/admin.sock"]], folder)
        #expect(listed.status == 0, "\(listed.output)")
        for (machine, part) in [(1, Deployment.Part.first), (2, .second)] {
            try deployment.process(part).process.end(SIGTERM)
            let verified = try runServerCommand(
                [
                    "audit", "verify", deployment.auditFolder(machine) + "/audit.log", "--keys-file",
                    deployment.keysFile(machine),
                ], folder)
            // A kill leaves a part of a line at most.
            for line in verified.output.split(separator: "\n") where line.hasPrefix("line ") {
                #expect(line.contains("a part of one"), "\(line)")
            }
            #expect(verified.output.contains(" chains, "), "\(verified.output)")
        }
    }
}
