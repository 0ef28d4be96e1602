package always

import (
	"os"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// shown has the list that a person was shown.
type shown struct{ digest, says string }

func (s shown) Offered(digest string) (string, bool) { return s.says, digest == s.digest }
func (s shown) LastOffered(command string) string {
	if command == "npm ci" {
		return s.digest
	}
	return ""
}

const digest = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// A rule about an install says what it allows, and is written only for a list that was shown.
func TestInstallRule(t *testing.T) {
	r := newRig(t, "")
	r.Lists = shown{digest, "2 packages of package-lock.json, from packages.example.org"}
	r.asked(2, "npm ci", true)
	r.asked(1, "npm ci --omit=dev", false)
	r.asked(1, "npm ci && npm i evil", true)
	r.asked(1, "make x", true)
	rule := Rule{Prefix: []string{"npm", "ci"}, Packages: digest}
	f, err := r.Prove(rule, 0)
	if err != nil {
		t.Fatal(err)
	}
	const want = "It allows `npm ci` with exactly 2 packages of package-lock.json, from packages.example.org, with the scripts that these bring, and so whatever the project's own files have those run. " +
		"Any other list is asked about again. In the last 7 days there were 3 questions about such an install, of whatever packages; you denied 1."
	if f.Words() != want || f.Title() != "Always allow `npm ci` with just these packages in all your workspaces?" {
		t.Errorf("%s\n%s", f.Title(), f.Words())
	}
	list, err := r.Suggest(0)
	if err != nil || len(list) != 1 || list[0].Rule.Packages != digest || list[0].Saves != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	for why, bad := range map[string]Rule{
		"nobody was shown":                    {Prefix: rule.Prefix, Packages: strings.Replace(digest, "A", "B", 1)},
		"no digest":                           {Prefix: rule.Prefix, Packages: "sha256-x"},
		"belong to a command that":            {Prefix: []string{"npm"}, Packages: digest},
		"has the decision allow":              {Prefix: rule.Prefix, Packages: digest, Decision: "deny"},
		"any argument could follow":           {Prefix: rule.Prefix, Packages: digest, Rest: "any"},
		"known are: `npm test`, `npm run NAM": {Prefix: rule.Prefix},
	} {
		if _, err := r.Prove(bad, 0); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
		if _, err := r.Add(bad); err == nil {
			t.Errorf("%s: it was written", why)
		}
	}
	if _, err := r.Add(rule); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(config.UserFile())
	if err != nil || !strings.Contains(string(data), `{"prefix":["npm","ci"],"decision":"allow","rest":"known","packages":"`+digest+`"}`) {
		t.Errorf("%s, %v", data, err)
	}
}
