internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import CommandLineArguments

/// What every listening command has.
enum FrontOptions {
    static func settings(_ arguments: Arguments) throws(UsageError) -> HTTPSettings {
        var settings = HTTPSettings()
        let log = log(arguments)
        settings.onUntrustedProxy = { peer in
            log.write(
                .warning, "untrusted proxy",
                [
                    "address": .text(peer.description),
                    "reason": "it sends X-Forwarded-For but is not in --trusted-proxy; the header is ignored",
                ])
        }
        settings.onFewDescriptors = { limit, needed in
            log.write(
                .warning, "few descriptors",
                [
                    "limit": .number(limit), "needed": .number(needed),
                    "reason":
                        "connections beyond the limit wait: raise LimitNOFILE (ulimit -n), or lower --connections",
                ])
        }
        settings.connections = arguments[ServerOptions.connections]
        settings.trustedProxies = try addressBlocks(arguments, ServerOptions.trustedProxy)
        switch (arguments[ServerOptions.certificate], arguments[ServerOptions.certificateKey]) {
        case (nil, nil): break
        case (let certificate?, let key?):
            settings.certificate = try TextFile.read(certificate)
            settings.key = try TextFile.read(key) { _ in true }
        default: throw UsageError("--tls-certificate and --tls-key require each other")
        }
        return settings
    }

    static func addressBlocks(_ arguments: Arguments, _ option: ListOption) throws(UsageError) -> [AddressBlock] {
        var blocks: [AddressBlock] = []
        for text in arguments[option] {
            guard let block = AddressBlock(text) else {
                throw UsageError(
                    "\(option.option.spelled) \(text): this is not a block of addresses, such as 10.0.0.0/8")
            }
            blocks.append(block)
        }
        return blocks
    }

    static func metricsAccess(_ arguments: Arguments, _ settings: HTTPSettings) throws(UsageError) -> MetricsAccess {
        MetricsAccess(
            try addressBlocks(arguments, ServerOptions.metricsFrom), settings, version: ServerEntry.version)
    }

    static func log(_ arguments: Arguments) -> ServerLog { ServerLog(logLevel(arguments)) }

    static func logLevel(_ arguments: Arguments) -> ServerLog.Level {
        switch arguments[ServerOptions.log] {
        case "error": .error
        case "warning": .warning
        case "requests": .info
        default: .notice
        }
    }

    /// The service at a URL that an option gives.
    static func service(_ arguments: Arguments, _ option: TextOption) throws(UsageError) -> PlainHTTP {
        guard let service = PlainHTTP(try arguments.required(option)) else {
            throw UsageError("\(option.option.spelled) must be http://HOST:PORT")
        }
        return service
    }

    /// The value of `--trust`.
    static func chainIdentity(_ arguments: Arguments) throws(UsageError) -> DigestText {
        guard let identity = DigestText(try arguments.required(ServerOptions.trust)) else {
            throw UsageError("--trust must be the identity of a key chain")
        }
        return identity
    }

    /// The one line that says that the server is ready.
    static func announce(_ front: HTTPServer, _ settings: HTTPSettings, key: String) {
        let scheme = settings.key == nil ? "http" : "https"
        ServerOutput.say("ready \(scheme)://\(front.address) \(key)\n")
    }
}
