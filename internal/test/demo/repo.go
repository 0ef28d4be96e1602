package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

//go:embed testdata/tally.txtar
var tally []byte

// began is the first commit of the repository.
const began = "tally counts words"

// sample returns the files of the repository, and how those that the demo
// changes must look at the end.
func sample() (files, want map[string]string) {
	files, want = map[string]string{}, map[string]string{}
	for _, f := range txtar.Parse(tally).Files {
		if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
			want[name] = string(f.Data)
		} else {
			files[f.Name] = string(f.Data)
		}
	}
	return files, want
}

// makeSample makes the repository in a directory of the user's, which is not there or empty.
func makeSample(ctx context.Context, dir string, w io.Writer) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if there, err := os.ReadDir(dir); len(there) > 0 {
		return fmt.Errorf("%s is not empty: name a new directory", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d := &demo{ctx: ctx, dir: filepath.Dir(dir), repo: dir}
	d.files, _ = sample()
	if err := d.make(dir, began); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "The sample repository is in %s\n", dir)
	return err
}

// clone makes the repository and clones it to d.repo.
func (d *demo) clone() error {
	origin := filepath.Join(d.dir, "origin")
	if err := d.make(origin, began); err != nil {
		return err
	}
	_, err := d.git("clone", "-q", origin, d.repo)
	return err
}

// make writes the files into a directory, and commits them.
func (d *demo) make(dir, message string) error {
	for name, text := range d.files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"-C", dir, "init", "-q", "-b", "main"},
		{"-C", dir, "add", "."},
		{"-C", dir, "commit", "-q", "-m", message},
	} {
		if _, err := d.git(args...); err != nil {
			return err
		}
	}
	return nil
}

// git runs git with no settings but its own.
func (d *demo) git(args ...string) (string, error) {
	return d.command(append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=demo", "GIT_AUTHOR_EMAIL=demo@example.com", "GIT_COMMITTER_NAME=demo", "GIT_COMMITTER_EMAIL=demo@example.com"),
		"git", args...)
}

// command runs a program in the clone, or beside it while there is none.
func (d *demo) command(env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(d.ctx, name, args...)
	cmd.Env, cmd.Dir = env, d.repo
	if _, err := os.Stat(d.repo); err != nil {
		cmd.Dir = d.dir
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// read returns a file of the clone, "" if there is none.
func (d *demo) read(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(d.repo, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// same checks that files of the clone are as told.
func (d *demo) same(want map[string]string) error {
	for name, text := range want {
		got, err := d.read(name)
		if err != nil {
			return err
		}
		if got != text {
			return fmt.Errorf("%s on disk is not as it should be; it has\n%s\nand should have\n%s", name, got, text)
		}
	}
	return nil
}
