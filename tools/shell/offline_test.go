package shell

import (
	"os"
	"path/filepath"
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
		advice            string // "": no hint at all
	}{
		{"maven", "[ERROR] Non-resolvable parent POM for a:b:1: Could not transfer artifact org.x:y:pom:1 from/to central (https://repo.maven.apache.org/maven2): repo.maven.apache.org: Temporary failure in name resolution", without, 1, "mvn -o"},
		{"maven, offline", "Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and the artifact a:b:1 has not been downloaded from it before.", without, 1, "mvn -o"},
		{"gradle", "> Could not resolve org.junit:junit:4.\n   > Could not get resource 'https://repo.maven.apache.org/x'.\n      > repo.maven.apache.org: Name or service not known", without, 1, "gradle --offline"},
		{"gradle, offline", "> No cached version of org.junit:junit:4 available for offline mode.", without, 1, "gradle --offline"},
		{"npm", "npm error code EAI_AGAIN", without, 1, "npm install"},
		{"cargo", "failed to lookup address information: Temporary failure in name resolution", without, 101, "in the workspace before"},
		{"go", "dial tcp: lookup proxy.golang.org: no such host", without, 1, "go mod download"},
		{"pip", "ERROR: Could not find a version that satisfies the requirement requests (from versions: none)\nERROR: No matching distribution found for requests", without, 1, ".venv"},
		{"pnpm", "ERR_PNPM_META_FETCH_FAIL  GET https://registry.npmjs.org/left-pad: request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org", without, 1, "npm install"},
		{"yarn", "error Error: getaddrinfo EAI_AGAIN registry.yarnpkg.com", without, 1, "npm install"},
		{"cargo, the index", "  failed to download from `https://index.crates.io/config.json`\n\nCaused by:\n  [6] Could not resolve hostname (Could not resolve host: index.crates.io)", without, 101, "cargo fetch"},
		{"curl", "curl: (6) Could not resolve host: example.com", without, 6, "in the workspace before"},
		{"it worked all the same", "curl: (6) Could not resolve host: example.com", without, 0, ""},
		{"there was a network", "curl: (6) Could not resolve host: example.com", with, 6, ""},
		{"a module of Python's", "ModuleNotFoundError: No module named 'numpy'", without, 1, ""},
		{"node", "Error: getaddrinfo ENOTFOUND example.com", without, 1, "in the workspace before"},
		{"a failure of its own", "FAILED tests/test_a.py::test_one - assert 1 == 2", without, 1, ""},
	} {
		got := report("", c.said, outcome{code: c.code, words: c.words})
		if strings.Contains(got, "sidecar.sandbox.network") != (c.advice != "") || !strings.Contains(got, c.advice) {
			t.Errorf("%s, wanted %q: %s", c.name, c.advice, got)
		}
		if others := strings.Contains(got, "mvn"); others && c.advice != "mvn -o" {
			t.Errorf("%s is told about Maven: %s", c.name, got)
		}
	}
}

// A command without a network is told not to try again; one with a network, or
// one that says otherwise, is not.
func TestNoRetries(t *testing.T) {
	for _, c := range []struct {
		name    string
		offline bool
		env     map[string]string
		want    string
	}{
		{"without a network", true, nil, "npm 0 pip 0 cargo 0\n"},
		{"with one", false, nil, "npm  pip  cargo \n"},
		{"told otherwise", true, map[string]string{"PIP_RETRIES": "2"}, "npm 0 pip 2 cargo 0\n"},
	} {
		r := newRig(t)
		r.host.offline = c.offline
		in := map[string]any{"command": `echo "npm $npm_config_fetch_retries pip $PIP_RETRIES cargo $CARGO_NET_RETRY"`, "env": c.env}
		if out, _, _ := r.call("run_command", in, nil); !strings.HasPrefix(out, c.want) {
			t.Errorf("%s: %s", c.name, out)
		}
		// They are of one command: a session that gets a network tries again.
		r = newRig(t)
		r.host.offline = c.offline
		r.run("true")
		home, err := r.host.Home(r.root)
		if err != nil {
			t.Fatal(err)
		}
		if state, err := os.ReadFile(filepath.Join(home, StateDir, "s1", "state")); err != nil || strings.Contains(string(state), "RETR") {
			t.Errorf("%s: %v, %s", c.name, err, state)
		}
	}
}
