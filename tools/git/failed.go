package git

import (
	"errors"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitcmd"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// codes are the codes of the kinds of failure.
var codes = map[gitcmd.Kind]tools.Code{
	gitcmd.Failed:      tools.CommandFailed,
	gitcmd.Invalid:     tools.InvalidArguments,
	gitcmd.NotFound:    tools.NotFound,
	gitcmd.Exists:      tools.AlreadyExists,
	gitcmd.Conflicted:  tools.Conflict,
	gitcmd.NoUpstream:  tools.Conflict,
	gitcmd.Diverged:    tools.Conflict,
	gitcmd.Unavailable: tools.Unavailable,
	gitcmd.Sensitive:   tools.SensitivePath,
	gitcmd.Protected:   tools.ProtectedPath,
	gitcmd.Outside:     tools.OutsideWorkspace,
	gitcmd.TooMuch:     tools.TooLarge,
	gitcmd.TimedOut:    tools.Timeout,
}

// next are the arguments that help, for kinds of failure where some do.
var next = map[gitcmd.Kind]string{
	gitcmd.NoUpstream: "; git_push with set_upstream: true pushes to a branch of the same name and follows it from then on",
	gitcmd.Diverged:   "; call again with rebase: true, to put the branch's commits on top, or rebase: false, to merge",
}

// failed gives an error of what git was run for its code, and says what to call
// next.
func failed(err error) error {
	var f *gitcmd.Failure
	if errors.As(err, &f) {
		return tools.Errorf(codes[f.Kind], "%s%s", f.Text, next[f.Kind])
	}
	return asError(err)
}

// notes are the sentences at the end of a result.
func notes(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "Note: " + strings.Join(list, ". Note: ") + ".\n"
}

// commandLine writes arguments as they would be typed.
func commandLine(args ...string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = tools.ShellWord(a)
	}
	return strings.Join(words, " ")
}

// noDash refuses a value that would look like an option where it is shown.
func noDash(field, value string) error {
	if strings.HasPrefix(strings.TrimSpace(value), "-") {
		return tools.Errorf(tools.InvalidArguments, "%s: %q begins with a dash, as an option does; begin with a word", field, value)
	}
	return nil
}
