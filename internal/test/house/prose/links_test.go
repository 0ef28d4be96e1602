package prose

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	target = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced = regexp.MustCompile("(?ms)^```.*?^```")
	noSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the places in a page that a link may name.
func anchors(page string) map[string]bool {
	all := map[string]bool{"": true}
	for line := range strings.Lines(fenced.ReplaceAllString(page, "")) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			title = strings.ToLower(strings.TrimSpace(link.ReplaceAllString(title, "$1")))
			all[strings.ReplaceAll(noSlug.ReplaceAllString(title, ""), " ", "-")] = true
		}
	}
	return all
}

// dead are the links of the pages of tree that lead nowhere.
func dead(tree fs.FS, pages []string) (list []string, links int) {
	for _, page := range pages {
		text, err := fs.ReadFile(tree, page)
		if err != nil {
			return append(list, err.Error()), links
		}
		for _, m := range target.FindAllStringSubmatch(codeSpan.ReplaceAllString(fenced.ReplaceAllString(string(text), ""), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			name, anchor, _ := strings.Cut(m[1], "#")
			to := path.Join(path.Dir(page), name)
			if name == "" {
				to = page
			}
			other, err := fs.ReadFile(tree, to)
			if info, statErr := fs.Stat(tree, to); statErr == nil && info.IsDir() {
				err, other = nil, nil
			}
			if err != nil || !anchors(string(other))[anchor] {
				list = append(list, page+": "+m[1])
			}
		}
	}
	return list, links
}

// TestLinks: links between pages lead to a page and a heading.
func TestLinks(t *testing.T) {
	tree := os.DirFS("../../../..")
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "editors/*/README.md"} {
		names, err := fs.Glob(tree, pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, names...)
	}
	list, links := dead(tree, pages)
	for _, l := range list {
		t.Errorf("a dead link in %s", l)
	}
	if links < 100 {
		t.Errorf("control: %d links", links)
	}

	planted := fstest.MapFS{
		"a.md":   {Data: []byte("# One `two`\n[1](b.md#what-it-is) [2](#one-two) [3](c) [4](https://a.example/x)\n```\n# code\n[5](none.md)\n```\n[6](b.md#none) [7](none.md) [8](#code)\n")},
		"b.md":   {Data: []byte("## What it is!\n")},
		"c/d.md": {Data: []byte("[1](../a.md)\n")},
	}
	if list, links := dead(planted, []string{"a.md", "c/d.md"}); links != 7 || len(list) != 3 {
		t.Errorf("control: %d links, dead are %q", links, list)
	}
}
