package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// Node is what a name has in its directory, no link followed.
type Node struct {
	Exists bool
	Dir    bool
	Link   string // target, of a symbolic link
	Exec   bool   // of a file: who reads it may execute it
}

// NodeOf returns the node of a name in a view: what the view itself knows of
// it, or what the disk below has. What does not exist is no error.
func NodeOf(files Files, name string) (Node, error) {
	if f, ok := files.(interface {
		Node(name string) (Node, error)
	}); ok {
		return f.Node(name)
	}
	disk, _ := files.Base()
	if disk == nil {
		return Node{}, &fs.PathError{Op: "lstat", Path: name, Err: errors.ErrUnsupported}
	}
	return disk.Node(name)
}

// Node returns the node of a name.
func (d *Disk) Node(name string) (Node, error) {
	f, rel, err := d.locate(name)
	if err == nil && f == nil {
		return Node{Exists: true, Dir: true}, nil
	}
	var info fs.FileInfo
	if err == nil {
		info, err = f.root.Lstat(rel)
	}
	switch {
	case isAbsent(err):
		return Node{}, nil
	case err != nil:
		return Node{}, pathError("lstat", name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := f.root.Readlink(rel)
		return Node{Exists: true, Link: target}, err
	}
	return Node{Exists: true, Dir: info.IsDir(), Exec: IsExec(info.Mode())}, nil
}

// LeadsOut reports whether a link of that name and target leads out of the
// view, or to what is protected or may hold secrets.
func LeadsOut(name, target string) bool {
	if filepath.IsAbs(target) || path.IsAbs(target) {
		return true
	}
	// A name before a .. may be another link, which leads anywhere.
	down := false
	for part := range strings.SplitSeq(filepath.ToSlash(target), "/") {
		if part == ".." && down {
			return true
		}
		down = down || part != ".." && part != "." && part != ""
	}
	to := path.Join(path.Dir(name), filepath.ToSlash(target))
	return !fs.ValidPath(to) || Protected(to) != NotProtected || Sensitive(to)
}

// IsExec reports whether a mode makes a file executable, as git sees it.
func IsExec(m fs.FileMode) bool { return m&0o100 != 0 }

// execBit is whether a file is to be executable: 0 says nothing.
type execBit int8

const (
	isExec  execBit = 1
	notExec execBit = -1
)

func execOf(m fs.FileMode) execBit {
	if IsExec(m) {
		return isExec
	}
	return notExec
}

func (s version) exec() execBit {
	if s.Exec == 0 && s.Meta != nil {
		return execOf(s.Meta.Mode)
	}
	return s.Exec
}

// meta is what the file has besides its text, once it is as s says.
func (s version) meta() *meta {
	if s.Exec == 0 || s.Meta == nil {
		return s.Meta
	}
	m := *s.Meta
	m.Mode &^= 0o111
	if s.Exec == isExec {
		m.Mode |= m.Mode & 0o444 >> 2 // who may read it
	}
	return &m
}

// chmod makes the execute bits of a file that there was those of mode.
func (e *entry) chmod(mode fs.FileMode) {
	if mode == 0 || !keepsExec {
		return
	}
	if e.new.Meta == nil {
		e.new.Perm = mode.Perm()
		return
	}
	e.new.Exec = execOf(mode)
	if e.old.Meta != nil {
		e.old.Exec = execOf(e.old.Meta.Mode) // what rolling back makes of it
	}
}

// playLink makes, in memory, a change that is about a link itself.
func (p *planner) playLink(c Change) error {
	if c.From != "" || c.Before == nil && c.After == nil || c.AfterLink && (len(c.After) == 0 || bytes.IndexByte(c.After, 0) >= 0) {
		return fmt.Errorf("%w: the change is none of a link", fs.ErrInvalid)
	}
	e, err := p.find(c.Path, true)
	if err != nil {
		return err
	}
	have := e.new
	switch {
	case c.Before == nil && have.Exists:
		return fmt.Errorf("%w: it exists", ErrConflict)
	case c.Before != nil && !have.Exists:
		return fmt.Errorf("%w: it does not exist", ErrConflict)
	case c.Before != nil && c.BeforeLink != (have.Link != ""):
		return fmt.Errorf("%w: a link took the place of a file, or a file that of a link", ErrConflict)
	case c.BeforeLink && have.Link != string(c.Before), !c.BeforeLink && !bytes.Equal(have.Data, c.Before):
		return fmt.Errorf("%w: it is another", ErrConflict)
	}
	switch {
	case c.After == nil:
		e.new = version{}
	case c.AfterLink:
		e.new = version{Exists: true, Link: string(c.After)}
	default:
		e.new = version{Exists: true, Data: c.After, Perm: cmp.Or(c.Mode.Perm(), 0o644)}
	}
	return p.count(c.After)
}
