// Files of other password managers, which may come from anybody. Built by scripts/fuzz; the parser is in FUZZ_PARSER.
import Foundation
import Items
import QRReading
import SecretMemory

@testable import Imports

private let parser = ProcessInfo.processInfo.environment["FUZZ_PARSER"] ?? "json"

/// One file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = unsafe UnsafeRawBufferPointer(start: start, count: count)
    guard let file = try? unsafe SecretBytes(copying: RawSpan(_unsafeBytes: input)) else { return 0 }
    do throws(ImportError) {
        for item in try read(file).items {
            if item.name.isEmpty || item.name.utf8.count > 1000 {
                fatalError("an item has a name that no record can have")
            }
            if item.item.fields.contains(where: { $0.label.isEmpty }) { fatalError("a field has no label") }
        }
    } catch  where error.reason.utf8.count > 4096 {
        fatalError("an error repeats the file")
    } catch {}
    return 0
}

/// As the command reads them. What is behind an encryption is reached without it: nobody could make a tag by chance.
private func read(_ file: consuming SecretBytes) throws(ImportError) -> Imported {
    switch parser {
    case "bitwarden": return try BitwardenImport.read(file, password: nil)
    case "aegis": return try AegisImport.read(file, password: nil)
    case "2fas": return try TwoFASImport.read(file, password: nil)
    case "otpauth": return try OneTimeListImport.read(file)
    case "csv": return try TableImport.read(file)
    case "columns":
        return try TableImport.read(
            file, ImportOptions(columns: ["a": .title, "b": .group, "c": .password, "d": .code, "e": .tags]))
    case "xml": return try KeePassTree.read(export: file)
    case "kdbx":
        // The front, whose costs are not spent, then the same bytes as what is encrypted behind it.
        return try file.withBytes { bytes throws(ImportError) in
            do throws(ImportError) { _ = try KDBXHeader(bytes) } catch  where error.reason.utf8.count > 4096 {
                throw error
            } catch {}
            let content = SecretBufferBox(limit: ImportLimits.expanded)
            try content.append(bytes)
            return try KDBXImport.inner(content)
        }
    case "key-file":
        _ = try KeyFile.key(file)
        return Imported()
    case "holdfast": return try HoldfastImport.read(file)
    case "1pux": return try OnePasswordImport.read(file)
    case "proton": return try ProtonImport.read(file)
    case "pass":
        var imported = Imported()
        try PassImport.read(["x"], file, into: &imported)
        return imported
    case "gzip":
        // What a database's content is packed in.
        let expanded = try file.withBytes { bytes throws(ImportError) in try GzipFile.expand(bytes) }
        return try KeePassTree.read(export: expanded.bytes())
    case "qr":
        // What the process that decodes an image answers: the decoders themselves are other libraries.
        guard let texts = try? QRTexts(reply: file) else { return Imported() }
        for number in 0..<texts.count where texts.withText(number, { $0.byteCount == 0 }) {
            fatalError("an empty text")
        }
        return Imported()
    default:
        fatalError("FUZZ_PARSER: see scripts/fuzz")
    }
}
