package shell

import (
	"strings"
	"testing"
)

// TestOffline: who wanted the network and had none is told how to go on, and
// nobody else.
func TestOffline(t *testing.T) {
	const without, with = "sandbox: bubblewrap, Landlock, seccomp; no network", "sandbox: bubblewrap, Landlock, seccomp; network allowed"
	for _, c := range []struct {
		name, said, words string
		code              int
		hint              bool
	}{
		{"maven", "[ERROR] Non-resolvable parent POM for a:b:1: Could not transfer artifact org.x:y:pom:1 from/to central (https://repo.maven.apache.org/maven2): repo.maven.apache.org: Temporary failure in name resolution", without, 1, true},
		{"maven, offline", "Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and the artifact a:b:1 has not been downloaded from it before.", without, 1, true},
		{"gradle", "> Could not resolve org.junit:junit:4.\n   > Could not get resource 'https://repo.maven.apache.org/x'.\n      > repo.maven.apache.org: Name or service not known", without, 1, true},
		{"gradle, offline", "> No cached version of org.junit:junit:4 available for offline mode.", without, 1, true},
		{"npm", "npm error code EAI_AGAIN", without, 1, true},
		{"cargo", "failed to lookup address information: Temporary failure in name resolution", without, 101, true},
		{"go", "dial tcp: lookup proxy.golang.org: no such host", without, 1, true},
		{"curl", "curl: (6) Could not resolve host: example.com", without, 6, true},
		{"it worked all the same", "curl: (6) Could not resolve host: example.com", without, 0, false},
		{"there was a network", "curl: (6) Could not resolve host: example.com", with, 6, false},
		{"a failure of its own", "FAILED tests/test_a.py::test_one - assert 1 == 2", without, 1, false},
	} {
		got := report("", c.said, outcome{code: c.code, words: c.words})
		if strings.Contains(got, "sidecar.sandbox.network") != c.hint {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
