package stopwatch

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

const page = "../../../docs/agents.md"

var update = flag.Bool("update", false, "write the table of docs/agents.md from the rows in "+Variable)

// TestTable: the table of the page was measured, in each place, and within the bounds.
func TestTable(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv(Variable); *update && dir != "" {
		text, err := Page(string(data), dir, time.Now())
		if err == nil {
			err = ownfile.Update(page, []byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		data = []byte(text)
	}
	_, table, _ := strings.Cut(string(data), begin)
	table, _, _ = strings.Cut(table, end)
	places := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| (\d+) \| (\d+) \| [\d.]+ \| ([\d.]+|–) \|$`).FindAllStringSubmatch(table, -1) {
		places[m[1]]++
		steps, _ := strconv.Atoi(m[2])
		questions, _ := strconv.Atoi(m[3])
		if steps > MaxSteps || questions > MaxQuestions {
			t.Errorf("above the bounds: %s", m[0])
		}
	}
	if places["terminal"] < 4 || places["Neovim"] == 0 || places["VS Code"] < 2 {
		t.Errorf("rows by place: %v; make stopwatch measures them", places)
	}
}

// TestPage: rows become the table, and nothing else of the page changes.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	if _, err := Page(begin+end, dir, time.Time{}); err == nil {
		t.Error("no rows make a table")
	}
	for name, row := range map[string]string{"b": `{"place":"terminal","agent":"B","steps":2,"questions":1,"seconds":3,"alone":1.5}`, "a": `{"place":"Neovim","agent":"A","steps":2,"questions":1,"seconds":0.25}`} {
		if err := ownfile.WriteFile(filepath.Join(dir, name+".json"), []byte(row), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Page("x\n"+begin+"old\n"+end+"y\n", dir, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	want := "x\n" + begin + "Measured on 2026-01-02.\n\n" + head + "| Neovim | A | 2 | 1 | 0.2 | – |\n| terminal | B | 2 | 1 | 3.0 | 1.5 |\n" + end + "y\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := Page("no lines", dir, time.Time{}); err == nil {
		t.Error("a page without the lines is taken")
	}
}
