package world

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// found is what a layer has, by what becomes of it.
type found struct {
	files   map[string]bool // files and links that are reviewed
	gone    []string        // names that it hides
	output  []output        // what nobody reviews, the top of each
	apart   map[string]bool // what is in output, and decided on its own
	dropped map[string][]string
}

// output is a tree that nobody reviews.
type output struct {
	rel     string
	stays   bool // it never goes to the folder: it is ignored by a rule that a command made
	partial bool // it is only a part of what the folder has, which is too large for a copy
}

// drop notes what is not taken over.
func (f *found) drop(why, rel string) { f.dropped[why] = append(f.dropped[why], rel) }

// walking is a walk through what is in a layer.
type walking struct {
	w       *world
	f       *found
	tracked func(string) bool
	hollows map[stamp]bool // what stands in for what no command may read
}

func (w *world) walk() *found {
	f := &found{files: map[string]bool{}, apart: map[string]bool{}, dropped: map[string][]string{}}
	k := &walking{w: w, f: f, tracked: w.o.Tracked(w.root), hollows: w.layer.hollows()}
	top, err := osfile.OpenDir(w.upper())
	if err != nil {
		f.drop("it can't be read", ".")
		return f
	}
	defer top.Close()
	k.dir(top, ".", w.rules, rules{}, false)
	return f
}

// dir looks at a directory. old are the rules of what git ignored before the
// commands, made those of what it would ignore now. ignored: it is.
func (k *walking) dir(dir *osfile.Dir, rel string, old, made rules, ignored bool) {
	entries, err := list(dir.Root, ".")
	if err != nil {
		k.f.drop("it can't be read", rel)
		return
	}
	old, made = old.at(k.w.before(rel, ".gitignore")), made.at(k.now(dir, entries))
	seen := map[string]bool{}
	for _, e := range entries {
		seen[e.Name()] = true
	}
	hidden := k.w.layer.gone(rel, seen)
	slices.SortFunc(hidden, func(a, b gone) int { return strings.Compare(a.name, b.name) })
	same := k.respelled(dir, rel, entries, hidden)
	spelled := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if as := same[name]; as != "" {
			name = as
			spelled[as] = true
		}
		if info, err := dir.Lstat(name); err == nil { // else it went
			k.entry(dir, path.Join(rel, name), info, old, made, ignored)
		}
	}
	for _, g := range hidden {
		if !spelled[g.name] {
			k.goneBelow(path.Join(rel, g.name), g.dir, old, ignored)
		}
	}
}

// respelled are those of the names in a directory by which the folder finds what it has
// under another spelling, which is gone: to take one for a new file, and the other for a
// deleted one, would delete the file. What was renamed so keeps the folder's name.
func (k *walking) respelled(dir *osfile.Dir, rel string, entries []fs.DirEntry, hidden []gone) map[string]string {
	if len(hidden) == 0 {
		return nil
	}
	var same map[string]string
	byKey := map[string][]fs.DirEntry{}
	for _, e := range entries {
		key := anySpelling.Key(e.Name())
		byKey[key] = append(byKey[key], e)
	}
	for _, g := range hidden {
		if k.w.held[path.Join(rel, g.name)] != nil {
			continue
		}
		for _, e := range byKey[anySpelling.Key(g.name)] {
			name := path.Join(rel, e.Name())
			if k.w.held[name] != nil {
				continue
			}
			low := filepath.Join(k.w.root, filepath.FromSlash(name))
			if _, err := os.Lstat(low); err != nil || spelledSo(low) {
				continue // they are two names there
			}
			if same == nil {
				same = map[string]string{}
			}
			same[e.Name()] = g.name
			k.f.drop("only the spelling of its name is new, so it keeps the name it has in the workspace", name)
			respell(dir, e.Name(), g.name)
			break
		}
	}
	return same
}

// respell gives a name in a directory another spelling, in two steps: many systems do
// nothing when they are told to do it in one.
func respell(dir *osfile.Dir, from, to string) {
	between := from + ".sidecar.tmp"
	if _, err := dir.Lstat(between); err == nil || dir.Rename(from, between) != nil {
		return // it is said again
	}
	if dir.Rename(between, to) != nil {
		_ = dir.Rename(between, from)
	}
}

// anySpelling takes for one name what any file system does.
var anySpelling = workspace.Folding{Case: true, Forms: true}

// spelledSo reports whether what is at a path has that name, and not another spelling
// of it, by which it is found too.
func spelledSo(at string) bool {
	dir, base := filepath.Split(at)
	other := strings.Map(func(r rune) rune {
		if up := unicode.ToUpper(r); up != r {
			return up
		}
		return unicode.ToLower(r)
	}, base)
	if !strings.ContainsFunc(base, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if _, err := os.Lstat(filepath.Join(dir, other)); other == base || err != nil {
			return true
		}
	}
	f, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return err != nil || slices.Contains(names, base)
}

func (k *walking) entry(dir *osfile.Dir, rel string, info fs.FileInfo, old, made rules, ignored bool) {
	name := path.Base(rel)
	switch {
	case k.w.layer.original(rel, info):
		return
	case k.w.layer.shut(rel):
		k.f.drop(hiddenFrom, rel)
		return
	case info.Mode().IsRegular() && k.hollows[stampFrom(info).anyName()]: // it was given another name
		k.f.drop(hiddenFrom, rel)
		_ = removeAll(dir.Root, name)
		return
	case workspace.Protected(name) == workspace.Never:
		if rel != ".git" && rel != ".sidecar" && !standIn(info) {
			k.f.drop("a repository that a command makes is not taken over", rel)
		}
		return
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		k.f.drop("its name can't be shown", fmt.Sprintf("%q", rel))
		return
	case isWhiteout(info):
		low, err := os.Lstat(filepath.Join(k.w.root, filepath.FromSlash(rel)))
		k.goneBelow(rel, err == nil && low.IsDir(), old, ignored)
		return
	case standIn(info) && workspace.Protected(rel) != workspace.NotProtected && isEmpty(dir, info, name):
		return
	}
	skip := ignored || old.ignored(name, info.IsDir())
	stays := !skip && made.ignored(name, info.IsDir()) && stampOf(filepath.Join(k.w.root, filepath.FromSlash(rel))) == (stamp{})
	if k.reviewed(rel, info.IsDir()) {
		skip, stays = false, false
	}
	out := output{rel, stays, k.w.layer.keeps(rel)}
	if low, err := os.Lstat(filepath.Join(k.w.root, filepath.FromSlash(rel))); err == nil && low.IsDir() != info.IsDir() && !skip {
		k.goneBelow(rel, low.IsDir(), old, ignored) // one took the place of the other
	}
	switch {
	case info.IsDir():
		sub, err := dir.Sub(name)
		if err != nil && errors.Is(err, fs.ErrPermission) && dir.Chmod(name, 0o700) == nil { // a command locked it
			sub, err = dir.Sub(name)
		}
		if err != nil {
			k.f.drop("it can't be read", rel)
			return
		}
		defer sub.Close()
		switch {
		case !inDependencies(rel) && !skip && !stays:
		case k.below(rel):
			skip = true // and what is reviewed in it says so itself
		case !k.w.layer.whole(rel):
			skip = true
		default:
			k.f.output = append(k.f.output, out)
			k.splitOff(sub, rel)
			return
		}
		if isRepositoryIn(sub) && !isRepository(filepath.Join(k.w.root, filepath.FromSlash(rel))) {
			k.f.drop("a repository that a command makes is not taken over", rel)
			return
		}
		k.dir(sub, rel, old.enter(name), made.enter(name), skip)
	case info.Mode().Type()&^fs.ModeSymlink != 0:
		k.f.drop(isSpecial, rel)
	case (skip || stays || inDependencies(rel)) && !k.w.holds() && k.decidedApart(dir, rel, info):
		k.f.files[rel] = true
	case skip || stays || inDependencies(rel) && k.w.held[rel] == nil:
		k.f.output = append(k.f.output, out)
	default:
		k.f.files[rel] = true
	}
}

// splitOff finds what is in output, and decided on its own where output goes to the folder.
func (k *walking) splitOff(dir *osfile.Dir, rel string) {
	if k.w.holds() {
		return
	}
	_ = walkDir(dir, rel, func(in *osfile.Dir, at string, info fs.FileInfo) error {
		if !info.IsDir() && k.decidedApart(in, at, info) {
			k.f.files[at], k.f.apart[at] = true, true
		}
		return nil
	})
}

// decidedApart reports whether a file of output is decided on like any other: programs
// obey it or it may hold secrets, or it is a link that leads out.
func (k *walking) decidedApart(in *osfile.Dir, rel string, info fs.FileInfo) bool {
	switch {
	case info.Mode().IsRegular():
		return decidedApart(rel)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := in.Readlink(path.Base(rel))
		return err != nil || decidedApart(rel) || workspace.LeadsOut(rel, target) && !isSystemProgram(rel, target) && !k.w.leadsBack(in, path.Base(rel))
	}
	return false
}

// decidedApart is that of a file, by its name.
func decidedApart(rel string) bool {
	if inDependencies(rel) {
		return workspace.Obeyed(rel)
	}
	return workspace.Protected(rel) != workspace.NotProtected || workspace.Sensitive(rel)
}

// isSystemProgram reports whether a link of an environment leads to a program of the
// system, as that of Python does in each.
func isSystemProgram(rel, target string) bool {
	if !inDependencies(rel) || path.Base(path.Dir(rel)) != "bin" || path.Clean(target) != target {
		return false
	}
	if !slices.ContainsFunc(systemDirs, func(dir string) bool { return path.Dir(target) == dir }) {
		return false
	}
	info, err := os.Stat(target)
	return err == nil && info.Mode().IsRegular() && workspace.IsExec(info.Mode())
}

// systemDirs have the system's programs.
var systemDirs = []string{"/usr/bin", "/usr/local/bin", "/bin", "/opt/homebrew/bin"}

// reviewed reports whether a file is reviewed although git ignores it: it is
// tracked, or in review already, or a person is asked about its like.
func (k *walking) reviewed(rel string, dir bool) bool {
	return !dir && (k.w.held[rel] != nil || workspace.Protected(rel) != workspace.NotProtected || workspace.Sensitive(rel) || k.tracked(rel))
}

// below reports whether something in a directory is reviewed although git
// ignores that.
func (k *walking) below(dir string) bool {
	for rel := range k.w.held {
		if below(rel, dir) {
			return true
		}
	}
	return k.tracked(dir + "/")
}

// Why what a command did to a name of the folder is not taken over.
const (
	hiddenFrom   = "commands can't read it, and so they can't change it"
	onlyReplaced = "a command can replace dependencies, and not remove them"
	notSeen      = "commands do not see it"
)

// goneBelow notes that a name of the folder is gone, with all that was in it.
func (k *walking) goneBelow(rel string, dir bool, old rules, ignored bool) {
	if workspace.Protected(path.Base(rel)) == workspace.Never {
		return
	}
	why, stays := k.w.layer.stays(rel)
	if why != "" {
		k.f.drop(why, rel)
		return
	}
	ignored = (ignored || old.ignored(path.Base(rel), dir) || inDependencies(rel)) && !k.reviewed(rel, dir)
	if !dir {
		if ignored {
			k.f.output = append(k.f.output, output{rel: rel})
		} else {
			k.f.gone = append(k.f.gone, rel)
		}
		return
	}
	if ignored && !stays && !k.below(rel) {
		k.f.output = append(k.f.output, output{rel: rel})
		return
	}
	entries, err := os.ReadDir(filepath.Join(k.w.root, filepath.FromSlash(rel)))
	if err != nil {
		return
	}
	old = old.enter(path.Base(rel)).at(k.w.before(rel, ".gitignore"))
	for _, e := range entries {
		k.goneBelow(path.Join(rel, e.Name()), e.IsDir(), old, ignored)
	}
}

// isEmpty reports whether nothing is in what may be a directory.
func isEmpty(in *osfile.Dir, info fs.FileInfo, name string) bool {
	if !info.IsDir() {
		return info.Size() == 0
	}
	dir, err := in.Sub(name)
	if err != nil {
		return false
	}
	defer dir.Close()
	entries, err := dir.List()
	return err == nil && len(entries) == 0
}

// standIn reports whether something looks like what stands in for a protected name:
// internal/box/sandbox makes that, and takes it away. A command can make what looks so, too.
func standIn(info fs.FileInfo) bool {
	return info.Mode()&fs.ModeSticky != 0 && (info.IsDir() || info.Size() == 0)
}

// isRepository reports whether a directory is what git takes for a git directory,
// or has one.
func isRepository(dir string) bool {
	return looksLikeRepository(func(name string) (fs.FileInfo, error) { return os.Lstat(filepath.Join(dir, name)) })
}

// isRepositoryIn is isRepository of an open directory.
func isRepositoryIn(dir *osfile.Dir) bool { return looksLikeRepository(dir.Lstat) }

func looksLikeRepository(lstat func(name string) (fs.FileInfo, error)) bool {
	has := func(name string) bool {
		info, err := lstat(name)
		return err == nil && !isWhiteout(info) && !standIn(info)
	}
	return has(".git") || has("HEAD") && has("objects") && has("refs")
}

// before is the text of a file as commands met it.
func (w *world) before(dir, name string) []byte {
	if h := w.held[path.Join(dir, name)]; h != nil {
		return h.text
	}
	data, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(dir), name))
	if err != nil {
		return nil
	}
	return data
}

// now is the text of the ignore rules of a directory, of which entries are known, as
// commands left them.
func (k *walking) now(dir *osfile.Dir, entries []fs.DirEntry) []byte {
	const name = ".gitignore"
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && e.Type().IsRegular() }) {
		return nil
	}
	if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil
	}
	data, err := regular{dir.Root}.ReadFile(name)
	if err != nil {
		return nil
	}
	return data
}
