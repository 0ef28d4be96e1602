package docs_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/docs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/text/manual"
)

var update = flag.Bool("update", false, "write the help file of Neovim")

// read are the documents of the repository, by their path from its root.
func read(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range docs.Pages() {
		out[p.Path] = p.Text
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		data, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

var (
	fences   = regexp.MustCompile("(?ms)^```.*?^```")
	headings = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *$`)
)

// anchors are those of a page's headings.
func anchors(page string) (out []string) {
	for _, m := range headings.FindAllStringSubmatch(fences.ReplaceAllString(page, ""), -1) {
		out = append(out, manual.Slug(m[1]))
	}
	return out
}

// TestNamedPages: the pages that the product's texts name are there, with their sections.
// The links between pages are the matter of internal/test/house/prose.
func TestNamedPages(t *testing.T) {
	pages := read(t)
	named := regexp.MustCompile(`\b(docs/[a-z-]+\.md|editors/[a-z]+/README\.md)(?:#([a-z0-9-]+))?`)
	found := 0
	for _, root := range []string{"../internal", "../server", "../tools", "../editors", "../pendingedits", "../shadow", "../pki", "../cmd"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if base := d.Name(); d.IsDir() && slices.Contains([]string{"node_modules", "build", "test", "testdata", "bench", "target"}, base) {
				return filepath.SkipDir
			}
			if d.IsDir() || strings.HasSuffix(name, "_test.go") || !slices.Contains([]string{".go", ".ts", ".tsx", ".mjs", ".json", ".lua", ".el", ".sh"}, filepath.Ext(name)) && d.Name() != "README.md" {
				return nil
			}
			data, err := os.ReadFile(name)
			for _, m := range named.FindAllStringSubmatch(string(data), -1) {
				found++
				if m[1] == "docs/design.md" || m[1] == "docs/a.md" {
					continue // an example of a workspace's file
				}
				if page, ok := pages[m[1]]; !ok || m[2] != "" && !slices.Contains(anchors(page), m[2]) {
					t.Errorf("%s names %s", name, m[0])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 20 {
		t.Errorf("only %d names of pages were found", found)
	}
}

// TestGeneratedVimdoc: the help file of Neovim is made of our pages, and current.
func TestGeneratedVimdoc(t *testing.T) {
	var chapters []manual.Chapter
	for _, c := range []struct{ tag, topic string }{
		{"sidecar", "start-neovim"}, {"sidecar-reference", "nvim"}, {"sidecar-modes", "modes"}, {"sidecar-undo", "undo"}, {"sidecar-glossary", "glossary"},
	} {
		text, _ := docs.Find(c.topic)
		if text == "" {
			t.Fatalf("there is no page %s", c.topic)
		}
		chapters = append(chapters, manual.Chapter{Tag: c.tag, Page: text})
	}
	help, tags := manual.Vimdoc("sidecar.txt", "Run any coding agent; every change waits for your review", chapters)
	for name, want := range map[string]string{"../editors/nvim/doc/sidecar.txt": help, "../editors/nvim/doc/tags": tags} {
		if *update {
			if err := ownfile.Update(name, []byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is stale; run make generate (%v)", name, err)
		}
	}
	for line := range strings.Lines(help) {
		if n := len([]rune(line)); n > manual.Width+1 && !strings.HasPrefix(line, "    ") && !strings.Contains(line, "*") {
			t.Errorf("%d wide: %s", n, line)
		}
	}
}

// TestNeovimHelp: a real Neovim finds the help by its tags, and no help for another.
func TestNeovimHelp(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		needs.Skip(t, needs.Neovim, "no nvim on this machine; make test installs it")
	}
	for topic, want := range map[string]string{"sidecar": "sidecar", "sidecar.txt": "sidecar.txt", ":SidecarAccept": ":SidecarAccept", "sidecar-modes": "sidecar-modes", "sidecar-no-such-tag": "E149"} {
		cmd := exec.CommandContext(t.Context(), nvim, "--headless", "-n", "-u", "NONE", "-i", "NONE", "--cmd", "set rtp^=../editors/nvim",
			"-c", "try | help "+topic+" | echo expand('%:t') getline('.') | catch | echo v:exception | endtry", "-c", "qa!")
		cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || want != "E149" && !strings.Contains(string(out), "sidecar.txt") {
			t.Errorf(":help %s: %v\n%s", topic, err, out)
		}
	}
}
