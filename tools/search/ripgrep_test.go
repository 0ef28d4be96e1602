package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// ripgrep returns the sorted lines that rg prints, without carriage returns.
func ripgrep(t *testing.T, rg, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"-n", "--no-heading", "--no-config", "--no-require-git", "--no-ignore-parent", "--crlf"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		t.Fatalf("%s: %v", cmd, err)
	}
	list := []string{}
	for l := range bytes.Lines(out) {
		list = append(list, strings.TrimPrefix(strings.TrimRight(string(l), "\r\n"), "./"))
	}
	slices.Sort(list)
	return list
}

func grepLines(m *Matches) []string {
	list := []string{}
	for _, f := range m.Files {
		for _, l := range f.Lines {
			if l.Match {
				list = append(list, fmt.Sprintf("%s:%d:%s", f.Path, l.Number, f.Text(l)))
			}
		}
	}
	return list
}

func compare(t *testing.T, rg string, d *workspace.Disk, pattern string, fold bool) {
	t.Helper()
	args := []string{"-e", pattern, "."}
	if fold {
		args = append([]string{"-i"}, args...)
	}
	m, err := (&Query{Pattern: pattern, Fold: fold}).Run(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	got := grepLines(m)
	slices.Sort(got)
	if diff := cmp.Diff(ripgrep(t, rg, d.Abs("."), args...), got); diff != "" {
		t.Errorf("%q, fold %v (-rg +ours):\n%.3000s", pattern, fold, diff)
	}
}

// The Go distribution has the same matching lines as ripgrep finds in it.
func TestGrepEqualsRipgrepOnGo(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		needs.Skip(t, needs.Ripgrep, "rg is not here to compare with")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	d := open(t, filepath.Join(runtime.GOROOT(), "src", "cmd", "go"))
	for _, pattern := range []string{
		"zqxjkvwzz", "modload", "ErrNotExist", `func \(\w+ \*?\w+\) String\(`, `^package (main|modload)$`, "foo|bar|bazzz", `[a-z]+_\d{4}`, "sks", `\bgo:embed\b`, "}$", `(?i:TODO)\(`,
	} {
		for _, fold := range []bool{false, true} {
			compare(t, rg, d, pattern, fold)
		}
	}
}

// Random texts and patterns over a small alphabet, so that they meet.
func TestGrepEqualsRipgrep(t *testing.T) {
	slow.Test(t)
	rg, err := exec.LookPath("rg")
	if err != nil {
		needs.Skip(t, needs.Ripgrep, "rg is not here to compare with")
	}
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 2))
		pick := func(of ...string) string { return of[r.IntN(len(of))] }
		files := map[string]string{}
		for i := range 6 {
			var b strings.Builder
			for range r.IntN(200) {
				b.WriteString(pick("a", "b", "A", "B", "ab", "k", "\u212a", "s", "ſ", "_", " ", "\n", "\n", "\r\n", "é", "0", "return"))
			}
			if i == 0 { // longer than a piece
				b.WriteString(strings.Repeat("filler that does not matter\n", 6000) + "ab returns\nks")
			}
			files[fmt.Sprintf("%d/f", i)] = b.String()
		}
		d := project(t, files)
		for range 8 {
			pattern := ""
			for range 1 + r.IntN(4) {
				pattern += pick("a", "b", "ab", "k", "s", "(?:a|b)", "(?:ab|re|0)", "a*", "b+", "a?", "[ab]", "[^a]", ".", "^", "$", "return", "_", "(?:ab){2}", "é", "|")
			}
			if pattern = strings.Trim(pattern, "|"); pattern == "" || regexp.MustCompile(pattern).MatchString("") {
				continue
			}
			compare(t, rg, d, pattern, r.IntN(2) == 0)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Hostile patterns end by the deadline, on a line of 50 kB and in a file that
// is one line.
func TestGrepHostilePatterns(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "regex-dos.json"))
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct {
		Cases []struct{ ID, Pattern string }
	}
	if err := json.Unmarshal(data, &corpus); err != nil {
		t.Fatal(err)
	}
	d := project(t, map[string]string{"line": strings.Repeat("a", 50_000), "file": strings.Repeat("a", 8<<20)})
	for _, c := range corpus.Cases {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		args, err := json.Marshal(map[string]string{"pattern": c.Pattern, "mode": "files"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := call(ctx, d, "grep", string(args))
		cancel()
		switch {
		case err == nil && strings.Contains(r.Text, "with a match"):
		case err == nil:
			if !strings.HasSuffix(strings.TrimRight(c.Pattern, ")"), "b") { // there is none in the text
				t.Errorf("%s: %q was not found: %s", c.ID, c.Pattern, r.Text)
			}
		default:
			if code := tools.AsError(err).Code; code != tools.Timeout && code != tools.InvalidArguments {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
	}
	if r, err := call(t.Context(), d, "grep", `{"pattern":"(a+)$","path":"line"}`); err != nil || !strings.Contains(r.Text, "1 match") {
		t.Errorf("control: %v, %v", r.Text, err)
	}
}
