package ide

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Shown is what the user has before them.
type Shown struct {
	Open      []OpenFile
	Selection *Selection // nil: no file is looked at
}

// OpenFile is a file that is open.
type OpenFile struct {
	Name string    // in the view
	Path string    // absolute
	At   time.Time // when it was last looked at or changed
}

// Selection is what is selected, or where the cursor is.
type Selection struct {
	Path       string
	Start, End Position
	Text       string
}

// Position counts lines and UTF-16 units from zero.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Bounds of what agents are told.
const (
	maxOpen     = 20
	maxSelected = 16 << 10 // bytes
)

// claudeSelection is Claude Code's selection_changed.
type claudeSelection struct {
	Text      string `json:"text"`
	FilePath  string `json:"filePath"`
	FileURL   string `json:"fileUrl"`
	Selection struct {
		span
		Empty bool `json:"isEmpty"`
	} `json:"selection"`
}

func (s Shown) forClaude() any {
	if s.Selection == nil {
		return nil
	}
	at := *s.Selection
	out := claudeSelection{Text: at.Text, FilePath: at.Path, FileURL: workspace.FileURI(at.Path)}
	out.Selection.span, out.Selection.Empty = span{at.Start, at.End}, at.Start == at.End
	return out
}

// geminiContext is Gemini CLI's ide/contextUpdate.
type geminiContext struct {
	Workspace struct {
		Open    []geminiFile `json:"openFiles"`
		Trusted bool         `json:"isTrusted"`
	} `json:"workspaceState"`
}

// geminiFile counts lines and characters from one.
type geminiFile struct {
	Path     string    `json:"path"`
	At       int64     `json:"timestamp"` // milliseconds
	Active   bool      `json:"isActive,omitempty"`
	Cursor   *Position `json:"cursor,omitempty"`
	Selected string    `json:"selectedText,omitempty"`
}

func (s Shown) forGemini(trusted bool) any {
	var out geminiContext
	out.Workspace.Open, out.Workspace.Trusted = []geminiFile{}, trusted
	for _, f := range s.Open {
		g := geminiFile{Path: f.Path, At: f.At.UnixMilli()}
		if at := s.Selection; at != nil && at.Path == f.Path {
			g.Active, g.Cursor, g.Selected = true, &Position{at.End.Line + 1, at.End.Character + 1}, at.Text
		}
		out.Workspace.Open = append(out.Workspace.Open, g)
	}
	return out
}

// forAgents is what agents may know of it: no files with secrets, no secrets, and
// not too much.
func (s *IDE) forAgents(now Shown) Shown {
	now.Open = slices.DeleteFunc(slices.Clone(now.Open), func(f OpenFile) bool { return s.o.Secret(f.Name) })
	slices.SortFunc(now.Open, func(a, b OpenFile) int { return cmp.Compare(b.At.UnixNano(), a.At.UnixNano()) })
	now.Open = now.Open[:min(len(now.Open), maxOpen)]
	if at := now.Selection; at != nil {
		if !slices.ContainsFunc(now.Open, func(f OpenFile) bool { return f.Path == at.Path }) {
			now.Selection = nil
		} else {
			shown := *at
			shown.Text = s.o.Hide(at.Text[:min(len(at.Text), maxSelected)])
			now.Selection = &shown
		}
	}
	if now.Selection == nil && len(now.Open) > 0 { // the editor does not tell: the last one that was changed
		now.Selection = &Selection{Path: now.Open[0].Path}
	}
	return now
}

// ShownChanged is to be called when the user looks at something else; it never
// waits.
func (s *IDE) ShownChanged() {
	if s == nil {
		return
	}
	select {
	case s.looks <- struct{}{}:
	default:
	}
}

// settle is how long is waited for more: a selection is made by many changes.
const settle = 50 * time.Millisecond

// tellShown tells the agents until the end.
func (s *IDE) tellShown() {
	for {
		select {
		case <-s.looks:
		case <-s.ctx.Done():
			return
		}
		select {
		case <-time.After(settle):
		case <-s.ctx.Done():
			return
		}
		now := s.forAgents(s.o.Shown())
		for _, a := range s.all() {
			a.show(now)
		}
	}
}

// show tells an agent what it was not told last.
func (a *agent) show(now Shown) {
	if a.blind {
		return
	}
	again := a.again.Swap(false)
	params := a.words(now)
	data, err := json.Marshal(params)
	if params == nil || err != nil || string(data) == a.told && !again {
		return
	}
	a.told = string(data)
	a.tell(params)
}
