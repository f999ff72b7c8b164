internal import CommandLineArguments

extension ServerOptions {
    /// The titles under which help lists the options of `serve`. Each option of it but these few is under one of them:
    /// `--listen`, `--database`, `--config` and `--help`.
    static let groups: [(title: String, options: [Option])] = [
        (
            "Connections",
            [
                sharePort.option, threads.option, connections.option, connectionsPerAddress.option,
                requestSeconds.option, certificate.option, certificateKey.option, trustedProxy.option,
            ]
        ),
        (
            "Data and keys",
            [
                redis.option, redisLost.option, keysFile.option, keysIn.option, newKeys.option, rotateKeys.option,
                publish.option, attributes.option,
            ]
        ),
        (
            "Lifetimes",
            [access.option, refresh.option, challenge.option, accessWindow.option]
        ),
        ("Limits", [addressRate.option, creationRate.option, challengeRate.option, workers.option]),
        ("Key chain", [hsm.option, hsmToken.option, keyService.option]),
        (
            "Administration and logs",
            [
                adminSocket.option, auditLog.option, auditFull.option, auditAddresses.option, metricsFrom.option,
                log.option,
            ]
        ),
        ("Example application", [exampleApp.option, name.option]),
    ]
}
