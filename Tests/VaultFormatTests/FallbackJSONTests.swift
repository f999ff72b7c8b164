import Foundation
import Testing
import VaultFormat

/// The JSON of fallback policies: everything strange is an error that names its place.
@Suite struct FallbackJSONTests {
    private func error(_ text: String) -> FallbackPolicyError? {
        do throws(FallbackPolicyError) {
            _ = try FallbackPolicy(json: Array(text.utf8))
            return nil
        } catch { return error }
    }

    private func steps(_ steps: String) -> String { "{\"version\": 1, \"steps\": [\(steps)]}" }
    private static let passcode = #"{"step": "appPasscode", "assurance": "keyBound"}"#
    private static let words = FallbackPolicy.cancelWords

    @Test(arguments: FallbackPolicy.presets.map(\.policy) + [Sample.laterFallback])
    func textAndCoderGiveThePolicyBack(_ policy: FallbackPolicy) throws {
        #expect(try FallbackPolicy(json: Array(policy.jsonText.utf8)) == policy)
        let coded = try JSONEncoder().encode(policy)
        #expect(try FallbackPolicy(json: Array(coded)) == policy)
        #expect(try JSONDecoder().decode(FallbackPolicy.self, from: coded) == policy)
        #expect(try JSONDecoder().decode(FallbackPolicy.self, from: Data(policy.jsonText.utf8)) == policy)
    }

    @Test(
        arguments: [
            ("", .malformed, "line 1, byte 1"), ("\n\n {", .malformed, "line 3, byte 3"),
            ("[]", .wrongType, "the text"), ("{}", .missingKey, "version"), (#"{"version": 1}"#, .missingKey, "steps"),
            (#"{"version": 2, "steps": []}"#, .unknownVersion, "version"),
            (#"{"version": "1", "steps": []}"#, .wrongType, "version"),
            (#"{"version": 1.0, "steps": []}"#, .wrongType, "version"),
            (#"{"version": 1, "steps": {}}"#, .wrongType, "steps"),
            (#"{"version": 1, "steps": []}"#, .emptyChain, "steps"),
            (#"{"version": 1, "steps": [], "more": 1}"#, .unknownKey, "more"),
            (#"{"version": 1, "version": 1, "steps": []}"#, .doubledKey, "line 1, byte 16"),
            (#"{"version": 1, "steps": [1]}"#, .wrongType, "steps[0]"),
            (#"{"version": 1, "steps": [{}]}"#, .missingKey, "steps[0].step"),
            (#"{"version": 1, "steps": [{"step": "face", "assurance": "none"}]}"#, .unknownStep, "steps[0].step"),
            (#"{"version": 1, "steps": [{"step": "appPasscode"}]}"#, .missingKey, "steps[0].assurance"),
            (
                #"{"version": 1, "steps": [{"step": "appPasscode", "assurance": "much"}]}"#, .unknownAssurance,
                "steps[0].assurance"
            ),
            (
                #"{"version": 1, "steps": [{"step": "appPasscode", "assurance": "presence"}]}"#, .impossibleAssurance,
                "steps[0].assurance"
            ),
            (
                #"{"version": 1, "steps": [{"step": "appPasscode", "assurance": "keyBound", "When": []}]}"#,
                .unknownKey,
                "steps[0].When"
            ),
        ] as [(String, FallbackPolicyError.Code, String)])
    func mistakesAreNamedWithTheirPlace(_ text: String, _ code: FallbackPolicyError.Code, _ place: String) {
        let error = error(text)
        #expect(error?.code == code && error?.place == place, "\(error.map(String.init(describing:)) ?? "taken")")
    }

    @Test(
        arguments: [
            (passcode + "," + passcode, .doubledStep, "steps[1].step"),
            (
                #"{"step": "appPasscode", "assurance": "keyBound", "when": ["failed"]}"#, .conditionOnFirstStep,
                "steps[0].when"
            ),
            (passcode + #", {"step": "recoveryPhrase", "assurance": "keyBound"}"#, .noCondition, "steps[1].when"),
            (
                passcode + #", {"step": "recoveryPhrase", "assurance": "keyBound", "when": ["failed", "bored"]}"#,
                .unknownCondition, "steps[1].when[1]"
            ),
            (
                passcode + #", {"step": "recoveryPhrase", "assurance": "keyBound", "when": ["failed", "failed"]}"#,
                .doubledCondition, "steps[1].when[1]"
            ),
            (
                passcode + #", {"step": "recoveryPhrase", "assurance": "keyBound", "when": [4]}"#, .wrongType,
                "steps[1].when[0]"
            ),
            (
                passcode + #", {"step": "recoveryPhrase", "assurance": "keyBound", "when": "failed"}"#, .wrongType,
                "steps[1].when"
            ),
            (
                passcode + #", {"step": "recoveryPhrase", "assurance": "keyBound", "when": ["cancelled"]}"#,
                .cancelledElsewhere, "steps[1].when"
            ),
            (
                passcode + #", {"step": "openCompartment", "assurance": "none", "when": ["cancelled"]}"#,
                .cancelWithoutWords, "steps[1].onCancel"
            ),
            (
                passcode
                    + #", {"step": "openCompartment", "assurance": "none", "when": ["cancelled"], "onCancel": "yes"}"#,
                .cancelWithoutWords, "steps[1].onCancel"
            ),
            (
                passcode
                    + #", {"step": "openCompartment", "assurance": "none", "when": ["failed"], "onCancel": "\#(words)"}"#,
                .needlessWords, "steps[1].onCancel"
            ),
            (
                passcode + #", {"step": "openCompartment", "assurance": "none", "when": ["requested"]}"#,
                .requestedOpen,
                "steps[1].when"
            ),
            (
                passcode + #", {"step": "openCompartment", "assurance": "presence", "when": ["failed"]}"#,
                .impossibleAssurance, "steps[1].assurance"
            ),
            (
                #"{"step": "appPasscode", "assurance": "keyBound", "withinHours": 5}"#, .needlessAge,
                "steps[0].withinHours"
            ),
            (
                #"{"step": "biometrics", "assurance": "presence", "withinHours": 0}"#, .outOfRange,
                "steps[0].withinHours"
            ),
            (
                #"{"step": "biometrics", "assurance": "presence", "withinHours": 721}"#, .outOfRange,
                "steps[0].withinHours"
            ),
            (
                #"{"step": "biometrics", "assurance": "presence", "withinHours": 65537}"#, .outOfRange,
                "steps[0].withinHours"
            ),
            (
                #"{"step": "biometrics", "assurance": "presence", "withinHours": "3"}"#, .wrongType,
                "steps[0].withinHours"
            ),
            (
                #"{"step": "biometrics", "assurance": "presence", "withinHours": null}"#, .wrongType,
                "steps[0].withinHours"
            ),
        ] as [(String, FallbackPolicyError.Code, String)])
    func stepsThatCannotBeAreNamed(_ chain: String, _ code: FallbackPolicyError.Code, _ place: String) throws {
        let mistake = try #require(error(steps(chain)))
        #expect(mistake.code == code && mistake.place == place, "\(mistake)")
        // An app's own decoder says the same.
        #expect(throws: mistake) {
            try JSONDecoder().decode(FallbackPolicy.self, from: Data(steps(chain).utf8))
        }
    }

    @Test(arguments: [
        "{", "}", "nul", "truex", "01", "-", "1.", "1e", "+1", ".5", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"",
        "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\t\"", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{a:1}", "{'a':1}", "[1]x", "// no", "\u{FEFF}1", "[NaN]", "[Infinity]", "{\"a\":1 \"b\":2}",
        String(repeating: "[", count: 17), String(repeating: "[", count: 40_000),
    ]) func whatIsNotJSONIsRefused(_ text: String) {
        #expect(throws: JSONReader.Failure.self) { try JSONReader.parse(Array(text.utf8)) }
        #expect(error(text)?.code == .malformed)
    }

    @Test func rightJSONIsRead() throws {
        let text =
            #" { "a" : [ -0, 12, -7, 1.5, 1E9, 99999999999999999999 ], "é\u00e9\ud83d\ude00\/\n": { } , "c":[true,false,null] } "#
        let value = try JSONReader.parse(Array(text.utf8))
        let numbers: [JSONValue] = [.integer(0), .integer(12), .integer(-7), .otherNumber, .otherNumber, .otherNumber]
        #expect(
            value
                == .object([
                    JSONValue.Member("a", .list(numbers)), JSONValue.Member("éé😀/\n", .object([])),
                    JSONValue.Member("c", .list([.bool(true), .bool(false), .null])),
                ]))
        #expect(throws: JSONReader.Failure.self) { try JSONReader.parse([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONReader.Failure.self) { try JSONReader.parse([UInt8](repeating: 0x20, count: 65_537)) }
        #expect(throws: JSONReader.Failure.self) { try JSONReader.parse(Array(#"{"a":1,"\u0061":2}"#.utf8)) }
    }

    @Test func errorsQuoteNothingThatSteersATerminal() throws {
        let text = steps(#"{"step": "\u001b[2J\u202e\#(String(repeating: "x", count: 500))", "assurance": "none"}"#)
        let words = try #require(error(text)).description
        #expect(words.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && words.utf8.count < 250)
    }

    @Test func everyChangedByteIsAPolicyOrATypedError() throws {
        let text = Array(FallbackPolicy.neverBlocks.jsonText.utf8)
        for offset in text.indices {
            for byte in [0x00, 0x20, 0x22, 0x2C, 0x5C, 0x5D, 0x7D, 0xFF] as [UInt8] {
                guard let policy = try? FallbackPolicy(json: text.with(byte, at: offset)) else { continue }
                #expect(try FallbackPolicy(json: Array(policy.jsonText.utf8)) == policy)
            }
        }
        for count in 0..<(text.count - 1) where (try? FallbackPolicy(json: Array(text.prefix(count)))) != nil {
            Issue.record("\(count) bytes were taken")
        }
    }
}
