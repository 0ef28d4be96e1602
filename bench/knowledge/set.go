package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// record is one line of a query set.
type record struct {
	ID      string            `json:"id"`
	Set     string            `json:"set"`
	Repo    string            `json:"repo"`
	Mirror  string            `json:"mirror"`
	Lang    string            `json:"lang"`
	Commit  string            `json:"commit"`
	Queries map[string]string `json:"queries"`
	Files   []string          `json:"gold_files"`
	Symbols []goldSymbol      `json:"gold_symbols"`

	DocStart int `json:"doc_start"`
	DocEnd   int `json:"doc_end"`
}

type goldSymbol struct {
	File  string `json:"file"`
	Qual  string `json:"qual"`
	Kind  string `json:"kind"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// readSets reads every .jsonl file of a directory.
func readSets(dir string) ([]record, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no .jsonl file", dir)
	}
	slices.Sort(names)
	var all []record
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		d := json.NewDecoder(bufio.NewReader(f))
		for {
			var r record
			if err = d.Decode(&r); err != nil {
				break
			}
			all = append(all, r)
		}
		f.Close()
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

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

func openRepository(dir string) (*repository, error) {
	r := &repository{dir: dir, cmd: exec.Command("git", "-C", dir, "cat-file", "--batch")}
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

// blob is a file of a tree.
type blob struct{ path, sha string }

// tree lists the files of a commit.
func (r *repository) tree(commit string) ([]blob, error) {
	out, err := exec.Command("git", "-C", r.dir, "ls-tree", "-r", "-z", commit).Output()
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

// read returns a blob's bytes.
func (r *repository) read(sha string) ([]byte, error) {
	if _, err := fmt.Fprintln(r.in, sha); err != nil {
		return nil, err
	}
	head, err := r.out.ReadString('\n')
	if err != nil {
		return nil, err
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
