package gitrepo

import (
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/index"
)

// Untracked says which files that git doesn't know are listed.
type Untracked int

// The ways to list them.
const (
	UntrackedNormal Untracked = iota // a directory of only such files as one
	UntrackedAll                     // each
	UntrackedNone                    // none
)

// What a name of the index stands for in its directory.
const (
	isFile = 1 << iota
	isDir
	isModule
)

// compareNames finds what is in a directory and not in the index.
func (w *sweeper) compareNames(d *sweepDir) error {
	if w.sweep.untracked == UntrackedNone || d.excluded || d.listed.Swap(true) {
		return nil
	}
	known := map[string]int{}
	skip := len(d.path)
	for i := d.lo; i < d.hi; {
		full := w.index.NameAt(i)
		name := full[skip:]
		if slash := strings.IndexByte(name, '/'); slash >= 0 {
			known[name[:slash]] |= isDir
			i = w.endOf(full[:skip+slash+1], i, d.hi)
			continue
		}
		known[name] |= isFile
		if w.index.At(i).Mode() == filemode.Submodule {
			known[name] |= isModule
		}
		i++
	}
	again, err := d.handle.Enter([]byte(".\x00")) // to be listed from its beginning
	if err != nil {
		return err
	}
	defer again.Close()
	list, err := again.List(nil)
	if err != nil {
		return err
	}
	for {
		name, typ := list.Next()
		if name == nil {
			return nil
		}
		bare := string(name[:len(name)-1])
		if typ == fs.ModeIrregular {
			if typ = w.kind(d.handle, name); typ == fs.ModeIrregular {
				continue
			}
		}
		as := known[bare]
		if typ.IsDir() && as&(isDir|isModule) != 0 || !typ.IsDir() && as&isFile != 0 || bare == ".git" {
			continue
		}
		if d.rules.Ignored([]byte(bare), typ.IsDir()) {
			continue
		}
		if !typ.IsDir() {
			if w.over.hides(d.path + bare) {
				continue
			}
			w.untracked = append(w.untracked, d.path+bare)
		} else if w.inside(again, name, d.path+bare+"/", d.rules.Enter([]byte(bare))) && as == 0 { // git names none that was a file
			w.untracked = append(w.untracked, d.path+bare+"/")
		}
	}
}

// kind asks for a type that the list didn't tell: fs.ModeSymlink for a link,
// fs.ModeIrregular for what git takes no notice of.
func (w *sweeper) kind(dir workspace.StatDir, name []byte) fs.FileMode {
	if err := dir.Lstat(&name[0], &w.st); err != nil {
		return fs.ModeIrregular
	}
	switch filemode.FileMode(w.st.Mode()) & typeBits {
	case filemode.Dir:
		return fs.ModeDir
	case filemode.Symlink:
		return fs.ModeSymlink
	case regularType:
		return 0
	}
	return fs.ModeIrregular
}

// inside reports whether an untracked directory is to be listed as one: it is a
// repository, or holds a file that isn't ignored. When each file is listed, it
// lists them.
func (w *sweeper) inside(up workspace.StatDir, name []byte, path string, rules workspace.GitRules) bool {
	if w.isRepo(path) {
		return true
	}
	dir, err := up.Enter(name)
	if err != nil {
		return false // as git does: what can't be read is passed over
	}
	defer dir.Close()
	text, laid, err := w.over.text(path + ".gitignore")
	if !laid {
		text, err = dir.ReadFile([]byte(".gitignore\x00"), MaxPattern)
	}
	if err == nil {
		rules.AddFile(text)
	}
	list, err := dir.List(nil)
	if err != nil {
		return false
	}
	for w.ctx.Err() == nil {
		name, typ := list.Next()
		if name == nil {
			return false
		}
		bare := name[:len(name)-1]
		if string(bare) == ".git" {
			continue
		}
		if typ == fs.ModeIrregular {
			if typ = w.kind(dir, name); typ == fs.ModeIrregular {
				continue
			}
		}
		if rules.Ignored(bare, typ.IsDir()) {
			continue
		}
		full := path + string(bare)
		found := !typ.IsDir() && !w.over.hides(full)
		if typ.IsDir() {
			full += "/"
			found = w.inside(dir, name, full, rules.Enter(bare))
		}
		if found && w.sweep.untracked == UntrackedNormal {
			return true
		}
		if found {
			w.untracked = append(w.untracked, full)
		}
	}
	return false
}

// isRepo reports whether a directory has a repository of its own.
func (w *sweeper) isRepo(path string) bool {
	dot := w.r.Dir + "/" + path + ".git"
	if gitfile.IsGitDir(dot) {
		return true
	}
	target, err := gitfile.ReadPointer(dot, "gitdir: ", w.r.Dir+"/"+path)
	return err == nil && gitfile.IsGitDir(target)
}

// inherit takes the rules of the directory above, as they apply in this one.
func (d *sweepDir) inherit(s *sweep) {
	if d.up == nil {
		d.rules = s.r.IgnoreRules()
		return
	}
	name := d.name[:len(d.name)-1]
	if d.excluded = d.up.excluded || d.up.rules.Ignored(name, true); !d.excluded {
		d.rules = d.up.rules.Enter(name)
	}
}

// ownRules puts the directory's own ignore file in force.
func (d *sweepDir) ownRules(s *sweep) {
	if d.excluded {
		return
	}
	if text, err := s.patterns(d.path + ".gitignore"); err == nil {
		d.rules.AddFile(text)
	}
}

// patterns reads a file of patterns, from the index when it is left out of the
// working tree.
func (s *sweep) patterns(path string) ([]byte, error) {
	if text, laid, err := s.over.text(path); laid {
		return text, err
	}
	text, err := gitfile.ReadNoFollow(s.r.Dir+"/"+path, MaxPattern)
	if err == nil || !gitfile.Missing(err) {
		return text, err
	}
	if i, ok := s.index.Find(path); ok && s.index.At(i).Extended()&index.FlagSkipWorktree != 0 {
		return s.r.Objects.ReadType(plumbing.BlobObject, s.index.At(i).Hash())
	}
	return nil, err
}
