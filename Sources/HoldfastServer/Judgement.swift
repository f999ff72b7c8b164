internal import BetterAuthHTTP
internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

/// Collects what is wrong with the options of a command: all of it, each with the place where the value stands. While
/// it judges nothing is made, and nobody is asked over a network.
struct Judgement {
    let arguments: Arguments
    private(set) var mistakes: [Mistake]
    private var known: Set<Mistake>

    init(_ arguments: Arguments) {
        self.arguments = arguments
        mistakes = arguments.mistakes
        known = Set(mistakes)
    }

    /// - Parameter index: The number of the value, for an option that may be repeated.
    mutating func add(_ option: Option, _ text: String, at index: Int = 0, mayPass: Bool = false) {
        // The place names the option already.
        let said = ["\(option.spelled): ", "\(option.spelled) "].first(where: text.hasPrefix)
        let rest = text == "\(option.synopsis) is missing" ? "missing" : String(text.dropFirst(said?.count ?? 0))
        let mistake = Mistake(arguments.place(of: option, index), rest, mayPass: mayPass)
        // One folder may be that of several files.
        if known.insert(mistake).inserted { mistakes.append(mistake) }
    }

    /// What the body returns; nil where it throws, which is a mistake in the option.
    mutating func value<Value>(_ option: Option, at index: Int = 0, _ body: () throws -> Value) -> Value? {
        do { return try body() } catch {
            add(option, OperatorAdvice.line(for: error), at: index, mayPass: OperatorAdvice.mayPass(error))
            return nil
        }
    }

    /// - Throws: ``Mistakes``, if there are any.
    func conclude() throws(Mistakes) { if !mistakes.isEmpty { throw Mistakes(mistakes) } }
}

// What every listening command has.
extension Judgement {
    mutating func front() -> HTTPSettings {
        if let place = arguments[ServerOptions.listen], place != ServiceManager.listening {
            _ = value(ServerOptions.listen.option) { try HTTPListener.check(place) }
        }
        var settings = FrontOptions.settings(arguments)
        settings.trustedProxies = blocks(ServerOptions.trustedProxy)
        let (certificate, key) = (ServerOptions.certificate, ServerOptions.certificateKey)
        switch (arguments[certificate], arguments[key]) {
        case (nil, nil): break
        case (let path?, let keyPath?):
            settings.certificate = value(certificate.option) { try TextFile.read(path) }
            settings.key = value(key.option) { try TextFile.read(keyPath) { _ in true } }
            guard let text = settings.certificate, settings.key != nil else { break }
            guard CertificateDates(pem: text) != nil else {
                add(certificate.option, "\(path) has no certificate in PEM form; write one into it", mayPass: true)
                break
            }
            var one = settings
            one.threads = 1
            do throws(HTTPError) { try HTTPServer.check(one) } catch {
                // One of the two may have been renewed, and the other one not yet.
                add(
                    certificate.option, "\(path) and \(keyPath) do not belong together; name a certificate and its key",
                    mayPass: true)
            }
        case (.some, nil): add(certificate.option, "it also requires --tls-key")
        case (nil, .some): add(key.option, "it also requires --tls-certificate")
        }
        return settings
    }

    mutating func blocks(_ option: ListOption) -> [AddressBlock] {
        arguments[option].enumerated().compactMap { index, text in
            let block = AddressBlock(text)
            if block == nil {
                add(option.option, "\(text) is not a block of addresses; write one such as 10.0.0.0/8", at: index)
            }
            return block
        }
    }

    mutating func metricsAccess(_ settings: HTTPSettings) -> MetricsAccess {
        MetricsAccess(blocks(ServerOptions.metricsFrom), settings, version: ServerEntry.version)
    }

    /// The service at a URL that an option gives; nil for none, and for a mistake.
    mutating func service(_ option: TextOption) -> PlainHTTP? {
        guard arguments.contains(option.option) else { return nil }
        return value(option.option) { [arguments] in try FrontOptions.service(arguments, option) }
    }
}

// Files.
extension Judgement {
    /// A file that is read, and made where there is none.
    /// - Parameter isWritten: Whether others are made beside it in any case.
    mutating func keys(_ file: KeyFile, _ option: Option, isWritten: Bool) {
        do throws(KeyFile.Failure) {
            _ = try file.load(responseLifetime: Serve.responseLifetime, accessLifetime: 0)
            guard isWritten else { return }
        } catch {
            switch error {
            case .missing, .system(_, ENOTDIR): break
            default: return add(option, OperatorAdvice.line(for: error), mayPass: OperatorAdvice.mayPass(error))
            }
        }
        if let problem = FilePlace.folderProblem(of: file.path) { add(option, problem) }
    }

    mutating func database(_ path: String) {
        if let problem = FilePlace.problem(path) ?? FilePlace.folderProblem(of: path) {
            add(ServerOptions.database.option, problem)
        }
    }

    mutating func auditLog(_ path: String) {
        let option = ServerOptions.auditLog.option
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            if let problem = FilePlace.folderProblem(of: path) { add(option, problem) }
            return
        }
        if let failure = AuditLog.refusal(of: status, path) { add(option, OperatorAdvice.line(for: failure)) }
    }

    mutating func adminSocket(_ path: String) {
        let option = ServerOptions.adminSocket.option
        let temporary = AdminSocket.temporary(path)
        guard temporary.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            return add(option, "the name is too long for a socket; name one in a folder with a shorter name")
        }
        for name in [path, temporary] {
            var status = stat()
            if unsafe lstat(name, &status) == 0, status.st_mode & mode_t(S_IFMT) != mode_t(S_IFSOCK) {
                return add(option, "\(name) exists and is not a socket; move it away, or name another")
            }
        }
        if let problem = FilePlace.folderProblem(of: path) { add(option, problem) }
    }

    /// Files that are to be different ones.
    mutating func differ(_ files: [(option: Option, path: String?)]) {
        var known: [String: Option] = [:]
        for (option, path) in files {
            guard let path else { continue }
            let place = FilePlace.canonical(path)
            guard let other = known[place] else {
                let isDatabase = option == ServerOptions.database.option
                for name in isDatabase ? DatabaseLocation.names(place) : [place] { known[name] = option }
                continue
            }
            add(option, "\(path) is what \(other.name) names; name another file")
        }
    }
}

/// Where a program is to make or write files. A folder that is missing does not come by itself: whoever mounts it late
/// says so in the unit (RequiresMountsFor).
enum FilePlace {
    /// Why a file that is there cannot be written; nil when it can, and where there is none.
    static func problem(_ path: String) -> String? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) else {
            return "\(path) is no ordinary file; name another one"
        }
        return denial(path, W_OK).map { "\(path): \($0); give this user the right to write it" }
    }

    /// Why no file can be made in the folder of a name; nil when it can.
    static func folderProblem(of path: String) -> String? {
        let folder = Paths.parent(of: path)
        var status = stat()
        guard unsafe stat(folder, &status) == 0 else {
            return "\(folder): \(SystemError.last); make this folder, or name a file in another one"
        }
        guard status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR) else {
            return "\(folder) is no folder; name a file in another one"
        }
        return denial(folder, W_OK | X_OK).map { "\(folder): \($0); give this user the right to make files there" }
    }

    private static func denial(_ path: String, _ mode: Int32) -> SystemError? {
        unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ? nil : .last
    }

    /// The same for names of one file.
    static func canonical(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard let found = unsafe realpath(Paths.parent(of: path), nil) else { return path }
        defer { unsafe free(found) }
        return unsafe "\(String(cString: found))/\(name)"
    }
}
