class SidecarLs < Formula
  desc "Language server that is the tool layer of coding agents"
  homepage "https://github.com/sidecar-ls/sidecar-ls"
  version "{{.Version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{.URL "darwin-arm64"}}"
      sha256 "{{.Sum "darwin-arm64"}}"
    end
    on_intel do
      url "{{.URL "darwin-amd64"}}"
      sha256 "{{.Sum "darwin-amd64"}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.URL "linux-arm64"}}"
      sha256 "{{.Sum "linux-arm64"}}"
    end
    on_intel do
      url "{{.URL "linux-amd64"}}"
      sha256 "{{.Sum "linux-amd64"}}"
    end
  end

  def install
    bin.install "sidecar-ls"
    generate_completions_from_executable(bin/"sidecar-ls", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/sidecar-ls --version")
  end
end
