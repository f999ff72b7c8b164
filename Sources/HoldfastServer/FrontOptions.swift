internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import CommandLineArguments

/// What every listening command has.
enum FrontOptions {
    /// What is no value that could be wrong; the rest is judged (``Judgement/front()``).
    static func settings(_ arguments: Arguments) -> HTTPSettings {
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
        return settings
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
