package evals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// plain is a Place without a sandbox, whose agent is a function.
type plain struct {
	dir  string
	work func(ctx context.Context, dir string) (Told, error)
	open *atomic.Int64
}

func (p plain) Work(ctx context.Context, _ string, _ Ask) (Told, error) { return p.work(ctx, p.dir) }

func (p plain) Run(ctx context.Context, _ string, argv []string) (Ran, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return Ran{127, err.Error()}, nil
	case errors.As(err, &exit):
		return Ran{exit.ExitCode(), string(out)}, ctx.Err()
	}
	return Ran{0, string(out)}, err
}

func (p plain) Shadow(context.Context, string) (string, string, error) {
	return "", "", errors.New("there are no shadows here")
}
func (p plain) Discard(context.Context, string) error { return nil }

func (p plain) Close() error {
	p.open.Add(-1)
	return nil
}

// evalTasks runs tasks with an agent that is a function.
func evalTasks(t *testing.T, ctx context.Context, o Options, tasks []Task, work func(ctx context.Context, dir string) (Told, error)) (Report, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var open atomic.Int64
	o.Open = func(_ context.Context, dir string) (Place, error) {
		open.Add(1)
		return plain{dir, work, &open}, nil
	}
	r, err := Run(ctx, tasks, o)
	if n := open.Load(); n != 0 {
		t.Errorf("%d places are left open", n)
	}
	if list, _ := os.ReadDir(os.TempDir()); len(list) != 0 != o.Keep {
		t.Errorf("directories that are left: %v", list)
	}
	return r, err
}

func done(ctx context.Context, _ string) (Told, error) { return Told{End: "done"}, ctx.Err() }

// TestShipped: the check of each of our tasks fails for what it begins with, and passes for
// the reference beside it.
func TestShipped(t *testing.T) {
	tasks, err := Shipped()
	if err != nil || len(tasks) != 10 {
		t.Fatalf("%d tasks, %v", len(tasks), err)
	}
	tools := map[string]int{}
	for _, task := range tasks {
		tools[task.Check[0]]++
		t.Run(task.Name, func(t *testing.T) {
			patch, err := fs.ReadFile(task.files, "solution.patch")
			if err != nil {
				t.Fatal(err)
			}
			for name, work := range map[string]func(context.Context, string) (Told, error){
				"nothing": done,
				"the reference": func(ctx context.Context, dir string) (Told, error) {
					cmd := exec.CommandContext(ctx, "git", "apply", "-")
					cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch)
					if out, err := cmd.CombinedOutput(); err != nil {
						return Told{}, fmt.Errorf("%w: %s", err, out)
					}
					return done(ctx, dir)
				},
			} {
				r, err := evalTasks(t, t.Context(), Options{}, []Task{task}, work)
				if err != nil || len(r.Tasks) != 1 {
					t.Fatalf("%s: %+v, %v", name, r, err)
				}
				got := r.Tasks[0]
				if got.Skipped != "" {
					needs.Skip(t, needs.Sandbox, got.Skipped)
				}
				if want := name != "nothing"; got.Solved != want || got.End != "done" || got.Why != "" || len(got.Vain) != 0 || want == (got.Check != "") {
					t.Errorf("%s: %+v", name, got)
				}
			}
		})
	}
	if tools["go"] < 2 || tools["sh"] < 2 || tools["python3"] < 2 {
		t.Errorf("they are checked with %v", tools)
	}
}

// made is a task in a directory of its own.
func made(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "made")
	all := map[string]string{
		"task.json":       `{"prompt": "Make it two.", "check": ["sh", "-c", "sh test.sh && sh hidden.sh"], "changes": ["a.txt", "more/"]}`,
		"repo/a.txt":      "1\n",
		"repo/test.sh":    "[ $(cat a.txt) = 2 ]\n",
		"check/hidden.sh": "[ ! -e zz ] && [ $(cat a.txt) != 3 ]\n",
	}
	maps.Copy(all, files)
	for name, text := range all {
		file := filepath.Join(dir, name)
		if err := errors.Join(ownfile.MkdirAll(filepath.Dir(file), 0o755), ownfile.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func tasksIn(t *testing.T, dir string) []Task {
	t.Helper()
	all, err := In(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestJudge: only what an agent may change counts, whatever else it does.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		does   string // in the shell
		solved bool
		vain   []string
	}{
		"solved":                {"echo 2 > a.txt", true, nil},
		"nothing":               {"true", false, nil},
		"wrong":                 {"echo 3 > a.txt", false, nil},
		"the test is changed":   {"echo true > test.sh", false, []string{"test.sh"}},
		"both":                  {"echo false > test.sh; echo 2 > a.txt", true, []string{"test.sh"}},
		"the test is gone":      {"rm test.sh; echo 2 > a.txt", true, []string{"test.sh"}},
		"more files":            {"touch zz; echo 2 > a.txt", true, nil},
		"the hidden test":       {"echo true > hidden.sh; echo 3 > a.txt", false, nil},
		"hidden as a directory": {"mkdir hidden.sh; echo 2 > a.txt", true, nil},
		"a link":                {"echo 2 > b.txt; ln -sf b.txt a.txt", false, nil},
		"out of there":          {"ln -s .. more; echo 2 > a.txt", true, nil},
		"gone":                  {"rm a.txt", false, nil},
		"no repository":         {"rm -rf .git; echo 2 > a.txt", true, nil},
		"not to be removed":     {"mkdir -p more/x && touch more/x/y && chmod 500 more/x; echo 2 > a.txt", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := evalTasks(t, t.Context(), Options{}, tasksIn(t, made(t, nil)), func(ctx context.Context, dir string) (Told, error) {
				cmd := exec.CommandContext(ctx, "sh", "-c", c.does)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					err = fmt.Errorf("%w: %s", err, out)
				}
				return Told{End: "done"}, err
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Tasks[0]; got.Solved != c.solved || !slices.Equal(got.Vain, c.vain) || got.End != "done" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSetup: files are readied before the agent and before the check, and what is missing
// skips a task.
func TestSetup(t *testing.T) {
	task := func(more string) []Task {
		return tasksIn(t, made(t, map[string]string{"task.json": `{"prompt": "x", "check": ["sh", "check.sh"], ` + more + `}`, "check/check.sh": "[ $(cat ready) = yes ] && [ -e made ]\n"}))
	}
	work := func(ctx context.Context, dir string) (Told, error) {
		data, err := os.ReadFile(filepath.Join(dir, "ready"))
		if err == nil && string(data) != "yes\n" {
			err = fmt.Errorf("it is %q", data)
		}
		return Told{End: "done"}, errors.Join(err, ownfile.WriteFile(filepath.Join(dir, "made"), nil, 0o644))
	}
	for more, want := range map[string]Result{
		`"setup": ["sh", "-c", "echo yes > ready"]`:                           {Solved: true, End: "done"},
		`"setup": ["sh", "-c", "echo yes > ready"], "changes": ["made"]`:      {Solved: true, End: "done"},
		`"setup": ["sh", "-c", "echo because; exit 3"]`:                       {End: broken, Why: "because"},
		`"needs": [["sh", "-c", "exit 4"]], "setup": ["no-such-program"]`:     {Skipped: "exit code 4"},
		`"needs": [["sh", "-c", "true"], ["no-such-program-x", "--version"]]`: {Skipped: "no-such-program-x --version does not work here: exit code 127"},
		`"setup": ["no-such-program-x"]`:                                      {End: broken, Why: "127"},
		`"repository": "nowhere"`:                                             {End: broken, Why: "no shadows"},
	} {
		r, err := evalTasks(t, t.Context(), Options{}, task(more), work)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Tasks[0]
		if got.Solved != want.Solved || got.End != want.End || !strings.Contains(got.Why, want.Why) || !strings.Contains(got.Skipped, want.Skipped) || (got.Skipped == "") != (want.Skipped == "") {
			t.Errorf("%s: %+v", more, got)
		}
		if r.Broken() != (want.End == broken) || r.Sum.Skipped+r.Sum.Tasks != 1 {
			t.Errorf("%s: the sum is %+v", more, r.Sum)
		}
	}
}

// TestEnds: an agent that takes too long, and one that fails; the check decides all the same.
func TestEnds(t *testing.T) {
	tasks := tasksIn(t, made(t, map[string]string{"task.json": `{"prompt": "x", "check": ["sh", "test.sh"], "seconds": 1}`}))
	r, err := evalTasks(t, t.Context(), Options{}, tasks, func(ctx context.Context, dir string) (Told, error) {
		if err := ownfile.WriteFile(filepath.Join(dir, "a.txt"), []byte("2\n"), 0o644); err != nil {
			return Told{}, err
		}
		<-ctx.Done()
		return Told{End: "interrupted", Steps: 3, Tokens: 10, Cost: 0.5, Priced: true, Refused: 1}, ctx.Err()
	})
	if got := r.Tasks[0]; err != nil || !got.Solved || got.End != timedOut || got.Steps != 3 || got.Seconds < 1 || got.Cost == nil || *got.Cost != 0.5 || got.Refused != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	r, err = evalTasks(t, t.Context(), Options{}, tasks, func(context.Context, string) (Told, error) { return Told{}, errors.New("no model") })
	if got := r.Tasks[0]; err != nil || got.Solved || got.End != broken || got.Why != "no model" || got.Cost != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAtOnce: so many run at once, in any order, and are reported in theirs.
func TestAtOnce(t *testing.T) {
	one := tasksIn(t, made(t, nil))[0]
	var tasks []Task
	for i := range 5 {
		task := one
		task.Name = fmt.Sprint("task-", i)
		tasks = append(tasks, task)
	}
	together := make(chan string)
	var now, most, told atomic.Int64
	r, err := evalTasks(t, t.Context(), Options{AtOnce: 2, Done: func(Result) { told.Add(1) }}, tasks[:4], func(ctx context.Context, dir string) (Told, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		select { // each meets another one
		case together <- dir:
		case <-together:
		}
		now.Add(-1)
		return done(ctx, dir)
	})
	if err != nil || len(r.Tasks) != 4 || most.Load() > 2 || told.Load() != 4 || r.Sum.Tasks != 4 {
		t.Errorf("%+v, %v, %d at once", r, err, most.Load())
	}
	for i, got := range r.Tasks {
		if got.Task != fmt.Sprint("task-", i) {
			t.Errorf("%d is %s", i, got.Task)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	var begun atomic.Int64
	r, err = evalTasks(t, ctx, Options{AtOnce: 2}, tasks, func(ctx context.Context, dir string) (Told, error) {
		if begun.Add(1) < 3 {
			return done(ctx, dir)
		}
		cancel()
		<-ctx.Done()
		return Told{End: "interrupted", Steps: 2}, ctx.Err()
	})
	ends := map[string]int{}
	for _, got := range r.Tasks {
		ends[got.End]++
	}
	if !errors.Is(err, context.Canceled) || len(r.Tasks) == 5 || len(r.Tasks) < 3 || ends[interrupted] < 1 || ends["done"]+ends[interrupted] != len(r.Tasks) {
		t.Errorf("after an interrupt: %+v, %v", r, err)
	}
}

// TestKeep: the directories are left.
func TestKeep(t *testing.T) {
	r, err := evalTasks(t, t.Context(), Options{Keep: true}, tasksIn(t, made(t, nil)), func(ctx context.Context, dir string) (Told, error) {
		return Told{End: "done"}, ownfile.WriteFile(filepath.Join(dir, "a.txt"), []byte("4\n"), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(r.Tasks[0].Dir, "a.txt")); err != nil || string(data) != "4\n" {
		t.Errorf("%q, %v", data, err)
	}
	log, err := exec.Command("git", "-C", r.Tasks[0].Dir, "log", "--format=%s").CombinedOutput()
	if err != nil || string(log) != "The beginning\n" {
		t.Errorf("%s, %v", log, err)
	}
}

// TestIn: what makes no sense is refused with the name of the task.
func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "unexpected EOF", `{"prompt": "x", "check": ["a"], "chek": 1}`: "chek", `{"check": ["a"]}`: "prompt", `{"prompt": " ", "check": ["a"]}`: "prompt",
		`{"prompt": "x"}`: "check", `{"prompt": "x", "check": [""]}`: "check", `{"prompt": "x", "check": ["a"], "setup": []}`: "setup",
		`{"prompt": "x", "check": ["a"], "needs": [[]]}`: "needs", `{"prompt": "x", "check": ["a"], "seconds": -1}`: "seconds",
		`{"prompt": "x", "check": ["a"], "changes": ["["]}`: "changes", `{"prompt": "x", "check": ["a"], "commit": "HEAD"}`: "commit",
	} {
		if _, err := In(made(t, map[string]string{"task.json": text})); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "made") {
			t.Errorf("%s: %v", text, err)
		}
	}
	dir := made(t, nil)
	if all := tasksIn(t, filepath.Dir(dir)); len(all) != 1 || all[0].Name != "made" {
		t.Errorf("around it there are %+v", all)
	}
	if err := ownfile.RemoveAll(filepath.Join(dir, "repo")); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{dir: "repo", t.TempDir(): "no task", filepath.Join(dir, "none"): "none"} {
		if _, err := In(where); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", where, err)
		}
	}
	dir = made(t, map[string]string{"task.json": `{"prompt": "x", "check": ["a"], "repository": "..", "commit": "HEAD"}`})
	if got := tasksIn(t, dir)[0].Repository; got != filepath.Dir(dir) {
		t.Errorf("the repository is %q", got)
	}
}

// TestTable: what people read.
func TestTable(t *testing.T) {
	cost := 0.0123
	r := Report{Tasks: []Result{
		{Task: "first", Solved: true, Steps: 4, Tokens: 1200, Cost: &cost, Seconds: 12.34, End: "done"},
		{Task: "second", Steps: 9, Tokens: 800, Seconds: 60, Refused: 2, End: "budget", Why: "The budget is used up.\nMore.", Vain: []string{"x_test.go"}},
		{Task: "third", Skipped: "go version does not work here: exit code 127"},
	}}
	r.sum()
	var b strings.Builder
	if err := r.Table(&b); err != nil {
		t.Fatal(err)
	}
	want := `TASK    SOLVED    STEPS  TOKENS  COST     TIME    EDITS REFUSED  END
first   yes       4      1200    $0.0123  12.3s   0              done
second  no        9      800     -        1m0s    2              budget: The budget is used up.; what it changed in x_test.go does not count
third   skipped                                                  go version does not work here: exit code 127
all 2   1 (50 %)  13     2000    $0.0123  1m12.3s  2              
`
	if squeeze(b.String()) != squeeze(want) {
		t.Errorf("it prints\n%s", b.String())
	}
	if s := r.Sum; s.Share != 0.5 || s.Skipped != 1 || s.Refused != 2 || s.Cost == nil || *s.Cost != cost {
		t.Errorf("the sum is %+v", s)
	}
}

// squeeze makes columns of any width one space.
func squeeze(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}
