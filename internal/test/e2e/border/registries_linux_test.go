package border_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/registry"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// npmRegistry is a registry with the package leftish.
func npmRegistry(t *testing.T) *registry.Server {
	t.Helper()
	s, err := registry.NewNPM()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// zipped is a zip file.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, files[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRegistries: npm, pip, go and git install from registries by name, with one question for
// each; what was installed works, and the log has the hosts.
func TestRegistries(t *testing.T) {
	slow.Test(t)
	e2e.Home(t) // before that of git, which has nothing compiled
	s := npmRegistry(t)
	wheel := zipped(t, "pyish.py", "says = 'pyish works'\n",
		"pyish-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pyish\nVersion: 1.0\n", "pyish-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"pyish-1.0.dist-info/RECORD", "pyish.py,,\npyish-1.0.dist-info/METADATA,,\npyish-1.0.dist-info/WHEEL,,\npyish-1.0.dist-info/RECORD,,\n")
	const wheelName = "pyish-1.0-py3-none-any.whl"
	sum := sha256.Sum256(wheel)
	s.Add("pypi/simple/pyish", fmt.Appendf(nil, `<!DOCTYPE html><a href="http://pypi.example.org/f/%s#sha256=%s">%s</a>`, wheelName, hex.EncodeToString(sum[:]), wheelName))
	s.Add("pypi/f/"+wheelName, wheel)
	const mods = "http://mods.example.org"
	const mod = "module code.example.org/goish\n\ngo 1.20\n"
	s.Add("mods/code.example.org/goish/@v/list", []byte("v1.0.0\n"))
	s.Add("mods/code.example.org/goish/@v/v1.0.0.info", []byte(`{"Version": "v1.0.0"}`))
	s.Add("mods/code.example.org/goish/@v/v1.0.0.mod", []byte(mod))
	s.Add("mods/code.example.org/goish/@v/v1.0.0.zip", zipped(t, "code.example.org/goish@v1.0.0/go.mod", mod, "code.example.org/goish@v1.0.0/a.go", "package goish\n\nconst Says = \"goish works\"\n"))
	bare(t, s)

	dir, begin := reaching(t, s.Network("packages", "pypi", "mods", "git"), map[string]string{
		"package.json": registry.User["package.json"],
		"go.mod":       "module x\n\ngo 1.20\n\nrequire code.example.org/goish v1.0.0\n", "main.go": "package main\n\nimport (\n\t\"fmt\"\n\n\t\"code.example.org/goish\"\n)\n\nfunc main() { fmt.Println(goish.Says) }\n",
	})
	_ = dir
	for _, c := range []struct{ name, program, host, line, says string }{
		{"npm", "npm", registry.Host, registry.Install + " && node -e \"console.log(require('leftish'))\"", registry.Says},
		{"pip", "pip3", "pypi.example.org", "pip3 install --quiet --disable-pip-version-check --index-url http://pypi.example.org/simple --trusted-host pypi.example.org --target lib pyish && PYTHONPATH=lib python3 -c 'import pyish; print(pyish.says)'", "pyish works"},
		{"go", "go", "mods.example.org", "export GOPROXY=" + mods + " GONOSUMDB=* GOFLAGS=-mod=mod; go mod download && go run .", "goish works"},
		{"git", "git", "git.example.org", "git clone -q http://git.example.org/repo.git cloned && cat cloned/a.txt", "git works"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil { // in the tests' own PATH, which is the user's
				needs.Skip(t, needs.Programs, c.program)
			}
			r := begin(t)
			before := len(r.Asked())
			r.Choose("Allow for session", "Allow for session")
			res := r.Tool("run_command", e2e.Object{"command": c.line})
			asked := r.Asked()[before:]
			if !res.OK || !strings.Contains(res.Content, c.says) {
				t.Errorf("%s", res.Content)
			}
			if len(asked) != 1 || !strings.Contains(asked[0], "wants "+c.host+" for `") {
				t.Errorf("%d questions: %s", len(asked), strings.Join(asked, "\n"))
			}
			reached := func() bool {
				for _, e := range e2e.Command[struct{ Effects []effects.Effect }](r, "sidecar.effects.list", e2e.Object{}).Effects {
					if e.Kind == effects.Network && strings.Contains(e.What, " reached "+c.host+": ") {
						return true
					}
				}
				return false
			}
			e2e.Until(t, "the log does not have the host", reached)
		})
	}
}

// reaching is a project whose commands reach these hosts, and a function that serves it to a
// person in the mode review.
func reaching(t *testing.T, network any, files map[string]string) (dir string, begin func(t *testing.T) *e2e.Rig) {
	t.Helper()
	dir = e2e.WorldProject(t, "auto", files, e2e.Object{"sandbox.network": network})
	return dir, func(t *testing.T) *e2e.Rig {
		t.Helper()
		r := e2e.WorldInAsking(t, dir)
		r.Mode("review")
		return r
	}
}

// bare adds a repository that git clones over plain HTTP.
func bare(t *testing.T, s *registry.Server) {
	t.Helper()
	repo := gittest.New(t)
	repo.Commit("one", "a.txt", "git works\n")
	e2e.GitIn(t, repo.Dir, "repack", "-a", "-d", "-q")
	e2e.GitIn(t, repo.Dir, "update-server-info")
	at := filepath.Join(repo.Dir, ".git")
	err := filepath.WalkDir(at, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(at, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		s.Add("git/repo.git/"+filepath.ToSlash(rel), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestInstallDemo: an agent of ours installs a package, which is one question about the network
// and one entry of output, and tests with it; a person accepts both.
func TestInstallDemo(t *testing.T) {
	slow.Test(t)
	if _, err := exec.LookPath("npm"); err != nil {
		needs.Skip(t, needs.Programs, "npm")
	}
	model := clients.NewModel()
	t.Cleanup(model.Close)
	s := npmRegistry(t)
	dir := project(t, e2e.Object{
		"backend.profiles": []e2e.Object{{"name": "played", "provider": "anthropic", "url": model.URL, "model": "scripted", "key": "sk-played-0123456789"}},
		"backend.profile":  "played",
		"sandbox.network":  s.Network("packages"),
	})
	commit(t, dir, registry.User)
	r := serve(t, dir)
	complete(r)
	c := r.Agent("use leftish", e2e.Ours)
	turn := e2e.Next(t, model)
	turn.CallOwn("run_command", e2e.Object{"command": registry.Install})
	q := c.Asked()
	if !strings.HasPrefix(q.Text, "npm wants "+registry.Host+" for `") || q.Always == nil || q.Always.Host != registry.Host {
		t.Errorf("the question: %+v", q)
	}
	c.Reply(q, "allow_session")
	if turn = e2e.Next(t, model); !strings.Contains(turn.Result, "added 1 package") {
		t.Errorf("npm says %s", turn.Result)
	}
	turn.CallOwn("run_tests", e2e.Object{"command": "npm test"})
	if turn = e2e.Next(t, model); !strings.Contains(turn.Result, registry.Says) {
		t.Errorf("the tests say %s", turn.Result)
	}
	turn.Say("It uses leftish.")
	if reason, why, said := c.Stopped(1); reason != conversation.Done {
		t.Fatalf("it ended by %s: %s: %s", reason, why, said)
	}
	asked := 0
	for _, e := range c.History() {
		if e.Kind == conversation.Asked {
			asked++
		}
	}
	if asked != 1 || len(r.Asked()) > 1 { // an editor without a pane for agents shows it, too
		t.Errorf("the agent asks %d times, the editor %q", asked, r.Asked())
	}
	r.IsQueued("package-lock.json", "package.json")
	var held []workspace.Held
	e2e.Until(t, "no output is held", func() bool { held = r.HeldOutput(); return len(held) > 0 })
	if len(held) != 1 || !slices.Equal(held[0].Names, []string{"node_modules"}) {
		t.Errorf("the output: %+v", held)
	}
	if done := r.Accept(e2e.Object{}); len(done.Failed) > 0 {
		t.Errorf("accepted: %+v", done)
	}
	e2e.Command[e2e.Object](r, "sidecar.review.output", e2e.Object{"action": "accept"})
	if r.File(registry.LeftishFile) != registry.LeftishText || !strings.Contains(r.File("package.json"), "leftish") {
		t.Error("it is not on the disk")
	}
}
