// An `otpauth://` text, or a key in base 32, from a QR code, a file or a clipboard. Built by scripts/fuzz.
import OneTimeCodes
import SecretMemory

/// One text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = unsafe UnsafeRawBufferPointer(start: start, count: count)
    guard let text = try? unsafe SecretBytes(copying: RawSpan(_unsafeBytes: input)) else { return 0 }
    if let code = try? OneTimeCode(base32: text) { use(code) }
    if let code = try? OneTimeCode(parsing: text) { use(code) }
    return 0
}

/// What was read gives codes, and a text that is read as the same again.
private func use(_ code: borrowing OneTimeCode) {
    guard let digits = try? code.code(at: 1_234_567_890) else { fatalError("a code has no digits") }
    if digits.count != code.characters.count { fatalError("a code has another number of characters") }
    if let left = code.remaining(at: 1_234_567_890), left < 1 { fatalError("a code is over before its step is") }
    do throws(OneTimeCodeError) {
        let text = try code.text()
        let again = try OneTimeCode(parsing: text)
        let same = try again.code(at: 1_234_567_890)
        if !same.isEqual(to: digits) || again.moment != code.moment { fatalError("a text gives other codes") }
        if again.issuer != code.issuer || again.account != code.account { fatalError("a text gives other names") }
    } catch .tooLong {
        // Names that become three times as long by their percent signs.
    } catch { fatalError("what was written is not read: \(error)") }
}
