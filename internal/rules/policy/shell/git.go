package shell

import (
	"slices"
	"strings"
)

// gitLooks are the commands of git that only look, with what says of their
// arguments that they do more; nil means that none do.
var gitLooks = map[string]func(args []Word) string{
	"annotate": nil, "blame": nil, "cat-file": nil, "check-ignore": nil, "cherry": nil, "count-objects": nil, "describe": nil, "diff": nil,
	"diff-files": nil, "diff-index": nil, "diff-tree": nil, "for-each-ref": nil, "grep": nil, "log": nil, "ls-files": nil, "ls-tree": nil,
	"merge-base": nil, "name-rev": nil, "rev-list": nil, "rev-parse": nil, "shortlog": nil, "show": nil, "show-branch": nil, "show-ref": nil,
	"status": nil, "version": nil, "whatchanged": nil,
	"branch": gitBranch, "config": gitConfig, "ls-remote": gitRemoteName, "reflog": gitReflog, "remote": gitRemote,
	"stash": gitFirst("list", "show"), "tag": gitTag, "worktree": gitFirst("list"),
}

// gitBad are options that run programs or write files, whatever the command.
var gitBad = []string{"output", "ext-diff", "textconv", "filters", "upload-pack", "exec", "receive-pack", "open-files-in-pager", "show-signature", "paginate", "order-file", "git-dir", "work-tree", "contents", "batch-command"}

// gitOptions finds options that run programs or write files.
func gitOptions(args []Word) string {
	for _, a := range args {
		switch {
		case strings.Contains(a.Text, "%(signature"):
			return signatures
		case a.Text == "--":
			return ""
		case strings.HasPrefix(a.Text, "--"):
			if bad := abbreviates(a.Text[2:], gitBad); bad != "" && !slices.Contains(gitGlobal, a.Text) {
				return "the option --" + bad
			}
			if strings.Contains(a.Text, "%G") {
				return signatures
			}
		case strings.HasPrefix(a.Text, "-O"):
			return "the option -O"
		case strings.Contains(a.Text, "::"):
			return quote(a.Text) + " can name a program as the way to a repository"
		}
	}
	return ""
}

const signatures = "the format asks for signatures, which runs gpg"

// gitGlobal are the options before the command that change nothing.
var gitGlobal = []string{"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"}

// gitCommand is args from the command of git on.
func gitCommand(args []Word) []Word {
	for len(args) > 0 && slices.Contains(gitGlobal, args[0].Text) {
		args = args[1:]
	}
	return args
}

// gitLooksOnly says why a git command does more than look.
func gitLooksOnly(args []Word) string {
	args = gitCommand(args)
	if len(args) == 0 {
		return ""
	}
	if strings.HasPrefix(args[0].Text, "-") {
		return "the option " + quote(args[0].Text) + " of git itself"
	}
	own, ok := gitLooks[args[0].Text]
	if !ok {
		return "git " + args[0].Text + " does more than look"
	}
	if own != nil {
		return own(args[1:])
	}
	return ""
}

func gitReflog(args []Word) string {
	if len(args) > 0 && slices.Contains([]string{"expire", "delete", "drop", "write"}, args[0].Text) {
		return "it changes entries"
	}
	return ""
}

// gitFirst allows only one of words as the first argument.
func gitFirst(words ...string) func([]Word) string {
	return func(args []Word) string {
		if len(args) > 0 && slices.Contains(words, args[0].Text) {
			return ""
		}
		return "it does more than look"
	}
}

// listing are options with which branch and tag only list.
var listing = []string{"-a", "--all", "-r", "--remotes", "-v", "-vv", "--verbose", "--show-current", "--list", "-l", "--merged", "--no-merged", "--contains", "--no-contains", "--column", "--no-column", "--no-color", "-i", "--ignore-case"}

func gitBranch(args []Word) string {
	list := false
	for _, a := range args {
		name, _, _ := strings.Cut(a.Text, "=")
		switch {
		case slices.Contains(listing, name):
			list = list || name == "--list" || name == "-l" || strings.HasSuffix(name, "merged") || strings.HasSuffix(name, "contains")
		case name == "--sort" || name == "--format" || name == "--color" || name == "--points-at" || name == "--abbrev":
		case strings.HasPrefix(a.Text, "-"):
			return "the option " + quote(a.Text)
		case !list:
			return "it creates the branch " + quote(a.Text)
		}
	}
	return ""
}

func gitTag(args []Word) string {
	list := len(args) > 0 && (args[0].Text == "-l" || args[0].Text == "--list")
	for _, a := range args {
		name, _, _ := strings.Cut(a.Text, "=")
		switch {
		case slices.Contains(listing, name), name == "--sort", name == "--format", name == "--points-at", name == "-n":
		case strings.HasPrefix(a.Text, "-n") && number(a.Text[2:]):
		case list && !strings.HasPrefix(a.Text, "-"):
		default:
			return "it creates or changes the tag " + quote(a.Text)
		}
	}
	return ""
}

func gitConfig(args []Word) string {
	for _, a := range args {
		if slices.Contains([]string{"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"}, a.Text) {
			return ""
		}
		if !slices.Contains([]string{"--global", "--local", "--system", "--show-origin", "--show-scope", "--name-only", "-z", "--null", "--includes"}, a.Text) {
			break
		}
	}
	return "it may change the configuration; say --get"
}

func gitRemote(args []Word) string {
	if len(args) == 0 || args[0].Text == "-v" && len(args) == 1 || args[0].Text == "get-url" {
		return ""
	}
	return "it does more than look"
}

// gitRemoteName allows the name of a configured remote, not an address.
func gitRemoteName(args []Word) string {
	for _, a := range args {
		if strings.Contains(a.Text, ":") {
			return "the address " + quote(a.Text)
		}
	}
	return ""
}
