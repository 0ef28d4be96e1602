package server

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// TestProtocolDocument compares docs/protocol.md with the code.
func TestProtocolDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)

	var documented, want []string
	row := regexp.MustCompile("(?m)^\\| `(sidecar\\.[a-zA-Z.]+)` \\| `\\{(.*?)\\}` \\| ")
	for _, m := range row.FindAllStringSubmatch(doc, -1) {
		documented = append(documented, m[1]+"("+strings.Join(memberNames(m[2]), ", ")+")")
	}
	for _, c := range commands.Table() {
		want = append(want, c.Name+"("+strings.Join(c.Members(), ", ")+")")
		if c.Title == "" {
			t.Errorf("%s has no title", c.Name)
		}
	}
	slices.Sort(documented)
	if d := cmp.Diff(want, documented); d != "" {
		t.Errorf("commands (-code +document):\n%s", d)
	}

	own := regexp.MustCompile("sidecar/[a-zA-Z]+")
	inDoc, inCode := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `("+own.String()+")` ").FindAllStringSubmatch(doc, -1) {
		inDoc[m[1]] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, parts...)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"(`+own.String()+`)"`).FindAllStringSubmatch(string(src), -1) {
			inCode[m[1]] = true
		}
	}
	if d := cmp.Diff(inCode, inDoc); d != "" || len(inCode) == 0 {
		t.Errorf("messages (-code +document):\n%s", d)
	}
	for _, code := range tools.Codes {
		if row := "| `" + string(code) + "` | " + code.Meaning() + " |\n"; !strings.Contains(doc, row) {
			t.Errorf("the table of error codes lacks %s", row)
		}
	}
}

// memberNames lists the members of a documented argument object.
func memberNames(object string) []string {
	var names []string
	depth, start := 0, 0
	for i := 0; i <= len(object); i++ {
		switch {
		case i == len(object) || object[i] == ',' && depth == 0:
			name, _, _ := strings.Cut(object[start:i], ":")
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
			start = i + 1
		case object[i] == '{':
			depth++
		case object[i] == '}':
			depth--
		}
	}
	return names
}
