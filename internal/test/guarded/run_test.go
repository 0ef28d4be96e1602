package guarded

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// TestRun: what CI runs comes in order, the first failure is the run's, and it says what it took however it ends.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		needs.Skip(t, needs.Linux, "CI runs on Linux")
	}
	script, err := os.ReadFile("../../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, fails, want string
		status            int
	}{
		{"all pass", "", "machine guarded test guarded test-all lint", 0},
		{"the machine", "machine=3", "machine", 3},
		{"the tests", "test=7", "machine guarded test guarded test-all lint", 7},
		{"the linter", "lint=5", "machine guarded test guarded test-all lint", 5},
		{"the rare tests", "test-all=9", "machine guarded test guarded test-all lint", 9},
		{"all", "test=7 test-all=9 lint=5", "machine guarded test guarded test-all lint", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			const say = "#!/bin/sh\nprintf '%s ' \"$1\" >>\"$LOG\"\nprintf 'git\\tTestIt\\tthere is none\\n' >>\"$SIDECAR_SKIPS\"\nfor f in $FAILS; do [ \"${f%=*}\" != \"$1\" ] || exit \"${f#*=}\"; done\n"
			for name, text := range map[string]string{".ci/run": string(script), ".ci/guarded": "#!/bin/sh\nprintf 'guarded ' >>\"$LOG\"\nexec \"$@\"\n", "bin/make": say} {
				name = filepath.Join(dir, name)
				if err := ownfile.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := ownfile.WriteFile(name, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			log := filepath.Join(dir, "log")
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, ".ci/run"))
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "LOG="+log, "FAILS="+c.fails, "TMPDIR="+dir)
			out, _ := cmd.CombinedOutput()
			did, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.status || strings.TrimSpace(string(did)) != c.want {
				t.Errorf("status %d, want %d; it ran %q, want %q\n%s", got, c.status, did, c.want, out)
			}
			if !regexp.MustCompile(`(?m)^run: wall \d+m\d\ds, CPU \d+m\S+s user and \d+m\S+s system, load \S`).Match(out) {
				t.Errorf("it does not say what it took: %s", out)
			}
			if !strings.Contains(string(out), "run: 1 skipped for what this machine lacks\n  git: TestIt: there is none\n") {
				t.Errorf("it does not say what was skipped: %s", out)
			}
		})
	}
}

// TestLintNamesWhatThereIs: the linter's configuration names functions of ours by their packages, and the linter says
// nothing of one that has moved.
func TestLintNamesWhatThereIs(t *testing.T) {
	config, err := os.ReadFile("../../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	there := func(dir, receiver, name string) bool {
		files, _ := filepath.Glob(filepath.Join("../../..", filepath.FromSlash(dir), "*.go"))
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Name.Name != name || fn.Recv == nil {
					continue
				}
				of := fn.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if id, ok := of.(*ast.Ident); ok && id.Name == receiver {
					return true
				}
			}
		}
		return false
	}
	const ours = "github.com/sidecar-ls/sidecar-ls/"
	methods := regexp.MustCompile(`\(\*?`+regexp.QuoteMeta(ours)+`([\w/]+)\.(\w+)\)\.(\w+)`).FindAllSubmatch(config, -1)
	if named := strings.Count(string(config), ours); named != len(methods) || named == 0 {
		t.Errorf("%d names of ours, of which %d are methods: let this test read the others, too", named, len(methods))
	}
	for _, m := range methods {
		if !there(string(m[1]), string(m[2]), string(m[3])) {
			t.Errorf("there is no %s: take its line out", m[0])
		}
	}
	if there("internal/files/workspace", "Disk", "Vanish") || there("internal/gone", "Disk", "Close") {
		t.Error("the control: what is not there is found")
	}
}
