// Package evals measures how well a language model does: an agent does tasks in fresh
// copies, and a check that it can't change says which are solved. How agents and commands
// are run is a Place's.
package evals

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// Task is what an agent is to do, and how to tell whether it has.
type Task struct {
	Name   string   `json:"-"`
	Prompt string   `json:"prompt"`
	Check  []string `json:"check"` // a command; exit code 0 says that the task is solved

	// Changes are the files that the agent may change: names, patterns of path.Match, and
	// directories with a slash at their end. What it changes elsewhere does not count. None
	// is all files but those of the check.
	Changes []string `json:"changes,omitempty"`

	Setup   []string   `json:"setup,omitempty"`   // a command that readies the files
	Needs   [][]string `json:"needs,omitempty"`   // commands that must work, or the task is skipped
	Seconds int        `json:"seconds,omitempty"` // that the agent may take; 0 is usualTime

	// Repository is one to work in a shadow of, by its path; "" is a copy of repo/.
	Repository string `json:"repository,omitempty"`
	Commit     string `json:"commit,omitempty"` // of Repository; "" is HEAD

	files fs.FS // of the task: repo/, check/
}

const usualTime = 10 * time.Minute

func (t *Task) time() time.Duration {
	if t.Seconds > 0 {
		return time.Duration(t.Seconds) * time.Second
	}
	return usualTime
}

// taskFile describes a task in its directory.
const taskFile = "task.json"

// Directories of a task.
const (
	repoDir  = "repo"  // the files that the agent begins with
	checkDir = "check" // files that are laid over them for the check
)

//go:embed tasks/*.txtar
var shipped embed.FS

// Shipped are our own tasks, by their names.
func Shipped() ([]Task, error) {
	list, err := shipped.ReadDir("tasks")
	if err != nil {
		return nil, err
	}
	var all []Task
	for _, e := range list {
		data, err := shipped.ReadFile("tasks/" + e.Name())
		if err != nil {
			return nil, err
		}
		files, err := txtar.FS(txtar.Parse(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		t, err := read(files, strings.TrimSuffix(e.Name(), ".txtar"))
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// In are the tasks in a directory: one, or one in each directory below it that has a
// task.json.
func In(dir string) ([]Task, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, taskFile)); err == nil {
		t, err := readIn(dir)
		return []Task{t}, err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Task
	for _, e := range list {
		below := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(below, taskFile)); err != nil {
			continue
		}
		t, err := readIn(below)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no task in %s: a task is a directory with a %s", dir, taskFile)
	}
	return all, nil
}

func readIn(dir string) (Task, error) {
	t, err := read(os.DirFS(dir), filepath.Base(dir))
	if t.Repository != "" && !filepath.IsAbs(t.Repository) {
		t.Repository = filepath.Join(dir, t.Repository)
	}
	return t, err
}

// read reads the task of a directory.
func read(files fs.FS, name string) (Task, error) {
	t := Task{Name: name, files: files}
	data, err := fs.ReadFile(files, taskFile)
	if err == nil {
		in := json.NewDecoder(bytes.NewReader(data))
		in.DisallowUnknownFields()
		err = in.Decode(&t)
	}
	if err == nil {
		err = t.wrong()
	}
	if err != nil {
		return t, fmt.Errorf("the task %s: %s: %w", name, taskFile, err)
	}
	return t, nil
}

// wrong says what makes no sense in a task.
func (t *Task) wrong() error {
	for _, pattern := range t.Changes {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("changes: %q: %w", pattern, err)
		}
	}
	_, err := fs.Stat(t.files, repoDir)
	switch {
	case strings.TrimSpace(t.Prompt) == "":
		return errors.New("prompt: there is none")
	case !isCommand(t.Check):
		return errors.New("check: there is no command")
	case t.Setup != nil && !isCommand(t.Setup):
		return errors.New("setup: there is no command")
	case slices.ContainsFunc(t.Needs, func(argv []string) bool { return !isCommand(argv) }):
		return errors.New("needs: there is no command")
	case t.Seconds < 0:
		return errors.New("seconds: must not be negative")
	case t.Repository == "" && t.Commit != "":
		return errors.New("commit: there is no repository that it is of")
	case t.Repository == "" && err != nil:
		return fmt.Errorf("there is no directory %s beside it, nor a repository in it", repoDir)
	}
	return nil
}

func isCommand(argv []string) bool { return len(argv) > 0 && argv[0] != "" }

// counts reports whether what an agent does to a file counts.
func (t *Task) counts(name string) bool {
	for _, pattern := range t.Changes {
		if is, _ := path.Match(pattern, name); is || strings.HasSuffix(pattern, "/") && strings.HasPrefix(name, pattern) {
			return true
		}
	}
	return len(t.Changes) == 0
}
