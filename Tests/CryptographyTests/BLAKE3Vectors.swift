// A subset of the official BLAKE3 test vectors: test_vectors/test_vectors.json of the repository BLAKE3-team/BLAKE3,
// licensed CC0-1.0 or Apache-2.0. The input of length n is the bytes 0, 1, ... 250, 0, 1, ... Made by copying the first
// 32 bytes of the output at twelve lengths, and all 131 bytes at two of them.

import Testing

/// What the three modes make of one input.
struct BLAKE3Vector: Sendable, CustomTestStringConvertible {
    let length: Int
    let hash: String
    let keyed: String
    let derived: String

    var testDescription: String { "\(length) bytes" }

    init(_ length: Int, hash: String, keyed: String, derived: String) {
        self.length = length
        self.hash = hash
        self.keyed = keyed
        self.derived = derived
    }

    static let key = "whats the Elvish word for friend"
    static let context = "BLAKE3 2019-12-27 16:29:52 test vectors context"

    /// The first 32 bytes of the output.
    static let digests = [
        BLAKE3Vector(
            0,
            hash: "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
            keyed: "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26",
            derived: "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d"),
        BLAKE3Vector(
            1,
            hash: "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
            keyed: "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b",
            derived: "b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c"),
        BLAKE3Vector(
            1_023,
            hash: "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11",
            keyed: "c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e",
            derived: "74a16c1c3d44368a86e1ca6df64be6a2f64cce8f09220787450722d85725dea5"),
        BLAKE3Vector(
            1_024,
            hash: "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
            keyed: "75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4",
            derived: "7356cd7720d5b66b6d0697eb3177d9f8d73a4a5c5e968896eb6a689684302706"),
        BLAKE3Vector(
            1_025,
            hash: "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
            keyed: "357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69",
            derived: "effaa245f065fbf82ac186839a249707c3bddf6d3fdda22d1b95a3c970379bcb"),
        BLAKE3Vector(
            2_048,
            hash: "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a",
            keyed: "879cf1fa2ea0e79126cb1063617a05b6ad9d0b696d0d757cf053439f60a99dd1",
            derived: "7b2945cb4fef70885cc5d78a87bf6f6207dd901ff239201351ffac04e1088a23"),
        BLAKE3Vector(
            2_049,
            hash: "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030",
            keyed: "9f29700902f7c86e514ddc4df1e3049f258b2472b6dd5267f61bf13983b78dd5",
            derived: "2ea477c5515cc3dd606512ee72bb3e0e758cfae7232826f35fb98ca1bcbdf273"),
        BLAKE3Vector(
            3_072,
            hash: "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2",
            keyed: "044a0e7b172a312dc02a4c9a818c036ffa2776368d7f528268d2e6b5df191770",
            derived: "050df97f8c2ead654d9bb3ab8c9178edcd902a32f8495949feadcc1e0480c46b"),
        BLAKE3Vector(
            3_073,
            hash: "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3",
            keyed: "68dede9bef00ba89e43f31a6825f4cf433389fedae75c04ee9f0cf16a427c95a",
            derived: "72613c9ec9ff7e40f8f5c173784c532ad852e827dba2bf85b2ab4b76f7079081"),
        BLAKE3Vector(
            8_192,
            hash: "aae792484c8efe4f19e2ca7d371d8c467ffb10748d8a5a1ae579948f718a2a63",
            keyed: "dc9637c8845a770b4cbf76b8daec0eebf7dc2eac11498517f08d44c8fc00d58a",
            derived: "ad01d7ae4ad059b0d33baa3c01319dcf8088094d0359e5fd45d6aeaa8b2d0c3d"),
        BLAKE3Vector(
            8_193,
            hash: "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b",
            keyed: "954a2a75420c8d6547e3ba5b98d963e6fa6491addc8c023189cc519821b4a1f5",
            derived: "af1e0346e389b17c23200270a64aa4e1ead98c61695d917de7d5b00491c9b0f1"),
        BLAKE3Vector(
            31_744,
            hash: "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47",
            keyed: "efa53b389ab67c593dba624d898d0f7353ab99e4ac9d42302ee64cbf9939a419",
            derived: "39772aef80e0ebe60596361e45b061e8f417429d529171b6764468c22928e28e"),
    ]

    /// 131 bytes of the output.
    static let outputs = [
        BLAKE3Vector(
            1,
            hash: "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213c3a6cb8bf623e20cdb535f8d"
                + "1a5ffb86342d9c0b64aca3bce1d31f60adfa137b358ad4d79f97b47c3d5e79f179df87a3b9776ef8325f8329"
                + "886ba42f07fb138bb502f4081cbcec3195c5871e6c23e2cc97d3c69a613eba131e5f1351f3f1da786545e5",
            keyed: "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b6568c0490609413006fbd428"
                + "eb3fd14e7756d90f73a4725fad147f7bf70fd61c4e0cf7074885e92b0e3f125978b4154986d4fb202a3f331a"
                + "3fb6cf349a3a70e49990f98fe4289761c8602c4e6ab1138d31d3b62218078b2f3ba9a88e1d08d0dd4cea11",
            derived: "b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c5827b91bf889b6b97c5477f5"
                + "35361caefca0b5d8c4746441c57617111933158950670f9aa8a05d791daae10ac683cbef8faf897c84e6114a"
                + "59d2173c3f417023a35d6983f2c7dfa57e7fc559ad751dbfb9ffab39c2ef8c4aafebc9ae973a64f0c76551"),
        BLAKE3Vector(
            3_073,
            hash: "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd39a27ae3b79d68d89da9bf25b"
                + "c27139ae65a324918a5f9b7828181e52cf373c84f35b639b7fccbb985b6f2fa56aea0c18f531203497b8bbd3"
                + "a07ceb5926f1cab74d14bd66486d9a91eba99059a98bd1cd25876b2af5a76c3e9eed554ed72ea952b603bf",
            keyed: "68dede9bef00ba89e43f31a6825f4cf433389fedae75c04ee9f0cf16a427c95a96d6da3fe985054d3478865b"
                + "e9a092250839a697bbda74e279e8a9e69f0025e4cfddd6cfb434b1cd9543aaf97c635d1b451a4386041e4bb1"
                + "00f5e45407cbbc24fa53ea2de3536ccb329e4eb9466ec37093a42cf62b82903c696a93a50b702c80f3c3c5",
            derived: "72613c9ec9ff7e40f8f5c173784c532ad852e827dba2bf85b2ab4b76f7079081576288e552647a9d86481c2c"
                + "ae75c2dd4e7c5195fb9ada1ef50e9c5098c249d743929191441301c69e1f48505a4305ec1778450ee48b8e69"
                + "dc23a25960fe33070ea549119599760a8a2d28aeca06b8c5e9ba58bc19e11fe57b6ee98aa44b2a8e6b14a5"),
    ]
}
