import Testing

@Suite struct GenerateTests {
    private func generate(_ words: String...) throws -> Sandbox.Result {
        try Sandbox().run(raw: (["generate"] + words).map { Array($0.utf8) })
    }

    @Test func `a password is all there is on standard output`() throws {
        let result = try generate()
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(result.output.count == 20 && result.output.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(try generate().output != result.output)
    }

    @Test func `length and kinds are those that were asked for`() throws {
        let digits = try generate("--length", "6", "--kinds", "digits")
        #expect(digits.text.wholeMatch(of: /[0-9]{6}/) != nil)
        let both = try generate("--length=40", "--kinds=lower,upper", "--readable")
        #expect(both.text.wholeMatch(of: /[A-Za-z]{40}/) != nil && !both.text.contains { "OoIl".contains($0) })
    }

    @Test func `words are joined as it was asked for`() throws {
        #expect(try generate("--words", "4").text.wholeMatch(of: /[a-z]{3,8}(-[a-z]{3,8}){3}/) != nil)
        let decorated = try generate("--words=3", "--separator=. ", "--capitals", "--digit").text
        #expect(decorated.wholeMatch(of: /[A-Z][a-z]{2,7}[0-9]?(\. [A-Z][a-z]{2,7}[0-9]?){2}/) != nil)
        #expect(decorated.filter(\.isNumber).count == 1)
    }

    @Test(arguments: [
        ["--length", "3"], ["--length", "257"], ["--words", "2"], ["--words", "25"], ["--kinds", "letters"],
        ["--kinds", "lower,"], ["--separator", "."], ["--capitals"], ["--digit"], ["--words", "4", "--length", "9"],
        ["--words", "4", "--kinds", "lower"], ["--words", "4", "--readable"],
        ["--words", "4", "--separator", "123456789"],
    ])
    func `what cannot be made is refused before anything is written`(_ words: [String]) throws {
        let result = try Sandbox().run(raw: (["generate"] + words).map { Array($0.utf8) })
        #expect(result.code == 2 && result.output.isEmpty && !result.errors.isEmpty)
    }
}
