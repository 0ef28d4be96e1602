package agents

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	team "github.com/sidecar-ls/sidecar-ls/tools/agents"
)

// maxPatch bounds what a comparison shows of one result, in bytes.
const maxPatch = 256 << 10

// compared is a document that has the results of several agents beside each other, for
// the call of a run: how large they are, what the tests say, what was changed.
func (a *subAgents) compared(run, call, task string, list []team.Candidate, patches []string) (path, uri string, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %d results\n\n%s\n\n| Result | Files | Lines | Tests | Ended |\n|---|---|---|---|---|\n", len(list), quoted(task))
	for i, c := range list {
		fmt.Fprintf(&b, "| %d | %d | +%d −%d | %s | %s |\n", i+1, len(c.Files), c.Added, c.Removed, c.Tests, c.End)
	}
	for i, c := range list {
		fmt.Fprintf(&b, "\n## Result %d\n\n%s\n", i+1, quoted(firstLines(c.Answer)))
		if patches[i] == "" {
			b.WriteString("\nNothing was changed.\n")
			continue
		}
		b.WriteString("\n" + fenced(patches[i]))
	}
	path = filepath.Join(a.m.o.Shown, documentName(run, "best", call))
	return path, workspace.FileURI(path), putDocument(path, a.m.o.Show(b.String()))
}

// quoted is a text of a model as a quotation, so that no line of it is one of ours.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(plain(text), "\n", "\n> ")
}

var ticks = regexp.MustCompile("`{3,}")

// fenced is a patch as a block of code that no line of it ends.
func fenced(patch string) string {
	if len(patch) > maxPatch {
		cut := strings.LastIndexByte(patch[:maxPatch], '\n') + 1
		patch = fmt.Sprintf("%s(%d bytes are not shown)\n", strings.ToValidUTF8(patch[:cut], "\uFFFD"), len(patch)-cut)
	}
	fence := "```"
	for _, run := range ticks.FindAllString(patch, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	return fence + "diff\n" + strings.TrimRight(patch, "\n") + "\n" + fence + "\n"
}
