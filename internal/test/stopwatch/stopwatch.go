// Package stopwatch collects what the tests of the first reviewed edit count, and makes the
// table of docs/agents.md of it: make stopwatch.
package stopwatch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Variable names the directory of the rows; without it none are kept.
const Variable = "SIDECAR_STOPWATCH"

// Bounds of what a new user does until the first edit is accepted.
const (
	MaxSteps     = 3 // commands, clicks and keys
	MaxQuestions = 2
)

// Row is the first reviewed edit with one agent in one place. The tests of VS Code write the
// same JSON.
type Row struct {
	Place     string  `json:"place"`
	Agent     string  `json:"agent"`
	Steps     int     `json:"steps"`
	Questions int     `json:"questions"`
	Seconds   float64 `json:"seconds"`
	Alone     float64 `json:"alone,omitempty"` // seconds of the same agent without sidecar-ls, in the same minute; 0: not measured
}

// Check fails a test whose row is above the bounds, and keeps the row.
func (r Row) Check(t testing.TB) {
	t.Helper()
	t.Logf("%s, %s: %d steps, %d questions, %.1f s to the accepted edit, alone %.1f s", r.Place, r.Agent, r.Steps, r.Questions, r.Seconds, r.Alone)
	if r.Steps > MaxSteps || r.Questions > MaxQuestions {
		t.Errorf("%d steps and %d questions, want at most %d and %d", r.Steps, r.Questions, MaxSteps, MaxQuestions)
	}
	dir := os.Getenv(Variable)
	if dir == "" {
		return
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(r.Place+"-"+r.Agent, " ", "-")+".json"), data, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// The lines around the table in the page.
const (
	begin = "<!-- made by make stopwatch -->\n"
	end   = "<!-- end -->\n"
)

const head = "| place | agent | steps | questions | seconds | alone |\n|---|---|---|---|---|---|\n"

// Page returns a page with the table of the rows of a directory.
func Page(page, dir string, day time.Time) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(names) == 0 {
		return "", fmt.Errorf("no rows in %s: %w", dir, cmp.Or(err, os.ErrNotExist))
	}
	var rows []Row
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		var r Row
		if err := json.Unmarshal(data, &r); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Agent, b.Agent)) })
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s.\n\n%s", day.Format(time.DateOnly), head)
	for _, r := range rows {
		alone := "–"
		if r.Alone > 0 {
			alone = fmt.Sprintf("%.1f", r.Alone)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %.1f | %s |\n", r.Place, r.Agent, r.Steps, r.Questions, r.Seconds, alone)
	}
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("the page lacks the lines %q and %q", begin, end)
	}
	return before + begin + b.String() + end + after, nil
}
