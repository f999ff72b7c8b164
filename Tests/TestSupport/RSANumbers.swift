/// A key of 2,048 bits that ssh-keygen made for a public report. None is made here: that takes a second.
package enum RSANumbers {
    package static let modulus = hexBytes(
        [
            "c09076205343b803719e48f0fea09a589d251839f947aeba1e007ded6d9a311a4cf9cadaa3a391699b5d04dbeffbd1ae",
            "08ecc109676f789c9f5b77fae78cbd454720cfa6f4d24902e633add4f01a7ab2a97e093eaf0b8052474f3c1aabe6a449",
            "94bbf7703df807024960b3fbbb1a9879c2dc8f83709943b028083c6001f3f38d1cbdc7040cdeb8f4d8859fc4aeaf6352",
            "628a9314003f6e0de9adcfdb7d4ce0f81ade31c717c10004cffef657782e8167cf72713068acf540db6e5d218a6a92fe",
            "86462fc40d4b0d37126db5bd7427df8642897e69360b253f9cb0941a2a35114bb1e9d350827b99e5c95db0dec0e709e2",
            "6fb8d110a522dd4fac3c71fefedb637b",
        ].joined())
    package static let privateExponent = hexBytes(
        [
            "0cdb72047bb78dff94dde47e179f0b8f30507bf16b001e11160755fabcf8e406055552c2a7a2053ae94e1c10bf517c6a",
            "c3c16312fbde6f4dc77082a1b4abc461d461c30ed4857ead491459118dac20898b53fb9a7072cc5798714bb7102e08c5",
            "b9bec8c2df96c222a52665fe0d091c298d1902f00f28c962677376ec8621a8523d730d62b084183eefa34267d42ae838",
            "08274c01f3ef036a70c9ba3aae66ddd728b0a63f50b601e618ffc167e8bc9c3ce40867e9117761446c751a19c1014b5c",
            "b77d95723ed2559bf2f9ea27f4152e68fb920887a83bd786deb2dc91ba1ad88d4621464c5fa8cc432878cd02ab57e97d",
            "dd5f88adbb0f63eb979eea3c925b7461",
        ].joined())
    package static let inverse = hexBytes(
        [
            "2928ed163199a7ab6b9162f012847c1dda984b9bc4e5256fc10b730dd364631021c3717107f9788669f951afdb2a252c",
            "5fe944153f87d811974ed49647dce3cdacf1c40b10906314652e425b4da1f6b8297397d61ef441c9e064367ea46c05ec",
            "1fdc4fe3e81a7ecc92edda6a423c2014029640277e407ea0470a2b02ca154513",
        ].joined())
    package static let first = hexBytes(
        [
            "e31c720a133c48f21c06c6935ae6e9839d2562ca7980eb86dc71c1fa11f8fdcac1e63e2807bf316fa404b2d1509b914a",
            "fd329ddc827bb67e235af5ce645ea0cdca7963ab1cce5c5aa82354d963e0198d9cbf78bacaf72cf33cd7f63ff4881ea6",
            "1630a76583be7cb7113673b2bb36091b26373035a50631cdcd7766cff152ab51",
        ].joined())
    package static let second = hexBytes(
        [
            "d90f0c2a92f030e82bb908964e589527e5a5887bfbb7dde830da7b1e30e2ba3022e927662a14adfd745de8233d75831a",
            "502db15533073557618da7b8e750f87318d3965db3571e3903f9c9b3b0c86dd1f7579b5106782d5ac3c936e8febb083d",
            "4aa6edb0d253103280a5c105f3677f40bc9e3bcae7619c9a03211702165dd70b",
        ].joined())
    /// The private exponent modulo each prime less one, which is computed.
    package static let computed = [
        hexBytes(
            [
                "48adf8bccaad17370bcb0b4f6adeccca06c749173ccd0a12ad8766294e091dc6fe485d89d7f8d2ac44941059b5ef230f",
                "197a52549819592c82ca0031dda2fed8fcbbde2e8b586aebc435125943821b0b5ba756ce885793b5ffb9a91f8c74e742",
                "0585ea7c2d2e0fa1524bd7b8d1fa97ed6d4c6a0c30d48ba9ade05131a8abe911",
            ].joined()),
        hexBytes(
            [
                "72bf67b92210e469f8a34b0cdac22da7f7d978bbc2a8c3213aa265afe23c1a1dd476d9a342dfc7d353af494747f855a4",
                "957a72630e24e3681c645ca47d74eac33dfead613fabf08847b7c78fbd07583745c10494e30ca93d707f710ddf8c54a0",
                "c2545917bf38b6395c9543e3b777a16841ce8ce1894cab13285057ef7c8f835d",
            ].joined()),
    ]
}
