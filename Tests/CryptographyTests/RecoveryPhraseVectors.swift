// The test vectors of BIP-39 with 32 bytes of entropy: vectors.json of the repository trezor/python-mnemonic (MIT
// licence), to which BIP-39 refers. Made by copying entropy and words of those eight English entries.

import Testing

struct RecoveryPhraseVector: Sendable, CustomTestStringConvertible {
    let entropy: String
    let words: String

    var testDescription: String { entropy }

    static let all = [
        RecoveryPhraseVector(
            entropy: "0000000000000000000000000000000000000000000000000000000000000000",
            words: "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon "
                + "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon "
                + "abandon art"),
        RecoveryPhraseVector(
            entropy: "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
            words: "legal winner thank year wave sausage worth useful legal winner thank year wave sausage "
                + "worth useful legal winner thank year wave sausage worth title"),
        RecoveryPhraseVector(
            entropy: "8080808080808080808080808080808080808080808080808080808080808080",
            words: "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount "
                + "doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless"),
        RecoveryPhraseVector(
            entropy: "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            words: "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo "
                + "zoo vote"),
        RecoveryPhraseVector(
            entropy: "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c",
            words: "hamster diagram private dutch cause delay private meat slide toddler razor book happy "
                + "fancy gospel tennis maple dilemma loan word shrug inflict delay length"),
        RecoveryPhraseVector(
            entropy: "9f6a2878b2520799a44ef18bc7df394e7061a224d2c33cd015b157d746869863",
            words: "panda eyebrow bullet gorilla call smoke muffin taste mesh discover soft ostrich alcohol "
                + "speed nation flash devote level hobby quick inner drive ghost inside"),
        RecoveryPhraseVector(
            entropy: "066dca1a2bb7e8a1db2832148ce9933eea0f3ac9548d793112d9a95c9407efad",
            words: "all hour make first leader extend hole alien behind guard gospel lava path output census "
                + "museum junior mass reopen famous sing advance salt reform"),
        RecoveryPhraseVector(
            entropy: "f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f",
            words: "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing "
                + "screen patrol group space point ten exist slush involve unfold"),
    ]
}
