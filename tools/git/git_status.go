package git

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed git_status.md
var statusDoc string

// maxListed bounds how many files of one kind are listed in the text.
const maxListed = 300

// StatusInfo is the structured result of git_status. Codes are git's letters.
type StatusInfo struct {
	Branch    string       `json:"branch" jsonschema:"empty when HEAD is detached"`
	Commit    string       `json:"commit" jsonschema:"empty when there is none yet"`
	Upstream  string       `json:"upstream,omitempty" jsonschema:"the branch that it follows"`
	Ahead     int          `json:"ahead" jsonschema:"commits that the upstream lacks"`
	Behind    int          `json:"behind" jsonschema:"commits that only the upstream has"`
	Files     []StatusFile `json:"files" jsonschema:"staged, changed or in conflict"`
	Untracked []string     `json:"untracked" jsonschema:"files"`
}

// StatusFile is one file that is staged, changed or in conflict.
type StatusFile struct {
	Path     string `json:"path" jsonschema:"file"`
	From     string `json:"from,omitempty" jsonschema:"of a rename"`
	Staged   string `json:"staged,omitempty" jsonschema:"git's letter of what is staged"`
	Changed  string `json:"changed,omitempty" jsonschema:"git's letter of what is not staged"`
	Conflict bool   `json:"conflict,omitempty" jsonschema:"a merge of it is not done"`
}

type statusArgs struct {
	Pending bool `json:"pending,omitempty" jsonschema:"as if all edits were accepted and saved"`
}

func newStatus(d Deps) *tools.Tool {
	return tools.NewRead(tools.Def{
		Name: "git_status", Title: "Git status", Example: `{}`, Description: statusDoc,
		Category: category, Core: true, Tags: []string{"changes", "branch", "staged"}, SeesDisk: true, MaySee: true,
		Output: StatusInfo{},
	}, func(ctx context.Context, c *tools.Call, in statusArgs) (tools.Result, error) {
		p, _, err := d.repository(ctx, c.Files, "")
		if err != nil {
			return tools.Result{}, err
		}
		o := gitrepo.StatusOptions{Below: p.below}
		if in.Pending {
			o.Over = p.over()
			c.SawFiles()
		}
		st, err := p.repo.Status(ctx, o)
		if err != nil {
			return tools.Result{}, asError(err)
		}
		info := p.statusInfo(st)
		text, cut := info.text(st.Branch)
		return tools.Result{Text: text, Structured: info, Truncated: cut}, nil
	})
}

func (p repository) statusInfo(st *gitrepo.Status) StatusInfo {
	b := st.Branch
	info := StatusInfo{Branch: b.Name, Commit: b.Commit, Upstream: b.Upstream, Ahead: b.Ahead, Behind: b.Behind, Files: []StatusFile{}, Untracked: []string{}}
	for _, f := range st.Files {
		name, ok := p.name(f.Path)
		if !ok {
			continue
		}
		file := StatusFile{Path: name, Staged: letter(f.Staged), Changed: letter(f.Changed), Conflict: f.Conflict}
		if f.From != "" {
			if file.From, ok = p.name(f.From); !ok {
				file.Staged = "A" // it came from outside
			}
		}
		info.Files = append(info.Files, file)
	}
	for _, path := range st.Untracked {
		if name, ok := p.name(path); ok {
			info.Untracked = append(info.Untracked, name)
		}
	}
	return info
}

func letter(code byte) string { return strings.TrimSpace(string(code)) }

// text is what the model reads; cut says that some files are only counted.
func (s StatusInfo) text(branch gitrepo.Branch) (text string, cut bool) {
	var b strings.Builder
	b.WriteString(headLine(branch) + "\n")
	group := func(title string, line func(StatusFile) string) {
		var lines []string
		for _, f := range s.Files {
			if l := line(f); l != "" {
				lines = append(lines, l)
			}
		}
		cut = writeGroup(&b, title, lines) || cut
	}
	group("In conflict", func(f StatusFile) string {
		if !f.Conflict {
			return ""
		}
		return f.Staged + f.Changed + " " + shown(f.Path)
	})
	group("Staged", func(f StatusFile) string {
		if f.Conflict || f.Staged == "" {
			return ""
		}
		if f.From != "" {
			return f.Staged + " " + shown(f.From) + " -> " + shown(f.Path)
		}
		return f.Staged + " " + shown(f.Path)
	})
	group("Not staged", func(f StatusFile) string {
		if f.Conflict || f.Changed == "" {
			return ""
		}
		return f.Changed + " " + shown(f.Path)
	})
	untracked := make([]string, len(s.Untracked))
	for i, name := range s.Untracked {
		untracked[i] = shown(name)
	}
	cut = writeGroup(&b, "Untracked", untracked) || cut
	if len(s.Files) == 0 && len(s.Untracked) == 0 {
		b.WriteString("nothing to commit, the working tree is clean\n")
	}
	return b.String(), cut
}

func writeGroup(b *strings.Builder, title string, lines []string) (cut bool) {
	if len(lines) == 0 {
		return false
	}
	fmt.Fprintf(b, "%s (%d):\n", title, len(lines))
	for i, line := range lines {
		if i == maxListed {
			fmt.Fprintf(b, "  … %d more\n", len(lines)-i)
			return true
		}
		fmt.Fprintf(b, "  %s\n", line)
	}
	return false
}

// headLine says where HEAD stands.
func headLine(b gitrepo.Branch) string {
	line := "on branch " + b.Name
	switch {
	case b.Unborn:
		line += ", without a commit yet"
	case b.Name == "":
		line = "on no branch, at commit " + b.Commit[:min(10, len(b.Commit))]
	}
	switch {
	case b.Upstream == "":
	case b.Gone:
		line += "; its upstream " + b.Upstream + " is gone"
	case b.Ahead == 0 && b.Behind == 0:
		line += ", level with " + b.Upstream
	default:
		line += fmt.Sprintf(", %d ahead of and %d behind %s", b.Ahead, b.Behind, b.Upstream)
	}
	return line
}
