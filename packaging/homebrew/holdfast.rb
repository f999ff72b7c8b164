# The command with its agent, and the identity server, for Homebrew on Linux. Never built by Homebrew: `ruby -c` reads it. The sum of
# the source comes with the first release.
class Holdfast < Formula
  desc "Encrypted vault with an agent, and an identity server"
  homepage "https://holdfast.example"
  url "https://holdfast.example/archive/refs/tags/v0.1.0.tar.gz"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on "swift" => :build
  depends_on "argon2"
  depends_on "curl"
  depends_on "hiredis"
  depends_on "libmicrohttpd"
  depends_on "libpq"
  depends_on "libsodium"
  # On macOS Holdfast is a Swift package for apps; the command is for Linux.
  depends_on :linux
  depends_on "linux-pam"
  depends_on "lmdb"
  depends_on "openssl@3"
  depends_on "qrencode"
  depends_on "sqlite"
  depends_on "systemd"
  depends_on "tpm2-tss"
  depends_on "zbar" => :recommended
  depends_on "zlib"

  def install
    %w[holdfast holdfast-server].each do |product|
      system "scripts/with-swift", "swift", "build", "--configuration", "release", "--static-swift-stdlib",
             "--disable-sandbox", "--product", product
    end
    (buildpath/"build/stage").install ".build/release/holdfast", ".build/release/holdfast-server"
    system "make", "install", "PREFIX=#{prefix}"
  end

  test do
    (testpath/"passcode").write "correct horse battery staple\n"
    system "sh", "-c", "#{bin}/holdfast init --home vault --passcode-fd 3 --phrase-out-fd 1 3<passcode >words"
    system "sh", "-c", "printf sunflower | #{bin}/holdfast put note --home vault --passcode-fd 3 3<passcode"
    assert_equal "sunflower", shell_output("#{bin}/holdfast get note --home vault --passcode-fd 3 3<passcode")
  end
end
