class AaiGateway < Formula
  desc "Lets any AI agent use the apps of this computer, and asks you first"
  homepage "https://example.org/aai-gateway"
  version "1.2.3"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://example.org/aai-gateway/releases/download/v1.2.3/aai-gateway_1.2.3_darwin_arm64.tar.gz"
      sha256 "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
    end
    on_intel do
      url "https://example.org/aai-gateway/releases/download/v1.2.3/aai-gateway_1.2.3_darwin_amd64.tar.gz"
      sha256 "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
    end
  end

  on_linux do
    on_arm do
      url "https://example.org/aai-gateway/releases/download/v1.2.3/aai-gateway_1.2.3_linux_arm64.tar.gz"
      sha256 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    end
    on_intel do
      url "https://example.org/aai-gateway/releases/download/v1.2.3/aai-gateway_1.2.3_linux_amd64.tar.gz"
      sha256 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    end
  end

  def install
    bin.install "aai-gateway"
    man1.install Dir["man/*.1.gz"]
    bash_completion.install "completions/aai-gateway.bash" => "aai-gateway"
    zsh_completion.install "completions/_aai-gateway"
    fish_completion.install "completions/aai-gateway.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/aai-gateway --version")
  end
end
