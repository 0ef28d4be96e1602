package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

func (r *Repo) headAlone() (string, error) {
	h, err := r.head()
	if err != nil || h.oid == (OID{}) {
		return "", err
	}
	return h.oid.String(), nil
}

// commitAlone is Commit in this process, of a message that is complete.
func (r *Repo) commitAlone(ctx context.Context, message, below string) (CommitResult, error) {
	conf, err := r.plainRepository()
	if err != nil {
		return CommitResult{}, err
	}
	if err := r.mayCommitAlone(conf); err != nil {
		return CommitResult{}, err
	}
	x, err := r.indexAlone()
	if err != nil {
		return CommitResult{}, err
	}
	if i := slices.IndexFunc(x.Entries, func(e IndexEntry) bool { return e.Stage != 0 }); i >= 0 {
		return CommitResult{}, failf(Conflicted, "these files are in conflict: %s; resolve them, then stage them with git_stage", shown(x.Entries[i].Path))
	}
	h, err := r.head()
	if err != nil {
		return CommitResult{}, err
	}
	tree, err := r.storeTree(slices.DeleteFunc(x.Entries, func(e IndexEntry) bool { return e.IntentToAdd }), "")
	if err != nil {
		return CommitResult{}, err
	}
	files, err := r.differsAlone(h, tree)
	if err != nil {
		return CommitResult{}, err
	}
	if len(files) == 0 {
		return CommitResult{}, failf(Conflicted, "nothing is staged, so there is nothing to commit; stage changes with git_stage, git_status shows them")
	}
	if err := allBelow(files, below); err != nil {
		return CommitResult{}, err
	}
	if err := ctx.Err(); err != nil {
		return CommitResult{}, err
	}
	message = tidy(message)
	id, err := r.storeCommit(conf, tree, h, message)
	if err != nil {
		return CommitResult{}, err
	}
	word := "commit"
	if h.oid == (OID{}) {
		word = "commit (initial)"
	}
	if err := r.moveHead(conf, h, id, word+": "+subject(message)); err != nil {
		return CommitResult{}, err
	}
	res := CommitResult{Hash: id.String(), Subject: subject(message), Files: []CommittedFile{}}
	for _, f := range files {
		res.Files = append(res.Files, CommittedFile{f.path, f.what})
	}
	return res, nil
}

// mayCommitAlone refuses what a commit by git would do besides.
func (r *Repo) mayCommitAlone(conf config) error {
	dir := filepath.Join(r.CommonDir, "hooks")
	if set := conf["core.hookspath"]; set != "" {
		dir = r.usableHooks(set)
	}
	for _, hook := range commitHooks {
		if info, err := os.Stat(filepath.Join(dir, hook)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return cantAlone("the repository has the hook %s", hook)
		}
	}
	if what := r.busy(); what != "" {
		return cantAlone("%s is in progress", what)
	}
	if conf.bool("commit.gpgsign", false) {
		return cantAlone("commits are signed (commit.gpgSign)")
	}
	if enc := conf["i18n.commitencoding"]; enc != "" && !strings.EqualFold(enc, "utf-8") && !strings.EqualFold(enc, "utf8") {
		return cantAlone("commit messages have the encoding %s", shown(enc))
	}
	return nil
}

// storeTree stores the tree of the entries, which are sorted and all begin
// with prefix.
func (r *Repo) storeTree(entries []IndexEntry, prefix string) (OID, error) {
	type item struct {
		name string
		mode uint32
		oid  OID
	}
	var items []item
	for i := 0; i < len(entries); {
		name, rest, isDir := strings.Cut(entries[i].Path[len(prefix):], "/")
		_ = rest
		if !isDir {
			items = append(items, item{name, entries[i].Mode, entries[i].OID})
			i++
			continue
		}
		below := prefix + name + "/"
		n := i
		for n < len(entries) && strings.HasPrefix(entries[n].Path, below) {
			n++
		}
		oid, err := r.storeTree(entries[i:n], below)
		if err != nil {
			return OID{}, err
		}
		items = append(items, item{name, modeTree, oid})
		i = n
	}
	slices.SortFunc(items, func(a, b item) int { // as if directories ended with a slash
		x, y := a.name, b.name
		if a.mode == modeTree {
			x += "/"
		}
		if b.mode == modeTree {
			y += "/"
		}
		return strings.Compare(x, y)
	})
	var data []byte
	for _, it := range items {
		data = fmt.Appendf(data, "%o %s\x00", it.mode, it.name)
		data = append(data, it.oid[:]...)
	}
	return r.store(treeObject, data)
}

// differsAlone lists what a tree has that HEAD has not.
func (r *Repo) differsAlone(h head, tree OID) ([]entry, error) {
	var from OID
	if h.oid != (OID{}) {
		c, err := r.commit(h.oid)
		if err != nil {
			return nil, err
		}
		from = c.tree
	}
	c := comparer{r: r}
	if err := c.compare("", inTree(from), inTree(tree)); err != nil {
		return nil, err
	}
	var list []entry
	for _, p := range c.pairs {
		list = append(list, entry{path: p.path, what: changeWords[p.code()]})
	}
	return list, nil
}

// storeCommit stores a commit by the user, now.
func (r *Repo) storeCommit(conf config, tree OID, h head, message string) (OID, error) {
	who, err := ident(conf)
	if err != nil {
		return OID{}, err
	}
	text := fmt.Sprintf("tree %s\n", tree)
	if h.oid != (OID{}) {
		text += fmt.Sprintf("parent %s\n", h.oid)
	}
	return r.store(commitObject, []byte(text+"author "+who+"\ncommitter "+who+"\n\n"+message))
}

// ident is the user, as commits and reflogs name one.
func ident(conf config) (string, error) {
	plain := func(s string) string {
		return strings.Map(func(c rune) rune {
			if c == '<' || c == '>' || c < ' ' {
				return -1
			}
			return c
		}, strings.Trim(s, " .,:;<>\"\\'"))
	}
	name, email := plain(conf["user.name"]), plain(conf["user.email"])
	if name == "" || email == "" {
		return "", failf(Unavailable, "git does not know who commits; the user should set user.name and user.email")
	}
	now := time.Now()
	return fmt.Sprintf("%s <%s> %d %s", name, email, now.Unix(), now.Format("-0700")), nil
}

// tidy is the clean-up of git commit --cleanup=whitespace.
func tidy(message string) string {
	var out []string
	for line := range strings.SplitSeq(message, "\n") {
		line = strings.TrimRight(line, " \t\r\v\f")
		if line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// moveHead makes the branch that is checked out, or HEAD itself, name a
// commit, if it still names what it did.
func (r *Repo) moveHead(conf config, h head, to OID, why string) error {
	if h.branch == "" {
		return r.moveRef(conf, plumbing.HEAD, r.GitDir, h.oid, to, why)
	}
	if err := CheckBranchName(h.branch); err != nil {
		return cantAlone("HEAD names %s", shown(h.branch))
	}
	if err := r.moveRef(conf, plumbing.NewBranchReferenceName(h.branch), r.CommonDir, h.oid, to, why); err != nil {
		return err
	}
	return r.logRef(conf, r.GitDir, "HEAD", h.oid, to, why)
}

// moveRef writes a reference that has the value from; zero: that isn't there.
func (r *Repo) moveRef(conf config, name plumbing.ReferenceName, dir string, from, to OID, why string) error {
	err := locked(filepath.Join(dir, filepath.FromSlash(string(name))), func(lock *os.File) error {
		now, err := refOf(r.references(), name)
		if err != nil && !errors.Is(err, plumbing.ErrReferenceNotFound) {
			return err
		}
		if now != from {
			return failf(Conflicted, "%s has changed meanwhile; try again", shown(name.Short()))
		}
		_, err = lock.WriteString(to.String() + "\n")
		return err
	})
	if err != nil {
		return err
	}
	return r.logRef(conf, dir, string(name), from, to, why)
}

// logRef appends a line to the log of a reference, as core.logAllRefUpdates
// says.
func (r *Repo) logRef(conf config, dir, name string, from, to OID, why string) error {
	file := filepath.Join(dir, "logs", filepath.FromSlash(name))
	if !conf.bool("core.logallrefupdates", true) && !exists(file) {
		return nil
	}
	who, err := ident(conf)
	if err != nil {
		return nil //nolint:nilerr // a log without a name is of no use, and not worth a failure
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s %s\t%s\n", from, to, who, why)
	return errors.Join(err, f.Close())
}

func (r *Repo) branchesAlone() ([]LocalBranch, error) {
	h, err := r.head()
	if err != nil {
		return nil, err
	}
	refs, err := r.references().IterReferences()
	if err != nil {
		return nil, err
	}
	defer refs.Close()
	var list []LocalBranch
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Name().IsBranch() && ref.Type() == plumbing.HashReference {
			name := ref.Name().Short()
			list = append(list, LocalBranch{Name: name, Current: name == h.branch, Commit: short(ref.Hash().String())})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b LocalBranch) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

func (r *Repo) createBranchAlone(name string) error {
	conf, err := r.plainRepository()
	if err != nil {
		return err
	}
	h, err := r.head()
	if err != nil {
		return err
	}
	if h.oid == (OID{}) {
		return failf(Conflicted, "there is no commit yet; make one first")
	}
	list, err := r.branchesAlone()
	if err != nil {
		return err
	}
	for _, b := range list { // a name can't be a directory of names too
		if b.Name == name || strings.HasPrefix(b.Name, name+"/") || strings.HasPrefix(name, b.Name+"/") {
			return failf(Exists, "there is such a branch already: %s", shown(b.Name))
		}
	}
	from := h.branch
	if from == "" {
		from = "HEAD"
	}
	return r.moveRef(conf, plumbing.ReferenceName(path.Join("refs/heads", name)), r.CommonDir, OID{}, h.oid, "branch: Created from "+from)
}
