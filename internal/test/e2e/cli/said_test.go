package cli_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/tooltest"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// TestCapabilitiesPage: docs/protocol.md names the capabilities that the server
// reads, all of them and no other.
func TestCapabilitiesPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile("`capabilities.experimental.sidecar = {([^}]*)}`").FindSubmatch(page)
	if list == nil {
		t.Fatal("docs/protocol.md has no list of capabilities.experimental.sidecar")
	}
	var said, read []string
	for _, m := range regexp.MustCompile(`(\w+)\?: true`).FindAllSubmatch(list[1], -1) {
		said = append(said, string(m[1]))
	}
	for f := range reflect.TypeFor[lsp.SidecarCapabilities]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		read = append(read, name)
	}
	slices.Sort(said)
	slices.Sort(read)
	if !slices.Equal(said, read) {
		t.Errorf("the page has %q, the server reads %q", said, read)
	}
}

// checked are the lines of doctor in docs/install.md whose text is the same on every
// machine, or on those that have what the line is about.
var checked = regexp.MustCompile(`(?m)^ok +(tools|sandbox) .*$`)

// unconfined is how many attempts to escape work without the sandbox, which depends on
// the machine, and at times on how fast it is just then.
var unconfined = regexp.MustCompile(`\d+ of them work here`)

// TestGeneratedReadme: what docs/install.md shows of doctor is what doctor says.
func TestGeneratedReadme(t *testing.T) {
	const name = "../../../../docs/install.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	e2e.Home(t)
	out, stderr, _ := e2e.RunCLI(t, "", "doctor", "--root", e2e.Project(t, map[string]string{"a.txt": "one\n"}))
	says := map[string]string{}
	for _, m := range checked.FindAllStringSubmatch(out, -1) {
		says[m[1]] = m[0]
	}
	if says["tools"] == "" {
		t.Fatalf("doctor says nothing of tools:\n%s%s", out, stderr)
	}
	shown := 0
	want := checked.ReplaceAllStringFunc(string(page), func(line string) string {
		shown++
		check := checked.FindStringSubmatch(line)[1]
		if now := says[check]; now != "" && (check != "sandbox" || whole.MatchString(now)) {
			if !tooltest.Update() {
				now = unconfined.ReplaceAllString(now, unconfined.FindString(line))
			}
			return now
		}
		return line // this machine can't say
	})
	if shown != 2 {
		t.Fatalf("the page shows %d lines of %v, want 2", shown, checked)
	}
	if tooltest.Update() {
		if err := ownfile.Update(name, []byte(want)); err != nil {
			t.Fatal(err)
		}
		page = []byte(want)
	}
	if want != string(page) {
		t.Errorf("%s is stale; run make generate. doctor says\n%s", name, out)
	}

	tools := regexp.MustCompile(`(\d+) tools;`).FindStringSubmatch(says["tools"])[1]
	if page, err := os.ReadFile("../../../../docs/call.md"); err != nil || !strings.Contains(string(page), "Available today: "+tools+" [tools]") {
		t.Errorf("there are %s tools, docs/call.md says another number (%v)", tools, err)
	}
	// The page about the sandbox says how many ways out are tried, too.
	ways := regexp.MustCompile(`of (\d+) escape tests`).FindStringSubmatch(want)[1]
	if page, err := os.ReadFile("../../../../docs/sandbox.md"); err != nil || !strings.Contains(string(page), "all "+ways+" attempts to escape") {
		t.Errorf("docs/sandbox.md says another number of ways to escape than doctor, which tries %s (%v)", ways, err)
	}
}

// whole is the line of a machine on which all of the sandbox works.
var whole = regexp.MustCompile(`bubblewrap, Landlock, seccomp: \d+ of \d+ escape tests blocked`)
