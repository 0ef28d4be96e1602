package shell

import (
	"regexp"
	"strings"
	"sync"
)

// WithoutRetries tells the package managers that try again, and wait in
// between, that they need not: without a network the first failure is the last.
// npm takes 71 s otherwise, pnpm as long, cargo 11 s and pip 9 s; yarn, go,
// Maven and Gradle end at once anyway.
var WithoutRetries = []string{
	"npm_config_fetch_retries=0", // npm and pnpm
	"PIP_RETRIES=0",
	"CARGO_NET_RETRY=0",
	"UV_HTTP_RETRIES=0",
}

// wantsNetwork is what programs say that could not reach, or not find, another
// machine: the C library, curl, git, Node, Python, Go, Rust, Maven, Gradle.
// Without retries, pip only says that there are no versions at all.
const wantsNetwork = `(?i)could not resolve host|temporary failure in name resolution|name or service not known|network is unreachable|unknown ?host` +
	`|getaddrinfo|\bENOTFOUND\b|\bEAI_AGAIN\b|failed to lookup address|nameresolutionerror|dial tcp|could not transfer (artifact|metadata)|could not (get|head|resolve) '?https?://` +
	`|cannot access \S+ \(https?://|no cached version|offline mode|\(from versions: none\)|dns error`

// ecosystems say, by what a program of theirs prints, where what it wants to
// download has to be for it to do without a network. The first one counts.
var ecosystems = []struct{ says, advice string }{
	{`(?i)npm err|npm warn|registry\.npmjs\.org|registry\.yarnpkg\.com|ERR_PNPM`, "node_modules has to be there: let the user run npm install (pnpm install, yarn) in the project outside of the sandbox; what it installs is seen here"},
	{`(?i)\(from versions: none\)|pypi\.org|No matching distribution found`, "the packages have to be installed: let the user run pip install (or uv sync) into an environment in the workspace, such as .venv, outside of the sandbox, and use its python here; wheels that lie in the workspace install with pip install --no-index --find-links DIR"},
	{`crates\.io|static\.rust-lang\.org|(?i)failed to (download|fetch) .*registry`, "the crates have to be there: let the user run cargo fetch, or cargo vendor into the workspace, outside of the sandbox, then use cargo --offline"},
	{`proxy\.golang\.org|sum\.golang\.org|go: downloading|go: [^\n]*dial tcp`, "the modules have to be there: let the user run go mod download, or go mod vendor, in the project outside of the sandbox"},
	{`(?i)gradle|> Could not (resolve|get resource)|No cached version`, "the dependencies have to be in Gradle's cache: let the user run gradle once outside of the sandbox, then use gradle --offline"},
	{`(?i)could not transfer (artifact|metadata)|cannot access \S+ \(https?://|maven`, "the artifacts have to be in ~/.m2/repository: let the user run mvn once outside of the sandbox, then use mvn -o"},
}

var (
	wants = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(wantsNetwork) })
	says  = sync.OnceValue(func() (list []*regexp.Regexp) {
		for _, e := range ecosystems {
			list = append(list, regexp.MustCompile(e.says))
		}
		return list
	})
)

// NotReached is what the words of a command say about a host that it did not reach.
const NotReached = "was not reached: "

// WantsNetwork reports whether what a program wrote says that it could not reach
// another machine.
func WantsNetwork(said string) bool { return wants().MatchString(said) }

// offline is the hint for a command that failed and seems to have wanted the
// network, which it did not have.
func (o outcome) offline(said ...string) string {
	text := strings.Join(said, "\n")
	refused := strings.Contains(o.words, NotReached)
	if o.code == 0 || !refused && (!strings.Contains(o.words, "no network") || !WantsNetwork(text)) {
		return ""
	}
	advice := "what this one wanted has to be in the workspace before"
	for i, re := range says() {
		if re.MatchString(text) {
			advice = ecosystems[i].advice
			break
		}
	}
	if refused {
		return "Trying again does not help: " + advice + ". Or ask the user to allow the host, or to list it in sidecar.sandbox.network."
	}
	return "Commands have no network here, and trying again does not help: " + advice + ". Or ask the user for the setting sidecar.sandbox.network."
}
