package gitcmd

import (
	"slices"
	"strings"
	"time"
)

// operation is one thing that the git command is run for. What is not in the
// table can't be run.
type operation struct {
	name    string
	command []string // the sub-command and what is always said to it
	flags   []string // what arguments may begin with a dash; one that ends in = may be followed by any value
	paths   bool     // takes paths after --
	hooks   []string // what git would run for it in a terminal: see hooks.go of gitrepo
	network bool     // may reach remotes
	signs   bool     // may make a signature
	index   bool     // goes by the index of the working tree, and is refused while that is damaged
	filters bool     // writes files of the working tree, through the filters that attributes name
	writes  bool     // writes in the repository
	nested  bool     // asks submodules for their state, with their own settings
	guarded []string // what is said besides, so that no setting of the repository decides it
	time    time.Duration
}

// How long an operation may take when its caller sets no narrower bound.
const (
	quick = 30 * time.Second
	slow  = 2 * time.Minute
	long  = 10 * time.Minute
)

// The hooks that go with every operation that moves references or the index.
var (
	commitHooks   = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change"}
	checkoutHooks = []string{"post-checkout", "reference-transaction", "post-index-change"}
	mergeHooks    = []string{"pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge", "reference-transaction", "post-index-change"}
	rebaseHooks   = []string{"pre-rebase", "post-rewrite", "post-checkout", "reference-transaction", "post-index-change"}
	stashHooks    = []string{"reference-transaction", "post-index-change"}
	refHooks      = []string{"reference-transaction"}
)

// operations is the closed list.
var operations = []operation{
	{name: "version", command: []string{"version"}, time: quick},

	// What is read.
	{name: "resolve", command: []string{"rev-parse", "--verify", "--quiet", "--end-of-options"}, time: quick},
	{name: "current-branch", command: []string{"symbolic-ref", "--quiet", "HEAD"}, time: quick},
	{name: "status", command: []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"}, flags: []string{"--ignored=matching", "--branch"}, paths: true, index: true, time: slow},
	{name: "status-lines", command: []string{"status", "--porcelain=v1", "--branch", "-z", "--ignore-submodules=dirty"}, flags: []string{"--untracked-files="}, paths: true, filters: true, index: true, time: slow},
	{name: "patch", command: []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=dirty"}, flags: []string{"--raw", "-z", "--patch", "--abbrev=10", "--cached"}, paths: true, filters: true, index: true, time: slow},
	{name: "tracked-changes", command: []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--raw", "-z", "--no-renames", "--abbrev=40", "--ignore-submodules=dirty"}, paths: true, filters: true, index: true, time: slow},
	{name: "staged", command: []string{"diff-index", "--cached", "--ita-invisible-in-index", "-z", "--raw", "--no-renames", "--abbrev=40", "--ignore-submodules=dirty"}, paths: true, index: true, time: slow},
	{name: "diff-tree", command: []string{"diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", "--raw", "--abbrev=40"}, flags: []string{"--root"}, time: slow},
	{name: "list-files", command: []string{"ls-files", "-z", "--full-name"}, flags: []string{"--stage", "--unmerged", "-v"}, paths: true, index: true, time: slow},
	{name: "list-tree", command: []string{"ls-tree", "-r", "-z", "--full-tree"}, paths: true, time: slow},
	{name: "attributes", command: []string{"check-attr", "-z", "--stdin"}, flags: []string{"--cached"}, time: quick},
	{name: "show-commit", command: []string{"show", "--no-patch", "--no-color", "--no-show-signature", "--format=%P%x00%B"}, time: quick},
	{name: "list-refs", command: []string{"for-each-ref"}, flags: []string{"--format=", "--sort=", "--count="}, time: quick},
	{name: "list-commits", command: []string{"rev-list"}, flags: []string{"--max-count=", "--count", "--left-right", "--parents", "--first-parent"}, time: slow},
	{name: "blob", command: []string{"cat-file", "blob"}, time: quick},
	{name: "smudged", command: []string{"cat-file", "--filters"}, flags: []string{"--path="}, filters: true, time: quick},
	{name: "object-type", command: []string{"cat-file", "-t"}, time: quick},

	// The index.
	{name: "stage", command: []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}, index: true, writes: true, time: slow},
	{name: "index-info", command: []string{"update-index", "-z", "--index-info"}, index: true, writes: true, time: quick},
	{name: "read-tree", command: []string{"read-tree"}, flags: []string{"--empty"}, writes: true, time: slow},
	{name: "write-tree", command: []string{"write-tree"}, index: true, writes: true, time: slow},
	{name: "hash-only", command: []string{"hash-object", "--stdin"}, flags: []string{"--path="}, filters: true, time: quick},
	{name: "hash-object", command: []string{"hash-object", "-w", "--stdin"}, flags: []string{"--path=", "--no-filters"}, writes: true, time: quick},

	// Commits, branches, stashes.
	{name: "commit", command: []string{"commit", "--quiet", "--cleanup=whitespace", "--no-edit", "-F", "-"}, flags: []string{"--no-gpg-sign"}, hooks: commitHooks, signs: true, nested: true, index: true, writes: true, time: long},
	{name: "create-branch", command: []string{"branch", "--no-track"}, hooks: refHooks, writes: true, time: quick},
	{name: "create-tracking", command: []string{"branch", "--quiet", "--track"}, hooks: refHooks, writes: true, time: quick},
	{name: "attach", command: []string{"symbolic-ref", "-m"}, hooks: refHooks, writes: true, time: quick},
	{name: "create-tag", command: []string{"tag", "--annotate", "--no-sign", "--cleanup=whitespace", "-F", "-"}, hooks: refHooks, writes: true, time: quick},
	{name: "commit-tree", command: []string{"commit-tree"}, flags: []string{"-p", "-S"}, hooks: refHooks, signs: true, writes: true, time: long},
	{name: "move-ref", command: []string{"update-ref", "-m"}, hooks: refHooks, writes: true, time: quick},
	{name: "delete-branch", command: []string{"branch", "-d"}, hooks: refHooks, writes: true, time: quick},
	{name: "switch", command: []string{"switch", "--quiet", "--no-progress", "--no-recurse-submodules", "--no-overwrite-ignore"}, flags: []string{"--detach"}, hooks: checkoutHooks, filters: true, nested: true, index: true, writes: true, time: slow},
	{name: "stash-push", command: []string{"stash", "push", "--quiet"}, flags: []string{"--message="}, paths: true, hooks: stashHooks, filters: true, nested: true, index: true, writes: true, time: slow},
	{name: "stash-apply", command: []string{"stash", "apply", "--quiet"}, flags: []string{"--index"}, hooks: stashHooks, filters: true, nested: true, index: true, writes: true, time: slow},
	{name: "stash-store", command: []string{"stash", "store", "--quiet"}, flags: []string{"--message="}, hooks: refHooks, writes: true, time: quick},
	{name: "stash-drop", command: []string{"stash", "drop", "--quiet"}, hooks: refHooks, writes: true, time: quick},
	{name: "stash-list", command: []string{"log", "--no-color", "--no-show-signature", "-g", "--first-parent", "-m", "--format=%gd%x00%ct%x00%gs%x00", "-z", "refs/stash", "--"}, time: quick},
	{name: "is-ancestor", command: []string{"merge-base", "--is-ancestor"}, time: slow},
	{name: "fork-point", command: []string{"merge-base", "--fork-point"}, time: slow},
	{name: "skip-all", command: []string{"update-index", "-z", "--skip-worktree", "--stdin"}, index: true, writes: true, time: slow},
	{name: "merge", command: []string{"merge", "--no-edit", "--no-progress", "--no-stat", "--no-autostash", "--no-verify-signatures"}, flags: []string{"--no-ff", "-m"}, hooks: mergeHooks, signs: true, filters: true, nested: true, guarded: []string{"--strategy=ort"}, index: true, writes: true, time: long},
	{name: "rebase", command: []string{"rebase", "--no-stat", "--no-autostash", "--no-autosquash"}, flags: []string{"--onto=", "--rebase-merges"}, hooks: rebaseHooks, signs: true, filters: true, nested: true, guarded: []string{"--strategy=ort"}, index: true, writes: true, time: long},

	// Remotes.
	{name: "push", command: []string{"push", "--porcelain", "--no-recurse-submodules"}, flags: []string{"--set-upstream"}, hooks: []string{"pre-push", "reference-transaction"}, network: true, guarded: []string{"--receive-pack=git-receive-pack"}, writes: true, time: long},
	{name: "fetch", command: []string{"fetch", "--no-progress", "--no-recurse-submodules"}, hooks: refHooks, network: true, guarded: []string{"--upload-pack=git-upload-pack"}, writes: true, time: long},

	// Linked working trees.
	{name: "worktree-list", command: []string{"worktree", "list", "--porcelain", "-z"}, time: quick},
	{name: "worktree-add", command: []string{"worktree", "add", "--quiet", "--detach"}, flags: []string{"--lock"}, hooks: checkoutHooks, filters: true, writes: true, time: long},
	{name: "worktree-add-empty", command: []string{"worktree", "add", "--quiet", "--detach", "--no-checkout"}, flags: []string{"--lock"}, hooks: checkoutHooks, writes: true, time: quick},
	{name: "worktree-remove", command: []string{"worktree", "remove"}, flags: []string{"--force"}, nested: true, writes: true, time: slow},
	{name: "worktree-prune", command: []string{"worktree", "prune"}, flags: []string{"--expire=now"}, writes: true, time: quick},
}

func findOperation(name string) (operation, bool) {
	i := slices.IndexFunc(operations, func(o operation) bool { return o.name == name })
	if i < 0 {
		return operation{}, false
	}
	return operations[i], true
}

// knows reports whether the argument may be given although it begins with a
// dash.
func (o operation) knows(arg string) bool {
	return slices.ContainsFunc(o.flags, func(flag string) bool {
		return arg == flag || strings.HasSuffix(flag, "=") && strings.HasPrefix(arg, flag)
	})
}
