package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// repository is a git directory; its objects are read by one git process.
type repository struct {
	dir string
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// findRepository looks for a repository under the names that a directory of
// mirrors may give it.
func findRepository(mirrors string, names ...string) string {
	for _, name := range names {
		owner, base, _ := strings.Cut(name, "/")
		for _, dir := range []string{owner + "+" + base, owner + "__" + base, filepath.Join(owner, base), base, base + ".git"} {
			for _, sub := range []string{"repo", "repo/.git", ".git", "."} {
				path := filepath.Join(mirrors, dir, sub)
				if _, err := os.Stat(filepath.Join(path, "objects")); err == nil {
					return path
				}
			}
		}
	}
	return ""
}

func openRepository(ctx context.Context, dir string) (*repository, error) {
	r := &repository{dir: dir, cmd: exec.CommandContext(ctx, "git", "-C", dir, "cat-file", "--batch")}
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReaderSize(out, 1<<20)
	return r, r.cmd.Start()
}

func (r *repository) Close() error {
	return errors.Join(r.in.Close(), r.cmd.Wait())
}

// shelf holds open repositories by their directories.
type shelf map[string]*repository

func (s shelf) open(ctx context.Context, dir string) (*repository, error) {
	if r := s[dir]; r != nil {
		return r, nil
	}
	r, err := openRepository(ctx, dir)
	if err == nil {
		s[dir] = r
	}
	return r, err
}

// close ends the git processes, which have nothing to lose.
func (s shelf) close() {
	for _, r := range s {
		_ = r.Close()
	}
}

// blob is a file of a tree.
type blob struct{ path, sha string }

// tree lists the files of a commit.
func (r *repository) tree(ctx context.Context, commit string) ([]blob, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", r.dir, "ls-tree", "-r", "-z", commit).Output()
	if err != nil {
		return nil, err
	}
	var list []blob
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		meta, name, ok := bytes.Cut(entry, []byte{'\t'})
		fields := strings.Fields(string(meta))
		if !ok || len(fields) != 3 || fields[1] != "blob" || fields[0] == "120000" {
			continue
		}
		list = append(list, blob{string(name), fields[2]})
	}
	return list, nil
}

// errMissing: a repository has not all of its files, as a partial clone.
var errMissing = errors.New("the repository lacks the file")

// read returns a blob's bytes.
func (r *repository) read(sha string) ([]byte, error) {
	if _, err := fmt.Fprintln(r.in, sha); err != nil {
		return nil, err
	}
	head, err := r.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(head, " missing\n") {
		return nil, errMissing
	}
	var size int
	if _, err := fmt.Sscanf(head, sha+" blob %d", &size); err != nil {
		return nil, fmt.Errorf("git cat-file: %s", strings.TrimSpace(head))
	}
	data := make([]byte, size+1)
	_, err = io.ReadFull(r.out, data)
	return data[:size], err
}

// blank empties lines from first to last, counted from one.
func blank(data []byte, first, last int) []byte {
	lines := bytes.SplitAfter(data, []byte{'\n'})
	for i := first - 1; i >= 0 && i < last && i < len(lines); i++ {
		lines[i] = []byte{'\n'}
	}
	return bytes.Join(lines, nil)
}
