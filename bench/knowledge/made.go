package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/test/retrieval"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/segment"
	"github.com/sidecar-ls/sidecar-ls/pki/terms"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
)

// How many questions a repository is good for.
const (
	readCommits = 12_000 // the newest
	ofCommits   = 75
	ofFile      = 3 // changes of the same file
	ofComments  = 40
	leftIn      = 3   // of so many comments one stays in the text, as where questions are asked it mostly does
	maxLines    = 200 // that a change has
	maxSymbols  = 4
	maxWords    = 220 // of a question
	leastWords  = 4   // that say something
)

// madeCommit is a commit that may be a question: what it says, and the files
// that it changed.
type madeCommit struct {
	hash, parent, author, message string
	files                         []madeChange
}

// madeChange is what git says of a file: A, D or M.
type madeChange struct{ status, path string }

// made writes a query set about the repositories of a directory: what commits
// say, which the files and functions that they changed answer, and the first
// sentences of comments, which their functions answer, most without them. A commit is
// asked of the state that it changed.
func made(ctx context.Context, file, mirrors, cache string) error {
	if mirrors == "" || cache == "" {
		return errors.New("name the repositories (-repos) and a directory for their indexes (-cache), too")
	}
	entries, err := os.ReadDir(mirrors)
	if err != nil {
		return err
	}
	var makers []*maker
	for _, e := range entries {
		name := strings.Replace(e.Name(), "+", "/", 1)
		if dir := findRepository(mirrors, name); dir != "" {
			// The same way every time.
			makers = append(makers, &maker{repo: name, dir: dir, cache: cache, stops: terms.Stops(), random: rand.New(rand.NewPCG(5, 6))})
		}
	}
	if len(makers) == 0 {
		return fmt.Errorf("there is no repository in %s: each one is a directory there, named owner+name", mirrors)
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	texts, errs := make([]bytes.Buffer, len(makers)), make([]error, len(makers))
	each(len(makers), func(_, i int) {
		m := makers[i]
		if errs[i] = m.make(ctx, &texts[i]); errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", m.repo, errs[i])
		}
		fmt.Fprintf(os.Stderr, "%s: %d questions\n", m.repo, m.made)
	})
	for i := range texts {
		if _, err := texts[i].WriteTo(out); err != nil {
			return err
		}
	}
	return errors.Join(append(errs, out.Close())...)
}

// maker makes the questions of one repository.
type maker struct {
	repo, dir, cache string
	stops            terms.StopWords
	random           *rand.Rand
	made             int
}

// make writes the questions.
func (m *maker) make(ctx context.Context, w io.Writer) error {
	commits, err := m.commits(ctx)
	if err != nil || len(commits) == 0 {
		return err
	}
	shelf := shelf{}
	defer shelf.close()
	repo, err := shelf.open(ctx, m.dir)
	if err != nil {
		return err
	}
	records, err := m.comments(ctx, repo, commits[0].hash)
	if err != nil {
		return err
	}
	perFile, perAuthor, found := map[string]int{}, map[string]int{}, 0
	for _, i := range m.random.Perm(len(commits)) {
		c := &commits[i]
		if found == ofCommits {
			break
		}
		if perAuthor[c.author] >= ofCommits/3 || slices.ContainsFunc(c.files, func(f madeChange) bool { return perFile[f.path] >= ofFile }) {
			continue
		}
		r, err := m.ofCommit(ctx, shelf, c)
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		found++
		perAuthor[c.author]++
		for _, name := range r.Files {
			perFile[name]++
		}
		records = append(records, *r)
	}
	out := json.NewEncoder(w)
	for i := range records {
		m.made += len(records[i].Queries)
		if err := out.Encode(&records[i]); err != nil {
			return err
		}
	}
	return nil
}

// commits are the newest ones, the newest first.
func (m *maker) commits(ctx context.Context) ([]madeCommit, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", m.dir, "-c", "core.quotePath=false", "log", "--no-merges", "--no-renames", "--raw", "--abbrev=40",
		"-n", strconv.Itoa(readCommits), "--format=%x01%H%x02%P%x02%an%x02%B%x02", "HEAD").Output()
	if err != nil {
		return nil, err
	}
	var list []madeCommit
	for text := range bytes.SplitSeq(out, []byte{1}) {
		f := strings.Split(string(text), "\x02")
		if len(f) != 5 || f[1] == "" {
			continue
		}
		c := madeCommit{hash: f[0], parent: f[1], author: f[2], message: f[3]}
		for line := range strings.Lines(f[4]) {
			meta, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if fields := strings.Fields(meta); ok && len(fields) == 5 {
				c.files = append(c.files, madeChange{fields[4], name})
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// What tells a mended fault or a new feature from the rest, and what of a message
// is no question.
var (
	wantedMessage   = regexp.MustCompile(`(?i)\b(?:fix|add|support|allow|handle|prevent|avoid|implement|make|ensure|correct|improve|don't|do not|respect|return|raise|bug|feat|enable|stop|when|should|crash|error|wrong|missing|leak|race)`)
	unwantedMessage = regexp.MustCompile(`(?i)^(?:\W*)(?:refactor|docs?\b|tests?\b|chore|build\b|ci\b|style|bump|release|merge|revert|prepare|typo|clean|rename|move|lint|format|version|changelog|backport|upgrade|deps?\b|cherry)`)
	trailers        = regexp.MustCompile(`(?im)^(?:[a-z-]+-(?:by|to|id|pick)|cc|reported by): .*$|^(?:close[sd]?|fix(?:es|ed)?|refs?|resolve[sd]?|see|pr|pr-url|issue|link|backports?)\b:? *(?:https?://|[\w/-]*#\d).*$`)
	numbers         = regexp.MustCompile(`https?://\S+|\(?#\d+\)?|\b(?:GH|gh)-\d+\b|\b[0-9a-f]{7,40}\b`)
	conventional    = regexp.MustCompile(`^(?:\w+\([^)]*\)!?:|[\w./*, -]{2,40}:)\s+`)
)

// madeLanguages are the languages of the files that are asked for, by how their names end.
var madeLanguages = map[string]bool{".go": true, ".ts": true, ".tsx": true, ".js": true, ".jsx": true, ".mjs": true, ".py": true, ".rs": true, ".java": true, ".c": true, ".h": true, ".cc": true, ".cpp": true, ".kt": true, ".scala": true, ".cs": true, ".rb": true, ".php": true, ".swift": true}

// ofCommit makes questions of a commit, nil if it is good for none.
func (m *maker) ofCommit(ctx context.Context, shelf shelf, c *madeCommit) (*retrieval.Record, error) {
	title, _, _ := strings.Cut(c.message, "\n")
	if !wantedMessage.MatchString(title) || unwantedMessage.MatchString(title) {
		return nil, nil
	}
	gold := c.gold()
	if len(gold) == 0 {
		return nil, nil
	}
	changed, err := m.changed(ctx, c, gold)
	if changed == nil || err != nil {
		return nil, err
	}
	s := &state{key: m.repo + "@" + c.parent, dir: m.dir, records: []*retrieval.Record{{Repo: m.repo, Commit: c.parent}}}
	seg, err := cached(ctx, shelf, s, m.cache)
	if err != nil {
		return nil, err
	}
	symbols := symbolsAt(seg, gold, changed)
	if len(symbols) == 0 {
		return nil, nil
	}
	r := &retrieval.Record{ID: m.repo + "#" + c.hash[:12], Set: "made commits", Repo: m.repo, Lang: strings.TrimPrefix(path.Ext(gold[0]), "."), Commit: c.parent,
		Files: gold, Symbols: symbols, Queries: m.queries(c.message, gold, symbols)}
	if len(r.Queries) == 0 {
		return nil, nil
	}
	return r, nil
}

// gold are the source files that a commit changed: one to three, none new, none
// gone. Those of tests are not asked for.
func (c *madeCommit) gold() []string {
	var out []string
	for _, f := range c.files {
		switch name := strings.ToLower(f.path); {
		case !madeLanguages[path.Ext(f.path)] || strings.Contains(name, "test") || strings.Contains(name, "spec"):
		case f.status != "M" || len(out) == 3:
			return nil
		default:
			out = append(out, f.path)
		}
	}
	return out
}

var hunk = regexp.MustCompile(`(?m)^@@ -(\d+)(?:,(\d+))? \+`)

// changed are the lines that a commit changed, by the files, nil if they are
// too many or can't be known.
func (m *maker) changed(ctx context.Context, c *madeCommit, files []string) ([][]int, error) {
	out, lines := make([][]int, len(files)), 0
	for i, name := range files {
		diff, err := exec.CommandContext(ctx, "git", "-C", m.dir, "diff", "-U0", "--no-color", "--no-renames", c.parent, c.hash, "--", name).Output()
		if err != nil {
			return nil, ctx.Err() // a partial clone may lack what the file became
		}
		lines += bytes.Count(diff, []byte("\n-")) + bytes.Count(diff, []byte("\n+"))
		if lines > maxLines {
			return nil, nil
		}
		for _, h := range hunk.FindAllSubmatch(diff, -1) {
			from, _ := strconv.Atoi(string(h[1]))
			count := 1
			if h[2] != nil {
				count, _ = strconv.Atoi(string(h[2]))
			}
			for line := from; line < from+max(count, 1); line++ {
				out[i] = append(out[i], line)
			}
		}
	}
	return out, nil
}

// symbolsAt are the innermost ones around some lines of some files: up to four,
// with a function among them.
func symbolsAt(seg *segment.Segment, files []string, changed [][]int) []retrieval.Gold {
	var out []retrieval.Gold
	functions := 0
	for i, name := range files {
		k := slices.IndexFunc(seg.Files, func(f segment.File) bool { return f.Path == name })
		if k < 0 {
			return nil
		}
		for _, line := range changed[i] {
			best := innermost(seg, seg.Files[k], line)
			if best < 0 {
				continue
			}
			unit := &seg.Units[best]
			g := retrieval.Gold{File: name, Qual: seg.Qualified(uint32(best)), Kind: string(unit.Kind()), Start: int(unit.Start), End: int(unit.End)}
			if slices.Contains(out, g) {
				continue
			}
			if out = append(out, g); len(out) > maxSymbols {
				return nil
			}
			if k := unit.Kind(); k == pki.Function || k == pki.Method {
				functions++
			}
		}
	}
	if functions == 0 {
		return nil
	}
	return out
}

// innermost is the smallest unit with a line, or -1.
func innermost(seg *segment.Segment, f segment.File, line int) int {
	best := -1
	for u := f.First; u < f.First+f.Count; u++ {
		unit := &seg.Units[u]
		if unit.Kind() == segment.FileKind || int(unit.Start) > line || int(unit.End) < line {
			continue
		}
		if best < 0 || unit.End-unit.Start <= seg.Units[best].End-seg.Units[best].Start {
			best = int(u)
		}
	}
	return best
}

// content is how many words say something.
func (m *maker) content(text string) int {
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 0x80 && terms.Classes[r] == terms.Other }) {
		if len(word) > 1 && !m.stops[strings.ToLower(word)] {
			n++
		}
	}
	return n
}

// queries are what a message asks: its title, all of it, and all of it without
// what names the answer.
func (m *maker) queries(message string, files []string, symbols []retrieval.Gold) map[string]string {
	title, body, _ := strings.Cut(strings.TrimSpace(message), "\n")
	title = strings.TrimSpace(numbers.ReplaceAllString(title, ""))
	body = numbers.ReplaceAllString(trailers.ReplaceAllString(body, ""), "")
	if m.content(title) < leastWords {
		return nil
	}
	full := title
	words := len(strings.Fields(title))
	var rest strings.Builder
	for line := range strings.Lines(strings.TrimSpace(body)) {
		if words += len(strings.Fields(line)); words > maxWords {
			break
		}
		rest.WriteString(line)
	}
	if rest.Len() > 0 {
		full += "\n\n" + strings.TrimSpace(rest.String())
	}
	out := map[string]string{"subject": title, "full": full}
	named := map[string]bool{}
	for _, f := range files {
		named[strings.ToLower(stem(f))], named[strings.ToLower(path.Base(f))] = true, true
		named[strings.ToLower(path.Base(path.Dir(f)))] = true
	}
	for _, s := range symbols {
		for part := range strings.SplitSeq(s.Qual, ".") {
			named[strings.ToLower(part)] = true
		}
	}
	hard := identifier.ReplaceAllStringFunc(conventional.ReplaceAllString(full, ""), func(word string) string {
		if named[strings.ToLower(word)] {
			return ""
		}
		return word
	})
	if m.content(hard) >= leastWords {
		out["hard"] = hard
	}
	return out
}

var identifier = regexp.MustCompile(`[A-Za-z_]\w*`)

func stem(name string) string {
	base, _, _ := strings.Cut(path.Base(name), ".")
	return base
}

// comments makes questions of the first sentences of comments.
func (m *maker) comments(ctx context.Context, repo *repository, base string) ([]retrieval.Record, error) {
	tree, err := repo.tree(ctx, base)
	if err != nil {
		return nil, err
	}
	var out []retrieval.Record
	seen := map[string]bool{}
	for _, i := range m.random.Perm(len(tree)) {
		f := tree[i]
		if len(out) >= ofComments {
			break
		}
		if !madeLanguages[path.Ext(f.path)] || strings.Contains(strings.ToLower(f.path), "test") || strings.Contains(f.path, "example") {
			continue
		}
		data, err := repo.read(f.sha)
		if errors.Is(err, errMissing) || len(data) > 300_000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		symbols, err := treesitter.Extract(treesitter.Language(filepath.Base(f.path), data), data)
		if err != nil {
			continue
		}
		n := 0
		for _, k := range m.random.Perm(len(symbols)) {
			s := &symbols[k]
			if n == 2 || s.DocEnd <= s.DocStart || s.Kind != pki.Function && s.Kind != pki.Method {
				continue
			}
			sentence, _, _ := strings.Cut(s.Doc, "\n\n")
			sentence, _, _ = strings.Cut(strings.Join(strings.Fields(sentence), " "), ". ")
			// A comment that begins with the name says where it belongs.
			sentence = strings.TrimSpace(strings.TrimPrefix(sentence, s.Name+" "))
			if m.content(sentence) <= leastWords || len(sentence) > 250 || strings.Contains(sentence, "@") || seen[sentence] {
				continue
			}
			seen[sentence] = true
			n++
			first := 1 + bytes.Count(data[:s.DocStart], []byte("\n"))
			last := 1 + bytes.Count(data[:max(s.DocStart, s.DocEnd-1)], []byte("\n"))
			r := retrieval.Record{ID: fmt.Sprintf("%s#d%d", m.repo, len(out)), Set: "made comments", Repo: m.repo, Lang: strings.TrimPrefix(path.Ext(f.path), "."), Commit: base,
				Files: []string{f.path}, Symbols: []retrieval.Gold{{File: f.path, Qual: s.Qualified, Kind: string(s.Kind), Start: s.StartLine, End: s.EndLine}},
				Queries: map[string]string{"full": sentence}}
			if len(out)%leftIn < leftIn-1 {
				r.DocStart, r.DocEnd, r.Together = first, last, true
			}
			out = append(out, r)
		}
	}
	return out, nil
}
