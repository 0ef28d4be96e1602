package shell

import "strings"

// harmful names the variables by which programs are told what to run, which
// library to load or where to write. A prefix ends with *.
var harmful = []string{
	"PATH", "IFS", "ENV", "BASH_*", "SHELL", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "FPATH", "HISTFILE",
	"LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", "NLSPATH", "MALLOC_*", "TMPDIR", "HOME", "XDG_*", "HOSTALIASES", "RES_OPTIONS",
	"GIT_*", "SSH_*", "GPG_*", "GNUPGHOME",
	"PAGER", "*_PAGER", "MANPAGER", "LESS*", "MANOPT", "EDITOR", "VISUAL", "*_EDITOR", "BROWSER", "*_ASKPASS",
	"PYTHON*", "RUBY*", "GEM_*", "BUNDLE_*", "PERL*", "NODE_*", "NPM_*", "npm_*", "YARN_*", "LUA_*", "PHP*", "JAVA_*", "_JAVA_*", "JDK_*", "MAVEN_*", "GRADLE_*", "CLASSPATH", "R_*", "ELIXIR_*", "ERL_*",
	"CC", "CXX", "CPP", "LD", "AR", "AS", "CFLAGS", "CXXFLAGS", "LDFLAGS", "MAKE*", "MFLAGS", "CMAKE_*", "RUSTC*", "RUSTFLAGS", "CARGO_*", "GOFLAGS", "GOROOT", "GOTOOLDIR", "GOENV", "GOPROXY", "GOTOOLCHAIN", "CGO_*",
	"RIPGREP_CONFIG_PATH", "FZF_*", "FD_*", "BAT_*", "DOCKER_*", "KUBECONFIG", "AWS_*", "TERMINFO*", "TERMCAP", "TAR_OPTIONS", "POSIXLY_CORRECT", "AWKPATH", "AWKLIBPATH",
	"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "CURL_*", "WGETRC",
}

// Harmful reports whether setting a variable can change what programs run.
func Harmful(name string) bool {
	for _, h := range harmful {
		if before, ok := strings.CutSuffix(h, "*"); ok && strings.HasPrefix(name, before) {
			return true
		}
		if after, ok := strings.CutPrefix(h, "*"); ok && strings.HasSuffix(name, after) {
			return true
		}
		if h == name {
			return true
		}
	}
	return false
}
