package tools

import (
	"slices"
	"strings"
)

// Failure is an error that a tool may return, as people read of it.
type Failure struct {
	Code    Code   `json:"code"`
	Meaning string `json:"meaning"`
}

// meanings has a line for each code.
var meanings = map[Code]string{
	UnknownTool:      "no tool has that name",
	InvalidArguments: "an argument is missing, unknown or wrong",
	Disabled:         "tools are switched off (sidecar.tools.enabled)",
	Denied:           "a rule, the mode or a hook forbids the call",
	NotApproved:      "a person said no, or nobody answered",
	OutsideWorkspace: "the path leads out of the workspace",
	ProtectedPath:    "no tool may write this file",
	SensitivePath:    "the file may hold secrets",
	NotFound:         "the thing that an argument names does not exist",
	AlreadyExists:    "the target exists",
	NoMatch:          "the text to replace is not in the file",
	AmbiguousMatch:   "the text to replace is in the file more than once",
	Conflict:         "the file is not as the call expects",
	BinaryFile:       "the file is not text",
	TooLarge:         "the input or the result is over a limit",
	CommandFailed:    "a program or a remote answered with an error",
	TestsFailed:      "tests failed",
	Timeout:          "the call ran out of time",
	Cancelled:        "the caller cancelled the call",
	BudgetExceeded:   "the session's budget is used up",
	DepthExceeded:    "sub-agents are nested too deep",
	Unavailable:      "a program, a model, a network or a person that the tool needs is missing",
	ExpiredCursor:    "the cut result is gone",
	Internal:         "a defect of the server",
}

// Meaning says in a line what c stands for.
func (c Code) Meaning() string { return meanings[c] }

// pathArguments are the names of arguments that name files.
var pathArguments = []string{"path", "paths", "from", "to", "cwd", "files", "patch"}

// failures are the errors that a tool may return, in the order of Codes: those of
// every call, and those that follow from its arguments, its class and its results.
// Internal is in none, as no caller can expect it.
func (t *Tool) failures(arguments []Argument) []Failure {
	may := []Code{InvalidArguments, Disabled, Denied, NotApproved, BudgetExceeded, Cancelled}
	if !t.Interactive {
		may = append(may, Timeout)
	}
	if slices.ContainsFunc(arguments, func(a Argument) bool { return slices.Contains(pathArguments, a.Name) }) {
		may = append(may, OutsideWorkspace, SensitivePath, NotFound)
	}
	if slices.ContainsFunc(arguments, func(a Argument) bool { return a.Name == "cursor" }) {
		may = append(may, ExpiredCursor)
	}
	if t.Access == Edit {
		may = append(may, ProtectedPath, Conflict, BinaryFile, TooLarge)
	}
	if t.Access == Exec || t.Network {
		may = append(may, CommandFailed, Unavailable)
	}
	if t.Tests {
		may = append(may, TestsFailed)
	}
	for _, f := range t.forms {
		if code, ok := strings.CutPrefix(f.when, "of "); ok {
			may = append(may, Code(code))
		}
	}
	var list []Failure
	for _, c := range Codes {
		if slices.Contains(may, c) {
			list = append(list, Failure{c, c.Meaning()})
		}
	}
	return list
}
