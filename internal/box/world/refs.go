package world

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// repositoryOf is where the files of the user's repository are: a linked working tree has
// its own directory, and one that it shares.
type repository struct{ own, common string }

// repositoryOf is that of the folder.
func repositoryOf(w *world) repository {
	if w.linked != nil {
		return repository{w.linked.Own, w.linked.Common}
	}
	git := filepath.Join(w.root, ".git")
	return repository{git, git}
}

// privateOf is the git directory that commands have for themselves.
func privateOf(w *world) string { return filepath.Join(w.upper(), ".git") }

// tablesDir is the directory in which a repository keeps its references instead of in files
// (reftable). They are not read here.
const tablesDir = "reftable"

// inTables reports whether a git directory keeps its references so.
func inTables(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, tablesDir))
	return err == nil && info.IsDir() && !isWhiteout(info)
}

// tableNews says that what commands did to such references is not known.
func tableNews(w *world) []string {
	private := privateOf(w)
	list := func(dir string) string {
		at := filepath.Join(dir, tablesDir, "tables.list")
		if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() || info.Size() > maxObject {
			return ""
		}
		text, _ := os.ReadFile(at)
		return string(text)
	}
	if now := list(private); w.real[".git"] || !inTables(private) || now == "" || now == list(repositoryOf(w).common) || !isNews(w, "tables", "changed") {
		return nil
	}
	return []string{"The repository keeps references in tables (reftable), so what this session's commands committed, or did to branches, is not read: it stays in their own copy and goes with it. git_commit commits in the repository; git refs migrate --ref-format=files changes how it keeps them."}
}

// ownsGit reports whether commands have a git directory for themselves. What else is in its
// place may lead to what they can't read.
func ownsGit(w *world) bool {
	info, err := os.Lstat(privateOf(w))
	return err == nil && info.IsDir()
}

// gitBelow is the git directory that is seen below the private one; "" where that has all.
func gitBelow(w *world) string {
	if w.kind == Overlay && w.linked == nil {
		return filepath.Join(w.root, ".git")
	}
	return ""
}

// maxRefs bounds the references that are looked at.
const maxRefs = 20_000

// references are the objects that the references of a repository name. In an overlay the
// directory over has what commands changed, and marks for what they removed; below has the
// rest, "" nothing.
func references(over, below string) map[string]string {
	refs, hidden := map[string]string{}, map[string]bool{}
	for _, dir := range []string{over, below} {
		if dir != "" {
			looseRefs(dir, refs, hidden, dir == over && below != "")
		}
	}
	for _, dir := range []string{over, below} {
		if dir == "" {
			continue
		}
		info, err := os.Lstat(filepath.Join(dir, "packed-refs"))
		if err != nil {
			continue
		}
		if info.Mode().IsRegular() && info.Size() <= maxObject {
			text, _ := os.ReadFile(filepath.Join(dir, "packed-refs"))
			for line := range strings.Lines(string(text)) {
				id, name, ok := strings.Cut(strings.TrimSpace(line), " ")
				if ok && hash.MatchString(id) && refs[name] == "" && len(refs) < maxRefs {
					refs[name] = id
				}
			}
		}
		break
	}
	return refs
}

// looseRefs adds the references that are files of their own, but for hidden ones. marks:
// what the directory hides of the one below it is added to hidden.
func looseRefs(dir string, refs map[string]string, hidden map[string]bool, marks bool) {
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what can't be read leads nowhere
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil || len(refs) >= maxRefs {
			return fs.SkipAll
		}
		name := filepath.ToSlash(rel)
		info, err := d.Info()
		switch {
		case err != nil:
			return nil //nolint:nilerr // it is gone
		case !marks && hidden[name] && d.IsDir():
			return fs.SkipDir
		case !marks && hidden[name]:
			return nil
		case d.IsDir():
			if marks && opaque(at) {
				hidden[name] = true
			}
			return nil
		case marks:
			hidden[name] = true // also by a mark for what was removed
		}
		if info.Mode().IsRegular() && info.Size() <= maxRef {
			if text, err := os.ReadFile(at); err == nil {
				if id := strings.TrimSpace(string(text)); hash.MatchString(id) {
					refs[name] = id
				}
			}
		}
		return nil
	})
}

// inNoBranch reports whether git takes no branch with that in its name: a command can write
// anything there, for a person to read.
func inNoBranch(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune(" ~^:?*[\\", r) }

// branchOf is the branch that HEAD names in the first of two git directories that has it;
// "" is none.
func branchOf(first, second string) string {
	for _, dir := range []string{first, second} {
		if dir == "" {
			continue
		}
		info, err := os.Lstat(filepath.Join(dir, "HEAD"))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxRef {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "HEAD"))
		if err != nil {
			return ""
		}
		name, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
		if name == strings.TrimSpace(string(text)) || !fs.ValidPath(path.Clean(name)) || !utf8.ValidString(name) || strings.ContainsFunc(name, inNoBranch) {
			return ""
		}
		return name
	}
	return ""
}
