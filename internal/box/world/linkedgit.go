package world

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// A linked working tree and a submodule have their repository outside of the folder, where
// no layer keeps what commands write. Where that waits for review, commands find a
// repository in the folder instead: a copy of what git changes, which borrows the objects.

// lendRepository gives commands that repository, unless l is nil, and gives up what they
// did to an earlier one when the user's own has changed. No command runs.
func lendRepository(w *world, l *Linked) error {
	if w.kind != Overlay {
		l = nil
	}
	if l != nil && inTables(l.Common) {
		if l = nil; isNews(w, "tables", "linked") {
			w.lost = append(w.lost, "The repository of this working tree keeps references in tables (reftable), which can't be copied for commands: where edits wait they can't commit or change branches. git_commit can; git refs migrate --ref-format=files changes how it keeps them.")
		}
	}
	if l == nil && w.linked != nil {
		noteLost(w)
		bringBack(w)
		if err := osfile.RemoveAll(privateOf(w)); err != nil {
			return err
		}
		forgetCommits(w)
	}
	w.linked = l
	w.dropGit()
	if l == nil {
		return nil
	}
	if _, err := os.Lstat(privateOf(w)); err == nil {
		return nil
	}
	made := filepath.Join(w.dir, trashDir, "git")
	if err := osfile.RemoveAll(made); err != nil {
		return err
	}
	if err := l.copyTo(made, w.root); err != nil {
		return err
	}
	return os.Rename(made, privateOf(w))
}

// What is copied of a repository, at most.
const (
	maxGitFile  = 256 << 20
	maxGitFiles = 50_000
)

// copyTo makes a repository in dir for the working tree root.
func (l *Linked) copyTo(dir, root string) error {
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o755), os.Mkdir(filepath.Join(dir, "objects", "pack"), 0o755)); err != nil {
		return err
	}
	c := gitCopy{}
	without := []string{"commondir", "gitdir", "sidecar", "objects", "modules", "worktrees", "hooks", "info", "config", settingsOfTree, "lfs", "annex"}
	err := errors.Join(
		c.tree(l.Own, dir, without),
		c.tree(filepath.Join(l.Own, "info"), filepath.Join(dir, "info"), nil),
	)
	if l.Common != l.Own {
		for _, name := range []string{"refs", "packed-refs", "shallow", "logs/refs/stash", "logs/refs/heads", "info", "hooks"} {
			err = errors.Join(err, c.tree(filepath.Join(l.Common, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name)), nil))
		}
	} else {
		err = errors.Join(err, c.tree(filepath.Join(l.Own, "hooks"), filepath.Join(dir, "hooks"), nil))
	}
	if err != nil {
		return err
	}
	return errors.Join(
		l.settingsTo(dir, root),
		os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(filepath.Join(l.Common, "objects")+"\n"), 0o644),
	)
}

// settingsOfTree is the file of settings that a working tree does not share.
const settingsOfTree = "config.worktree"

// settingsTo writes the settings of such a repository. The last of a setting counts: it is
// not bare, and its files are the folder's.
func (l *Linked) settingsTo(dir, root string) error {
	read := l.Settings
	if read == nil {
		read = os.ReadFile
	}
	for from, name := range map[string]string{filepath.Join(l.Common, "config"): "config", filepath.Join(l.Own, settingsOfTree): settingsOfTree} {
		info, err := os.Lstat(from)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		var text []byte
		switch {
		case err == nil && info.Mode().IsRegular() && info.Size() > 0 && !standIn(info):
			if text, err = read(from); err != nil {
				return err
			}
		case name == settingsOfTree:
			continue
		}
		text = append(text, fmt.Appendf(nil, "\n[core]\n\tbare = false\n\tworktree = %s\n", quoted(root))...)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// quoted is a value as a file of git's settings has it.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// gitCopy copies regular files, and counts them.
type gitCopy struct{ files int }

// tree copies what is at from, a file or a directory, but for some names in it. Commands of
// another session may change that for real meanwhile: a link leads nowhere out of it.
func (c *gitCopy) tree(from, to string, without []string) error {
	in, err := os.OpenRoot(filepath.Dir(from))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		if slices.Contains(without, rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular() || strings.HasSuffix(rel, ".lock") || strings.HasSuffix(rel, ".sample"):
			return nil
		}
		if c.files++; c.files > maxGitFiles {
			return fmt.Errorf("%s has more than %d files", from, maxGitFiles)
		}
		return copyGitFile(in, filepath.Join(filepath.Base(from), rel), target)
	})
}

// copyGitFile copies a file with its time: by that of the index git tells what may have
// changed since.
func copyGitFile(in *os.Root, from, to string) error {
	f, err := in.OpenFile(from, os.O_RDONLY|nonBlock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil // as where it is not while it is listed
	}
	if info.Size() > maxGitFile {
		return fmt.Errorf("%s is larger than %d MiB", from, maxGitFile>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(filepath.Dir(to), 0o755),
		os.WriteFile(to, data, info.Mode().Perm()|0o600),
		os.Chtimes(to, info.ModTime(), info.ModTime()),
	)
}
