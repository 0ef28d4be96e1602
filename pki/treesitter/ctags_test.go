//go:build cgo

package treesitter

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/pki"
)

// corpora are real files that a machine may have, with the kinds of ctags that
// mean what our functions, methods, classes and types mean.
var corpora = []struct {
	lang, glob, ctags string
	kinds             []string
	recall            float64 // at least
}{
	{"go", runtime.GOROOT() + "/src/net/http/*.go", "Go", []string{"func", "struct", "interface", "type", "methodSpec"}, 0.97},
	{"c", "/usr/include/*.h", "C", []string{"function", "prototype", "struct", "union", "enum", "typedef"}, 0.90},
	{"cpp", "/usr/include/c++/*/bits/*.h", "C++", []string{"function", "class", "struct", "enum"}, 0.90},
	{"python", "/usr/lib/python3*/*.py", "Python", []string{"function", "class", "member"}, 0.97},
	{"javascript", "/usr/share/nodejs/*/*.js", "JavaScript", []string{"function", "class", "method"}, 0.80},
	{"bash", "/usr/bin/*", "Sh", []string{"function"}, 0.90},
}

var everything = flag.Bool("everything", false, "compare 80 files of each language with what ctags finds, not 30")

// TestAgainstCtags compares names of functions, classes and types with what
// universal-ctags finds. It says what it saw and fails only far off.
func TestAgainstCtags(t *testing.T) {
	slow.Rare(t)
	ctags, err := exec.LookPath("ctags")
	if err != nil {
		needs.Skip(t, needs.Ctags, "ctags is not installed")
	}
	if out, _ := exec.Command(ctags, "--version").Output(); !bytes.Contains(out, []byte("Universal")) {
		needs.Skip(t, needs.Ctags, "this is not universal-ctags")
	}
	for _, c := range corpora {
		t.Run(c.lang, func(t *testing.T) {
			files, _ := filepath.Glob(c.glob)
			files = ofLanguage(t, files, c.lang)
			if len(files) < 5 {
				needs.Skip(t, needs.Sources, fmt.Sprintf("no files at %s", c.glob))
			}
			want := ctagsNames(t, ctags, c.ctags, c.kinds, files)
			got := make(map[string]bool)
			extra, all, size := 0, 0, 0
			var spent time.Duration
			for _, file := range files {
				src := read(t, file)
				size += len(src)
				start := time.Now()
				symbols, err := Extract(c.lang, src)
				spent += time.Since(start)
				if err != nil {
					t.Logf("%s: %v", file, err)
				}
				for _, s := range symbols {
					got[file+"\x00"+s.Name] = true
					if slices.Contains([]pki.Kind{pki.Function, pki.Method, pki.Class, pki.Struct}, s.Kind) {
						all++
						if !want[file+"\x00"+s.Name] {
							extra++
						}
					}
				}
			}
			found := 0
			var missed []string
			for name := range want {
				if got[name] {
					found++
				} else {
					missed = append(missed, strings.ReplaceAll(filepath.Base(name), "\x00", " "))
				}
			}
			slices.Sort(missed)
			recall := float64(found) / float64(max(1, len(want)))
			t.Logf("%d files, %.1f MB, %.1f MB/s; of %d names %.1f %% found; %.1f %% of our %d functions and classes are unknown to ctags; missed: %q",
				len(files), float64(size)/1e6, float64(size)/1e6/spent.Seconds(), len(want), 100*recall, 100*float64(extra)/float64(max(1, all)), all, missed[:min(12, len(missed))])
			if recall < c.recall {
				t.Errorf("recall %.3f, want %.3f at least", recall, c.recall)
			}
		})
	}
}

func ofLanguage(t *testing.T, files []string, lang string) []string {
	var out []string
	most := 30
	if *everything {
		most = 80
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 200<<10 || len(out) == most {
			continue
		}
		if src := read(t, file); Language(file, src) == lang {
			out = append(out, file)
		}
	}
	return out
}

func ctagsNames(t *testing.T, ctags, lang string, kinds, files []string) map[string]bool {
	t.Helper()
	out, err := exec.Command(ctags, append([]string{"--output-format=json", "--fields=+K", "--kinds-C=+p", "--kinds-C++=+p", "--language-force=" + lang, "-f", "-"}, files...)...).Output()
	if err != nil {
		needs.Skip(t, needs.Ctags, fmt.Sprintf("ctags: %v", err))
	}
	want := make(map[string]bool)
	for line := range bytes.Lines(out) {
		var tag struct{ Name, Path, Kind string }
		if json.Unmarshal(line, &tag) == nil && slices.Contains(kinds, tag.Kind) && !strings.HasPrefix(tag.Name, "__anon") {
			name := tag.Name
			if lang == "Sh" {
				_, name = splitName(name)
			}
			name = strings.Replace(name, "operator ", "operator", 1)
			want[tag.Path+"\x00"+name] = true
		}
	}
	return want
}
