package shell

import (
	"slices"
	"strings"
)

// Irrecoverable says what of a command can't be undone, or "". It looks at
// what is certain from the words; a doubt is not its matter.
func Irrecoverable(c Command) string {
	name := c.Program()
	if f := losing[name]; f != nil {
		args, _ := texts(c.Words[1:])
		return f(args)
	}
	if strings.HasPrefix(name, "mkfs") {
		return name + " makes a new file system over what is there"
	}
	return ""
}

var losing = map[string]func(args []string) string{
	"rm":        loseRm,
	"git":       loseGit,
	"find":      loseFind,
	"dd":        loseArg("dd overwrites", "of="),
	"shred":     always("shred destroys files"),
	"wipefs":    always("wipefs destroys file systems"),
	"truncate":  always("truncate cuts files"),
	"fdisk":     always("fdisk changes partitions"),
	"parted":    always("parted changes partitions"),
	"mkswap":    always("mkswap overwrites a device"),
	"chmod":     loseTree("chmod"),
	"chown":     loseTree("chown"),
	"chgrp":     loseTree("chgrp"),
	"rsync":     loseOption("rsync", "--delete", "--delete-before", "--delete-after", "--delete-during", "--delete-excluded", "--del", "--remove-source-files"),
	"psql":      loseSQL,
	"mysql":     loseSQL,
	"sqlite3":   loseSQL,
	"mariadb":   loseSQL,
	"dropdb":    always("dropdb deletes a database"),
	"redis-cli": loseWord("redis-cli deletes data", "flushall", "flushdb"),
	"kubectl":   loseWord("kubectl deletes what runs in the cluster", "delete", "drain"),
	"helm":      loseWord("helm removes a release", "uninstall", "delete"),
	"terraform": loseWord("terraform destroys what it made", "destroy"),
	"tofu":      loseWord("tofu destroys what it made", "destroy"),
	"pulumi":    loseWord("pulumi destroys what it made", "destroy"),
	"docker":    loseWord("docker deletes data", "prune", "rm", "rmi", "down"),
	"podman":    loseWord("podman deletes data", "prune", "rm", "rmi"),
	"aws":       loseWord("aws deletes data", "rm", "rb", "delete-bucket", "delete-object", "terminate-instances", "delete-db-instance", "delete-stack", "delete-table"),
	"gcloud":    loseWord("gcloud deletes data", "delete"),
	"gsutil":    loseWord("gsutil deletes data", "rm", "rb"),
	"az":        loseWord("az deletes data", "delete"),
	"gh":        loseWord("gh deletes something", "delete"),
	"npm":       loseWord("npm publishes or withdraws a package", "publish", "unpublish", "deprecate"),
	"yarn":      loseWord("yarn publishes a package", "publish"),
	"pnpm":      loseWord("pnpm publishes a package", "publish"),
	"cargo":     loseWord("cargo publishes or withdraws a crate", "publish", "yank"),
	"twine":     loseWord("twine publishes a package", "upload"),
	"gem":       loseWord("gem publishes or withdraws a package", "push", "yank"),
	"crontab":   loseOption("crontab", "-r"),
	"shutdown":  always("it stops the machine"),
	"reboot":    always("it stops the machine"),
	"halt":      always("it stops the machine"),
	"poweroff":  always("it stops the machine"),
	"userdel":   always("it deletes a user"),
}

func always(why string) func([]string) string { return func([]string) string { return why } }

func loseArg(why, prefix string) func([]string) string {
	return func(args []string) string {
		for _, a := range args {
			if strings.HasPrefix(a, prefix) && !harmlessTarget[strings.TrimPrefix(a, prefix)] {
				return why + " " + strings.TrimPrefix(a, prefix)
			}
		}
		return ""
	}
}

func loseWord(why string, words ...string) func([]string) string {
	return func(args []string) string {
		for _, a := range args {
			if slices.Contains(words, strings.ToLower(a)) {
				return why
			}
		}
		return ""
	}
}

func loseOption(name string, options ...string) func([]string) string {
	return func(args []string) string {
		for _, a := range args {
			if slices.Contains(options, a) {
				return name + " " + a + " deletes files"
			}
		}
		return ""
	}
}

// loseRm: rm of single files is an edit like others; what goes deep or does
// not ask is not.
func loseRm(args []string) string {
	for _, a := range args {
		if a == "--" {
			return ""
		}
		if has(a, "rRf", "recursive", "force") {
			return "rm deletes without a way back"
		}
	}
	return ""
}

// has reports whether an argument is one of the short options, alone or in a
// cluster, or one of the long ones, also abbreviated.
func has(arg, short string, long ...string) bool {
	switch {
	case strings.HasPrefix(arg, "--"):
		return len(arg) > 2 && abbreviates(arg[2:], long) != ""
	case strings.HasPrefix(arg, "-"):
		return strings.ContainsAny(arg[1:], short)
	}
	return false
}

func loseFind(args []string) string {
	if slices.Contains(args, "-delete") {
		return "find -delete deletes what it finds"
	}
	return ""
}

// loseTree: rights of files outside of the project, or of a whole tree of them.
func loseTree(name string) func([]string) string {
	return func(args []string) string {
		for _, a := range args {
			if a == "/" || a == "~" || strings.HasPrefix(a, "/") || strings.HasPrefix(a, "~/") || strings.HasPrefix(a, "$HOME") {
				return name + " changes the rights of " + a
			}
		}
		return ""
	}
}

func loseSQL(args []string) string {
	text := strings.ToUpper(strings.Join(strings.Fields(strings.Join(args, " ")), " "))
	for _, lost := range []string{"DROP DATABASE", "DROP TABLE", "DROP SCHEMA", "DROP INDEX", "DROP VIEW", "TRUNCATE ", "DELETE FROM"} {
		if strings.Contains(text, lost) && (lost != "DELETE FROM" || !strings.Contains(text, " WHERE ")) {
			return "the statement deletes data (" + strings.ToLower(strings.TrimSpace(lost)) + ")"
		}
	}
	return ""
}

// loseGit finds what rewrites what others have, or drops what was never
// committed.
func loseGit(args []string) string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if args[0] == "-c" || args[0] == "-C" || args[0] == "--git-dir" || args[0] == "--work-tree" {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	if len(args) == 0 {
		return ""
	}
	op, args := args[0], args[1:]
	some := func(short string, long ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return has(a, short, long...) })
	}
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	switch op {
	case "push":
		if some("fd", "force", "force-with-lease", "mirror", "delete", "prune") || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "+") || strings.HasPrefix(a, ":") }) {
			return "git push rewrites or deletes what the remote has"
		}
	case "reset":
		if some("", "hard", "merge", "keep") {
			return "git reset throws away what was not committed"
		}
	case "clean":
		if some("fdxX", "force") && !some("n", "dry-run") {
			return "git clean deletes files that git does not have"
		}
	case "checkout":
		if some("f", "force") || slices.Contains(args, "--") || slices.Contains(args, ".") {
			return "git checkout throws away what was not committed"
		}
	case "restore":
		if !some("S", "staged") || some("W", "worktree") {
			return "git restore throws away what was not committed"
		}
	case "switch":
		if some("fC", "force", "discard-changes", "force-create") {
			return "git switch throws away what was not committed"
		}
	case "branch":
		if some("D") || some("fM", "force") || some("d", "delete") && some("f", "force") {
			return "git branch drops commits that no other branch may have"
		}
	case "tag":
		if some("df", "delete", "force") {
			return "git tag deletes or moves a tag"
		}
	case "stash":
		if first == "drop" || first == "clear" {
			return "git stash " + first + " deletes what was put away"
		}
	case "reflog":
		if first == "expire" || first == "delete" || first == "drop" {
			return "git reflog " + first + " deletes the way back"
		}
	case "update-ref":
		if some("d") {
			return "git update-ref -d deletes a reference"
		}
	case "gc", "prune":
		if op == "prune" || some("", "prune") {
			return "git " + op + " deletes objects"
		}
	case "filter-branch", "filter-repo":
		return "git " + op + " rewrites history"
	case "worktree":
		if first == "remove" && some("f", "force") {
			return "git worktree remove throws away what was not committed"
		}
	case "rm":
		if some("f", "force") {
			return "git rm throws away what was not committed"
		}
	case "submodule":
		if first == "deinit" && some("f", "force") {
			return "git submodule deinit throws away what was not committed"
		}
	}
	return ""
}
