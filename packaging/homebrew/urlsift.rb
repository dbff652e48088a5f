# For a tap: installs the archives of the release.
class Urlsift < Formula
  desc "Bulk URL scanner: judges every line under five URL grammars at once"
  homepage "REPOSITORY"
  version "VERSION"
  license all_of: ["MPL-2.0", { any_of: ["MIT", "Apache-2.0"] }]

  on_macos do
    on_arm do
      url "REPOSITORY/releases/download/v#{version}/urlsift-#{version}-aarch64-apple-darwin.tar.gz"
      sha256 "SHA256-aarch64-apple-darwin"
    end
    on_intel do
      url "REPOSITORY/releases/download/v#{version}/urlsift-#{version}-x86_64-apple-darwin.tar.gz"
      sha256 "SHA256-x86_64-apple-darwin"
    end
  end

  on_linux do
    on_arm do
      url "REPOSITORY/releases/download/v#{version}/urlsift-#{version}-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "SHA256-aarch64-unknown-linux-gnu"
    end
    on_intel do
      url "REPOSITORY/releases/download/v#{version}/urlsift-#{version}-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "SHA256-x86_64-unknown-linux-gnu"
    end
  end

  def install
    bin.install "urlsift"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/urlsift.bash" => "urlsift"
    zsh_completion.install "completions/_urlsift"
    fish_completion.install "completions/urlsift.fish"
  end

  test do
    assert_match "rfc3986    accepts", shell_output("#{bin}/urlsift explain http://example.org/")
  end
end
