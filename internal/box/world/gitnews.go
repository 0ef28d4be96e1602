package world

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// What commands did to their own copy of the repository and does not reach the user's is
// said: references other than the branch that is checked out, the stash, a merge's second
// parent, commits that were written anew, what is in progress.

// gitNews are sentences about that, each said once.
func gitNews(w *world, v refView) (said []string) {
	made, onto, branch := v.made, v.onto, v.branch
	taken := map[string]bool{} // what the commits that are taken over say, and what is offered
	if ref := "refs/heads/" + branch; slices.Contains(w.reported, v.now[ref]) || len(made) > 0 && made[len(made)-1].ID == v.now[ref] {
		taken[ref] = true
	}
	for name, o := range w.offered {
		taken[name] = taken[name] || o.is == v.now[name]
	}
	if news := refNews(w, v.was, v.now, taken); len(news) > 0 {
		said = append(said, "The repository does not get what this session's commands did to references, which only they see: "+listed(news)+".")
	}
	if len(made) > 0 && made[0].ID != "" && branch == onto && v.userHead != "" && v.base != v.userHead && !slices.Contains(w.reported, v.base) && isNews(w, "rewritten", v.base) {
		said = append(said, "Commits that the repository has were written anew or taken back. They stay there: what is accepted is committed on top of them.")
	}
	if branch != onto && (branch == "" || w.offered[headName].is != branch) && isNews(w, headName, branch) && len(made) == 0 {
		said = append(said, fmt.Sprintf("This session's commands are on %s, the workspace stays on %s.", branchWords(branch), branchWords(onto)))
	}
	if v.doing != "" && isNews(w, "doing", v.doing) {
		said = append(said, fmt.Sprintf("In progress for this session's commands alone, and not in the workspace: %s.", v.doing))
	} else if v.doing == "" {
		delete(w.told, "doing")
	}
	return said
}

// isNews reports whether something is said for the first time.
func isNews(w *world, what, value string) bool {
	if value == "" {
		value = "none"
	}
	if w.told[what] == value {
		return false
	}
	w.told[what] = value
	return true
}

// refNews are the references that differ, in words, but for those that were said.
func refNews(w *world, was, now map[string]string, taken map[string]bool) (news []string) {
	names := slices.Sorted(maps.Keys(now))
	for name := range was {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		old, id := was[name], now[name]
		if old == id {
			delete(w.told, name)
			continue
		}
		if name == "refs/stash" || taken[name] || !isNews(w, name, id) {
			continue
		}
		what := "moved"
		switch {
		case old == "":
			what = "new"
		case id == "":
			what = "deleted"
		}
		news = append(news, refWords(name)+" ("+what+")")
	}
	return news
}

// refWords is a reference as people call it.
func refWords(name string) string {
	for prefix, word := range map[string]string{"refs/heads/": "branch ", "refs/tags/": "tag ", "refs/remotes/": "remote branch "} {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			return word + shownName(short)
		}
	}
	return shownName(name)
}

func branchWords(branch string) string {
	if branch == "" {
		return "no branch"
	}
	return "branch " + shownName(branch)
}

// shownName is a name as a terminal can show it.
func shownName(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
		return strconv.QuoteToASCII(name)
	}
	return name
}

// listed names at most eight.
func listed(names []string) string {
	const shown = 8
	if more := len(names) - shown; more > 0 {
		return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// operations are what git has begun and not ended, by a file that says so.
var operations = []struct{ file, word string }{
	{"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"},
	{"rebase-merge", "a rebase"},
	{"rebase-apply", "a rebase or git am"},
	{"BISECT_LOG", "a bisect"},
}

// inProgress says what is in progress in the git directory private, and not in user.
func inProgress(private, user string) string {
	var words []string
	for _, o := range operations {
		info, err := os.Lstat(filepath.Join(private, o.file))
		if err != nil || isWhiteout(info) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(user, o.file)); err != nil {
			words = append(words, o.word)
		}
	}
	return strings.Join(words, ", ")
}

// onBranch says of commits on which branch they were made, if that is not the one that
// the workspace is on.
func onBranch(w *world, made []workspace.Commit) {
	user := repositoryOf(w)
	branch := branchOf(privateOf(w), gitBelow(w))
	if branch == branchOf(user.own, "") {
		return
	}
	_, known := references(user.common, "")["refs/heads/"+branch]
	for i := range made {
		if made[i].Forward {
			continue // it is of the branch that it was looked at for
		}
		made[i].Branch, made[i].NewBranch = cmp.Or(branch, "HEAD"), branch != "" && !known
	}
}

// noteLost notes what goes with the repository that commands have, and is nowhere else: their
// stash, references that were said to be theirs alone, what is in progress. Commits that are
// reported wait for their files.
func noteLost(w *world) {
	if !ownsGit(w) {
		return
	}
	private, user := privateOf(w), repositoryOf(w)
	var lost []string
	users := stashIDs(user.common)
	switch ids := slices.DeleteFunc(stashIDs(private), func(id string) bool { return slices.Contains(users, id) }); {
	case len(ids) == 1:
		lost = append(lost, "a stash")
	case len(ids) > 1:
		lost = append(lost, fmt.Sprintf("%d stashes", len(ids)))
	}
	was, now := references(user.common, ""), references(private, gitBelow(w))
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if id := now[name]; name != "refs/stash" && was[name] != id && w.told[name] == id && !slices.Contains(w.reported, id) {
			lost = append(lost, refWords(name))
		}
	}
	if doing := inProgress(private, user.own); doing != "" {
		lost = append(lost, doing+" in progress")
	}
	if len(lost) > 0 {
		w.lost = append(w.lost, "This session's commands see the repository as it is now. These existed only in their own copy, and are gone: "+listed(lost)+".")
	}
}
