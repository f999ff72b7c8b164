internal import CommandLineArguments
internal import ProgramProtocols
internal import Holdfast
internal import SystemCalls

/// The environment of the one child that `run` starts: ours, then what files say, then what the command line says.
/// Values of references stay in locked memory; the child gets a copy from the kernel.
struct ChildEnvironment {
    private enum Value {
        case text([UInt8])
        case reference(SecretReference)
    }

    /// By name, as bytes: a name that we inherit may be anything.
    private var values: [[UInt8]: Value] = [:]
    private(set) var references: [SecretReference] = []

    /// - Throws: A usage error for what begins as a reference and is none, and for a file that is no `.env` file.
    init(files: [String], settings: [String]) throws(CommandError) {
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            unsafe next += 1
            let count = unsafe strlen(variable)
            let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(variable), byteCount: count)
            guard let equals = (0..<count).first(where: { bytes.byte(at: $0) == UInt8(ascii: "=") }) else { continue }
            let name = (0..<equals).map { bytes.byte(at: $0) }
            let value = bytes.extracting((equals + 1)..<count)
            if SecretReference.begins(value) {
                let shown = Escaping.name(String(decoding: name, as: UTF8.self))
                values[name] = .reference(try References.parse(value, at: "$\(shown)"))
            } else {
                values[name] = .text((0..<value.byteCount).map { value.byte(at: $0) })
            }
        }
        for file in files {
            let content = try ChildEnvironment.content(file)
            do throws(ProgramProtocolError) {
                for variable in try EnvironmentFile.parse(content) {
                    switch variable.value {
                    case .text(let text): values[Array(variable.name.utf8)] = .text(Array(text.utf8))
                    case .reference(let reference): values[Array(variable.name.utf8)] = .reference(reference)
                    }
                }
            } catch { throw .usage("\(Escaping.name(file)): \(error.words)") }
        }
        for setting in settings { try add(setting) }
        references = values.values.compactMap { value in
            if case .reference(let reference) = value { return reference }
            return nil
        }
    }

    /// `NAME=holdfast://...`. A value that is no reference is refused: a secret in arguments is seen by every user.
    private mutating func add(_ setting: String) throws(CommandError) {
        guard let equals = setting.utf8.firstIndex(of: UInt8(ascii: "=")),
            EnvironmentFile.isName(String(setting[..<equals]))
        else { throw .usage("--env needs NAME=holdfast://collection/item/field") }
        let name = String(setting[..<equals])
        let text = String(setting[setting.utf8.index(after: equals)...])
        do throws(ReferenceError) {
            values[Array(name.utf8)] = .reference(try SecretReference(parsing: text))
        } catch { throw .usage("--env \(name): \(error.words)") }
    }

    private static func content(_ path: String) throws(CommandError) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .failure(.input, "\(Escaping.name(path)): \(SystemError.last)") }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= EnvironmentFile.longest {
            let count = unsafe read(file, &piece, piece.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .failure(.input, "\(Escaping.name(path)): \(SystemError.last)")
            }
            bytes += piece[..<count]
        }
        return bytes
    }

    /// Lends the variables as execve(2) takes them.
    /// - Throws: A failure for a value with a zero byte, which no variable can have.
    func withVariables<R>(
        _ found: [SecretReference: ReferencedValue],
        _ body: ([UnsafeMutablePointer<CChar>?]) throws(CommandError) -> R
    ) throws(CommandError) -> R {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
        var owned: [UnsafeMutablePointer<CChar>] = unsafe []
        var secrets: [ReferencedValue] = []
        defer { unsafe owned.forEach { unsafe $0.deallocate() } }
        for (name, value) in values {
            switch value {
            case .text(let text):
                let bytes = name + [UInt8(ascii: "=")] + text + [0]
                let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
                for (offset, byte) in bytes.enumerated() { unsafe copy[offset] = CChar(bitPattern: byte) }
                unsafe owned.append(copy)
                unsafe pointers.append(copy)
            case .reference(let reference):
                guard let value = found[reference] else { continue }
                let variable = ReferencedValue(try ChildEnvironment.variable(name, value.bytes, reference))
                secrets.append(variable)
                unsafe pointers.append(
                    variable.bytes.withBytes { bytes in
                        // The memory stays where it is while `secrets` has it.
                        unsafe bytes.withUnsafeBytes { bytes in
                            unsafe UnsafeMutablePointer(
                                mutating: bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
                        }
                    })
            }
        }
        defer { withExtendedLifetime(secrets) {} }
        return try unsafe body(pointers + [nil])
    }

    /// `NAME=value` and a zero byte, in locked memory.
    private static func variable(
        _ name: [UInt8], _ value: borrowing SecretBytes, _ reference: SecretReference
    ) throws(CommandError) -> SecretBytes {
        var variable = try secret(name.count + value.count + 2)
        let isText = value.withBytes { value in
            variable.withMutableBytes { variable in
                for (offset, byte) in name.enumerated() {
                    variable.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
                }
                variable.storeBytes(of: UInt8(ascii: "="), toByteOffset: name.count, as: UInt8.self)
                for offset in 0..<value.byteCount {
                    let byte = value.byte(at: offset)
                    if byte == 0 { return false }
                    variable.storeBytes(of: byte, toByteOffset: name.count + 1 + offset, as: UInt8.self)
                }
                return true
            }
        }
        guard isText else {
            throw .failure(
                .invalidValue, "\(reference.text): the value has a zero byte, which no environment variable can have")
        }
        return variable
    }
}
