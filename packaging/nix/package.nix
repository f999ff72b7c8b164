# The command with its agent, and the identity server. Never built with Nix: `nix-instantiate --parse` reads it, and that is all.
# Swift 6.3 or newer has to be passed as `swift` and `swiftpm`; what nixpkgs has may be older.
#
#   nix-build -E 'with import <nixpkgs> { }; callPackage ./packaging/nix/package.nix { }'
{ lib
, stdenv
, swift
, swiftpm
, pkg-config
, curl
, hiredis
, libargon2
, libjpeg
, libmicrohttpd
, libpng
, libsodium
, linux-pam
, lmdb
, openssl
, postgresql
, qrencode
, sqlite
, systemd
, tpm2-tss
, zbar
, zlib
}:

stdenv.mkDerivation rec {
  pname = "holdfast";
  version = "0.1.0";

  src = lib.cleanSource ../..;

  nativeBuildInputs = [ pkg-config swift swiftpm ];
  buildInputs = [
    curl
    hiredis
    libargon2
    libmicrohttpd
    libsodium
    linux-pam
    lmdb
    openssl
    postgresql
    qrencode
    sqlite
    systemd
    tpm2-tss
    zlib
  ];

  buildPhase = ''
    runHook preBuild
    patchShebangs scripts
    export HOME=$TMPDIR
    for product in holdfast holdfast-server; do
      scripts/with-swift swift build -c release --static-swift-stdlib --disable-sandbox --product $product
    done
    mkdir -p build/stage
    cp .build/release/holdfast .build/release/holdfast-server build/stage
    runHook postBuild
  '';

  # What is in no list of the program's libraries is looked for by name when it is first needed. Nix would take the
  # folders of those away again.
  dontPatchELF = true;
  installPhase = ''
    runHook preInstall
    make install PREFIX=$out
    for program in $out/bin/holdfast $out/bin/holdfast-server; do
      patchelf --add-rpath ${lib.makeLibraryPath [
        curl libargon2 libjpeg libpng libsodium linux-pam lmdb openssl qrencode systemd tpm2-tss zbar
      ]} $program
    done
    runHook postInstall
  '';

  meta = {
    description = "Encrypted vault with an agent, an app lock, and an identity server";
    homepage = "https://holdfast.example";
    license = lib.licenses.asl20;
    platforms = lib.platforms.linux;
    mainProgram = "holdfast";
  };
}
