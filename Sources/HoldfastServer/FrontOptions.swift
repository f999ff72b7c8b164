internal import BetterAuthHTTP

/// What every listening command takes.
enum FrontOptions {
    static let valued: Set<String> = [
        "listen", "threads", "tls-certificate", "tls-key", "trusted-proxy", "connections", "connections-per-address",
        "request-seconds", "log",
    ]

    static func settings(_ arguments: Arguments) throws(UsageError) -> HTTPSettings {
        var settings = HTTPSettings()
        settings.threads = try arguments.number("threads", 1...256, default: settings.threads)
        settings.connections = try arguments.number("connections", 1...1_000_000, default: settings.connections)
        settings.connectionsPerAddress = try arguments.number(
            "connections-per-address", 1...1_000_000, default: settings.connectionsPerAddress)
        settings.requestSeconds = try arguments.number("request-seconds", 1...3600, default: settings.requestSeconds)
        for text in arguments.all("trusted-proxy") {
            guard let block = AddressBlock(text) else { throw UsageError("\(text) is no block of addresses") }
            settings.trustedProxies.append(block)
        }
        switch (try arguments.text("tls-certificate"), try arguments.text("tls-key")) {
        case (nil, nil): break
        case (let certificate?, let key?):
            settings.certificate = try TextFile.read(certificate)
            settings.key = try TextFile.read(key)
        default: throw UsageError("--tls-certificate and --tls-key belong together")
        }
        return settings
    }

    static func log(_ arguments: Arguments) throws(UsageError) -> ServerLog {
        switch try arguments.text("log") {
        case "error": ServerLog(.error)
        case "notice", nil: ServerLog(.notice)
        case "requests": ServerLog(.requests)
        case let other?: throw UsageError("--log takes error, notice or requests, not \(other)")
        }
    }

    /// The one line that says that the server can be asked.
    static func announce(_ front: HTTPServer, _ settings: HTTPSettings, key: String) {
        let scheme = settings.key == nil ? "http" : "https"
        ServerCommand.say("ready \(scheme)://\(front.address) \(key)\n")
    }
}
