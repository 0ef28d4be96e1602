package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// hunkID matches the id of a hunk.
var hunkID = regexp.MustCompile(`^h[0-9]+$`)

// chosen is the queue, and the edits in it that words choose: what is a hunk's
// id is a hunk.
func chosen(w *app.Workspace, words reviewWords) (*pendingedits.Store, pendingedits.Selection, error) {
	var sel pendingedits.Selection
	if err := w.Home.LockedOut(); errors.Is(err, pendingedits.ErrLocked) {
		return nil, sel, fmt.Errorf("%w. With its setting sidecar.mcp.attach on, other shells reach it", err)
	} else if err != nil {
		return nil, sel, err
	}
	hunks, names := map[string]bool{}, map[string]bool{}
	for _, e := range w.Home.Queue.List("").Edits {
		names[e.Name] = true
		for _, h := range e.Hunks {
			hunks[h.ID] = true
		}
	}
	for _, word := range words.Chosen {
		path := word
		if !filepath.IsAbs(word) {
			path = filepath.Join(words.Dir, word)
		}
		switch {
		case hunks[word]:
			sel.Hunks = append(sel.Hunks, word)
			continue
		case names[word]:
			sel.Names = append(sel.Names, word)
			continue
		case hunkID.MatchString(word) && !exists(path):
			return nil, sel, fmt.Errorf("no change %s waits; %s", word, pendingWords(w.Home.Queue).near(word))
		}
		name, err := w.Disk.Resolve(path)
		if err != nil {
			return nil, sel, err
		}
		sel.Names = append(sel.Names, name)
	}
	return w.Home.Queue, sel, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// choosesOf reports whether a selection with names or hunks has a part of e.
func choosesOf(sel pendingedits.Selection, e pendingedits.Edit) bool {
	return slices.Contains(sel.Names, e.Name) || e.From != "" && slices.Contains(sel.Names, e.From) ||
		slices.ContainsFunc(e.Hunks, func(h pendingedits.Hunk) bool { return slices.Contains(sel.Hunks, h.ID) })
}

// waiting are the words that choose something that waits.
type waiting struct{ files, hunks []string }

func pendingWords(q *pendingedits.Store) (w waiting) {
	for _, e := range q.List("").Edits {
		w.files = append(w.files, e.Name)
		for _, h := range e.Hunks {
			w.hunks = append(w.hunks, h.ID+" ("+e.Name+")")
		}
	}
	return w
}

// mostNear bounds how many are listed.
const mostNear = 8

// near says what waits, what is like the word first.
func (w waiting) near(word string) string {
	list := w.files
	if hunkID.MatchString(word) {
		list = w.hunks
	}
	if len(list) == 0 {
		return "nothing waits"
	}
	first := tools.Near(word, list, mostNear)
	if hunkID.MatchString(word) { // by their numbers, which say when they came
		n, _ := strconv.Atoi(word[1:])
		first = slices.SortedStableFunc(slices.Values(list), func(a, b string) int { return cmp.Compare(apart(a, n), apart(b, n)) })
	}
	for _, one := range list {
		if !slices.Contains(first, one) {
			first = append(first, one)
		}
	}
	text := "what waits: " + inLines(first[:min(len(first), mostNear)])
	if more := len(first) - mostNear; more > 0 {
		text += fmt.Sprintf(" and %d more (sidecar-ls review lists them)", more)
	}
	return text
}

// apart is how far the number of a hunk is from n.
func apart(hunk string, n int) int {
	id, _, _ := strings.Cut(hunk, " ")
	m, _ := strconv.Atoi(id[1:])
	return max(m-n, n-m)
}

// orPending adds to an error about an edit that is none what waits.
func orPending(err error, w waiting) error {
	var of *fs.PathError
	if errors.Is(err, fs.ErrNotExist) && errors.As(err, &of) {
		return fmt.Errorf("%w; %s", err, w.near(of.Path))
	}
	return err
}

// withPending is orPending for failures.
func withPending(failed []pendingedits.Failure, w waiting) []pendingedits.Failure {
	for i, f := range failed {
		var of *fs.PathError
		if errors.Is(f.Err, fs.ErrNotExist) && errors.As(f.Err, &of) {
			failed[i].Err = fmt.Errorf("%w; %s", of.Err, w.near(f.Name))
		}
	}
	return failed
}

// rejectChosen rejects what is named. Without a name it is everything, and a person is
// asked first.
func rejectChosen(ctx context.Context, c *cli, w reviewWords) error {
	if len(w.Chosen) == 0 && !c.all {
		list, err := ask(ctx, c, reviewList, w)
		if err != nil {
			return err
		}
		if len(list.Edits)+len(list.Commits) > 0 {
			what := countOf(list)
			yes, err := c.agreed(ctx, "Reject all that waits, "+what+"? sidecar-ls review undo brings it back.")
			if errors.Is(err, errNoTerminal) {
				return usagef("review reject without a name is about all that waits, %s: name files or changes, which sidecar-ls review lists, or say --all", what)
			}
			if err != nil {
				return err
			}
			if !yes {
				fmt.Fprintln(c.Err, "sidecar-ls: nothing was rejected")
				return errReported
			}
			for _, e := range list.Edits {
				for _, h := range e.Hunks {
					w.Seen = append(w.Seen, h.ID)
				}
			}
		}
	}
	return decide(reviewReject, "rejected")(ctx, c, w)
}

// onlySeen fails when something waits by now that a person was not asked about. Nobody
// was asked where nothing was seen.
func onlySeen(q *pendingedits.Store, seen []string) error {
	if len(seen) == 0 {
		return nil
	}
	for _, e := range q.List("").Edits {
		for _, h := range e.Hunks {
			if !slices.Contains(seen, h.ID) {
				return fmt.Errorf("%s has changed meanwhile, so nothing was rejected; look again", inLine(e.Name))
			}
		}
	}
	return nil
}

// countOf says how much waits: "3 changes in 2 files".
func countOf(list pendingedits.List) string {
	changes := 0
	for _, e := range list.Edits {
		changes += len(e.Hunks)
	}
	text := tools.Count(changes, "change") + " in " + tools.Count(len(list.Edits), "file")
	if n := len(list.Commits); n > 0 {
		text += " and " + tools.Count(n, "commit")
	}
	return text
}

// diffEdits is a patch in which each place has the ids of its changes.
func diffEdits(_ context.Context, w *app.Workspace, words reviewWords) (reviewText, error) {
	q, sel, err := chosen(w, words)
	if err != nil {
		return reviewText{}, err
	}
	all := len(sel.Names)+len(sel.Hunks) == 0
	var text strings.Builder
	found := map[string]bool{}
	for _, e := range q.List("").Edits {
		if !all && !choosesOf(sel, e) {
			continue
		}
		found[e.Name], found[e.From] = true, true
		d, err := q.Diff(e.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // decided meanwhile
		}
		if err != nil {
			return reviewText{}, err
		}
		whole := all || slices.Contains(sel.Names, e.Name) || slices.Contains(sel.Names, e.From)
		text.WriteString(withIDs(d, e, func(id string) bool { return whole || slices.Contains(sel.Hunks, id) }))
	}
	for _, name := range sel.Names {
		if !found[name] {
			d, err := q.Diff(name) // by a link
			if err != nil {
				return reviewText{}, orPending(err, pendingWords(q))
			}
			text.WriteString(d)
		}
	}
	return reviewText{text.String()}, nil
}

// place is the line of a patch before the lines of a place in a file.
var place = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@`)

// withIDs puts the ids of hunks behind the places of a patch of one file, where programs
// that apply patches expect text for people. Places without a hunk that is wanted go.
func withIDs(patch string, e pendingedits.Edit, wanted func(id string) bool) string {
	var out strings.Builder
	for _, h := range e.Hunks { // of which no lines are shown
		if wanted(h.ID) && (h.Says != "" || !strings.Contains(patch, "\n@@ ")) && h.State != pendingedits.Conflict {
			fmt.Fprintf(&out, "# %s: %s\n", h.ID, cmp.Or(h.Says, e.Kind))
		}
	}
	shown := true
	removed, added := 0, 0 // lines that the place still has
	for line := range strings.Lines(patch) {
		if removed > 0 || added > 0 {
			switch line[0] {
			case '-':
				removed--
			case '+':
				added--
			case ' ', '\n':
				removed, added = removed-1, added-1
			}
		} else if m := place.FindStringSubmatch(line); m != nil {
			removed, added = lengths(m[0])
			start, _ := strconv.Atoi(m[1])
			ids := idsAt(e, start, removed)
			if shown = len(ids) == 0 || slices.ContainsFunc(ids, wanted); shown && len(ids) > 0 {
				line = m[0] + " " + strings.Join(ids, " ") + "\n"
			}
		}
		if shown {
			out.WriteString(line)
		}
	}
	return out.String()
}

// idsAt are the ids of the hunks of e in these lines of the live text.
func idsAt(e pendingedits.Edit, start, lines int) (ids []string) {
	start, lines = max(start, 1), max(lines, 1)
	for _, h := range e.Hunks {
		at := max(h.OldStart, 1)
		switch {
		case h.Says != "" || h.State == pendingedits.Conflict:
		case e.Kind != "modify" || start <= at && at < start+lines: // else it is all one
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// lengths are how many lines of each side a place of a patch has.
func lengths(head string) (removed, added int) {
	of := func(side string) int {
		_, n, more := strings.Cut(side, ",")
		if !more {
			return 1
		}
		lines, _ := strconv.Atoi(n)
		return lines
	}
	sides := strings.Fields(head)
	return of(sides[1]), of(sides[2])
}
