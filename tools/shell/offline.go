package shell

import (
	"regexp"
	"strings"
)

// wantsNetwork is what programs say that could not reach, or not find, another
// machine: the C library, curl, git, Node, Python, Go, Rust, Maven, Gradle.
const wantsNetwork = `(?i)could not resolve host|temporary failure in name resolution|name or service not known|network is unreachable|unknown ?host` +
	`|getaddrinfo|ENOTFOUND|EAI_AGAIN|failed to lookup address|nameresolutionerror|dial tcp|could not transfer (artifact|metadata)|could not (get|head|resolve) '?https?://` +
	`|cannot access \S+ \(https?://|no cached version|offline mode`

// offline is the hint for a command that failed and seems to have wanted the
// network, which it did not have.
func (o outcome) offline(said ...string) string {
	if o.code == 0 || !strings.Contains(o.words, "no network") {
		return ""
	}
	re := regexp.MustCompile(wantsNetwork)
	for _, text := range said {
		if re.MatchString(text) {
			return "Commands have no network here. What this one wanted to download has to be there before: run it once outside of the sandbox (then mvn -o finds it in ~/.m2/repository), put it into the workspace, or ask the user for the setting sidecar.sandbox.network."
		}
	}
	return ""
}
