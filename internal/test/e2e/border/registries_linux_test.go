package border_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/effects"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// registries serve packages by path: the first element is the name of the registry's host, as
// far as its first full stop.
type registries struct {
	*httptest.Server

	mu    sync.Mutex
	files map[string][]byte
	seen  []string
}

func (s *registries) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ".")
	name := host + strings.TrimSuffix(r.URL.Path, "/")
	s.mu.Lock()
	s.seen = append(s.seen, name)
	data, ok := s.files[name]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	switch {
	case strings.HasPrefix(name, "pypi/simple"):
		w.Header().Set("Content-Type", "text/html")
	case json.Valid(data):
		w.Header().Set("Content-Type", "application/json")
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	_, _ = w.Write(data)
}

// listed is the setting by which the registries' names lead to the server, after a question.
func (s *registries) listed(names ...string) (list []any) {
	list = []any{"ask"}
	for _, name := range names {
		list = append(list, e2e.Object{"host": name + ".example.org", "private": true, "ask": true, "address": s.Listener.Addr().String()})
	}
	return list
}

func newRegistries(t *testing.T) *registries {
	t.Helper()
	s := &registries{files: map[string][]byte{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// npm adds a package with one file and no dependency.
func (s *registries) npm(t *testing.T, name, version string, files map[string]string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for file, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + file, Mode: 0o644, Size: int64(len(text)), ModTime: time.Unix(1e9, 0)}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, text)
	}
	w.Close()
	z.Close()
	sum := sha512.Sum512(b.Bytes())
	tarball := fmt.Sprintf("%s/-/%s-%s.tgz", name, name, version)
	about, err := json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: map[string]any{
		"name": name, "version": version, "dist": map[string]string{"tarball": "http://npm.example.org/" + tarball, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s.files["npm/"+name], s.files["npm/"+tarball] = about, b.Bytes()
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
	s := newRegistries(t)
	s.npm(t, "leftish", "1.0.0", map[string]string{"package.json": `{"name": "leftish", "version": "1.0.0", "main": "i.js"}`, "i.js": "module.exports = 'leftish works'"})
	wheel := zipped(t, "pyish.py", "says = 'pyish works'\n",
		"pyish-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pyish\nVersion: 1.0\n", "pyish-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"pyish-1.0.dist-info/RECORD", "pyish.py,,\npyish-1.0.dist-info/METADATA,,\npyish-1.0.dist-info/WHEEL,,\npyish-1.0.dist-info/RECORD,,\n")
	const wheelName = "pyish-1.0-py3-none-any.whl"
	sum := sha256.Sum256(wheel)
	s.files["pypi/simple/pyish"] = fmt.Appendf(nil, `<!DOCTYPE html><a href="http://pypi.example.org/f/%s#sha256=%s">%s</a>`, wheelName, hex.EncodeToString(sum[:]), wheelName)
	s.files["pypi/f/"+wheelName] = wheel
	const mods = "http://mods.example.org"
	const mod = "module code.example.org/goish\n\ngo 1.20\n"
	s.files["mods/code.example.org/goish/@v/list"] = []byte("v1.0.0\n")
	s.files["mods/code.example.org/goish/@v/v1.0.0.info"] = []byte(`{"Version": "v1.0.0"}`)
	s.files["mods/code.example.org/goish/@v/v1.0.0.mod"] = []byte(mod)
	s.files["mods/code.example.org/goish/@v/v1.0.0.zip"] = zipped(t, "code.example.org/goish@v1.0.0/go.mod", mod, "code.example.org/goish@v1.0.0/a.go", "package goish\n\nconst Says = \"goish works\"\n")
	s.bare(t)

	dir, begin := reaching(t, s.listed("npm", "pypi", "mods", "git"), map[string]string{
		"package.json": `{"name": "x", "version": "1.0.0"}`,
		"go.mod":       "module x\n\ngo 1.20\n\nrequire code.example.org/goish v1.0.0\n", "main.go": "package main\n\nimport (\n\t\"fmt\"\n\n\t\"code.example.org/goish\"\n)\n\nfunc main() { fmt.Println(goish.Says) }\n",
	})
	_ = dir
	for _, c := range []struct{ name, program, host, line, says string }{
		{"npm", "npm", "npm.example.org", "npm_config_registry=http://npm.example.org/ npm install --no-audit --no-fund --no-update-notifier leftish && node -e \"console.log(require('leftish'))\"", "leftish works"},
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
func (s *registries) bare(t *testing.T) {
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
		if err == nil {
			s.files["git/repo.git/"+filepath.ToSlash(rel)], err = os.ReadFile(name)
		}
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
	s := newRegistries(t)
	s.npm(t, "leftish", "1.0.0", map[string]string{"package.json": `{"name": "leftish", "version": "1.0.0", "main": "i.js"}`, "i.js": "module.exports = 'leftish works'"})
	dir := project(t, e2e.Object{
		"backend.profiles": []e2e.Object{{"name": "played", "provider": "anthropic", "url": model.URL, "model": "scripted", "key": "sk-played-0123456789"}},
		"backend.profile":  "played",
		"sandbox.network":  s.listed("npm"),
	})
	e2e.Write(t, filepath.Join(dir, "package.json"), `{"name": "x", "version": "1.0.0", "scripts": {"test": "node -e \"console.log(require('leftish'))\""}}`+"\n")
	e2e.Write(t, filepath.Join(dir, ".gitignore"), "node_modules/\n")
	e2e.GitIn(t, dir, "add", "-A")
	e2e.GitIn(t, dir, "commit", "-qm", "a package")
	r := serve(t, dir)
	complete(r)
	c := r.Agent("use leftish", e2e.Ours)
	turn := e2e.Next(t, model)
	turn.CallOwn("run_command", e2e.Object{"command": "export npm_config_registry=http://npm.example.org/; npm install --no-audit --no-fund --no-update-notifier leftish"})
	q := c.Asked()
	if !strings.HasPrefix(q.Text, "npm wants npm.example.org for `") || q.Always == nil || q.Always.Host != "npm.example.org" {
		t.Errorf("the question: %+v", q)
	}
	c.Reply(q, "allow_session")
	if turn = e2e.Next(t, model); !strings.Contains(turn.Result, "added 1 package") {
		t.Errorf("npm says %s", turn.Result)
	}
	turn.CallOwn("run_tests", e2e.Object{"command": "npm test"})
	if turn = e2e.Next(t, model); !strings.Contains(turn.Result, "leftish works") {
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
	if r.File("node_modules/leftish/i.js") != "module.exports = 'leftish works'" || !strings.Contains(r.File("package.json"), "leftish") {
		t.Error("it is not on the disk")
	}
}
