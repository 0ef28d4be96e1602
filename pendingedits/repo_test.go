package pendingedits_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// repo is a repository in a file: a commit is there or not, whatever crashes.
type repo struct {
	path   string
	fail   func(point string) error
	refuse error // of the next commits
}

// made is a commit in a repo.
type made struct {
	Message string
	Models  []string
	Files   []string // "name=text", or "name gone"
}

func (r *repo) commits() []made {
	data, err := os.ReadFile(r.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var list []made
	if err := errors.Join(err, json.Unmarshal(data, &list)); err != nil {
		panic(err)
	}
	return list
}

func asMade(c pendingedits.CommitRequest) made {
	m := made{Message: c.Message, Models: c.Models}
	for _, f := range c.Files {
		if f.Data == nil {
			m.Files = append(m.Files, f.Name+" gone")
		} else {
			text := string(f.Data)
			if f.Mode&os.ModeSymlink != 0 {
				text = linkMark + text
			}
			m.Files = append(m.Files, f.Name+"="+text)
		}
	}
	return m
}

func (r *repo) point(name string) error {
	if r.fail == nil {
		return nil
	}
	return r.fail(name)
}

func (r *repo) Head(context.Context, pendingedits.CommitRequest) (string, error) {
	return strconv.Itoa(len(r.commits())), nil
}

func (r *repo) Commit(_ context.Context, c pendingedits.CommitRequest) (string, error) {
	if r.refuse != nil {
		return "", r.refuse
	}
	if err := r.point("repo.commit"); err != nil {
		return "", err
	}
	list := append(r.commits(), asMade(c))
	data, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	if err := errors.Join(ownfile.WriteFile(r.path+".new", data, 0o600), ownfile.Rename(r.path+".new", r.path)); err != nil {
		return "", err
	}
	return fmt.Sprint("id", len(list)), r.point("repo.committed")
}

func (r *repo) Made(_ context.Context, head string, c pendingedits.CommitRequest) (string, error) {
	n, err := strconv.Atoi(head)
	if err != nil {
		return "", err
	}
	list, want := r.commits(), asMade(c)
	for i := n; i < len(list); i++ {
		if list[i].Message == want.Message && slices.Equal(list[i].Files, want.Files) {
			return fmt.Sprint("id", i+1), nil
		}
	}
	return "", nil
}

// log is the repository in words, a line for each commit.
func (r *repo) log() string {
	var b strings.Builder
	for _, c := range r.commits() {
		fmt.Fprintf(&b, "%s %q\n", c.Message, c.Files)
	}
	return b.String()
}
