package pendingedits

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
)

// Chosen is the files as they would be with some of what is pending accepted, and
// nothing else: what is chosen was looked at when it was made.
type Chosen struct {
	workspace.Files // with those changes
	base            workspace.Files
	changes         []workspace.Change
}

// chosenTexts is a Chosen as a layer.
type chosenTexts map[string][]byte

func (t chosenTexts) Lookup(name string) (data []byte, deleted, ok bool) {
	data, ok = t[name]
	return data, ok && data == nil, ok
}

func (t chosenTexts) Names() []string {
	var names []string
	for name := range t {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Choose returns the files with what sel chooses accepted. It fails for a hunk that
// is not pending, and for an edit that can't be accepted.
func (s *Store) Choose(ctx context.Context, sel Selection) (*Chosen, error) {
	if err := s.own(ctx, true); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	picks, failed, err := s.pick(ctx, sel)
	if err != nil {
		return nil, err
	}
	for _, f := range failed {
		return nil, fmt.Errorf("%s: %w", f.Name, f.Err)
	}
	texts := chosenTexts{}
	c := &Chosen{base: s.base}
	for _, p := range picks {
		ch, err := p.change()
		if err != nil {
			return nil, fmt.Errorf("%s: %w; resolve it, or leave it out", p.e.name, err)
		}
		c.changes = append(c.changes, ch)
		if ch.From != "" {
			texts[ch.From] = nil
		}
		if !ch.AfterLink {
			texts[ch.Path] = ch.After
		}
	}
	c.Files = workspace.NewOverlay(s.base, texts)
	return c, nil
}

// Empty reports whether nothing is chosen.
func (c *Chosen) Empty() bool { return len(c.changes) == 0 }

// Node implements what workspace.NodeOf asks for.
func (c *Chosen) Node(name string) (workspace.Node, error) {
	n, err := workspace.NodeOf(c.base, name)
	for _, ch := range c.changes {
		switch {
		case ch.From == name, ch.Path == name && ch.After == nil:
			n = workspace.Node{}
		case ch.Path == name && ch.AfterLink:
			n = workspace.Node{Exists: true, Link: string(ch.After)}
		case ch.Path == name:
			n = workspace.Node{Exists: true, Exec: n.Exec || workspace.IsExec(ch.Mode)}
			if ch.Mode != 0 {
				n.Exec = workspace.IsExec(ch.Mode)
			}
		}
	}
	return n, err
}

// digest tells whether the same is chosen.
func (c *Chosen) digest() string {
	changes := slices.SortedFunc(slices.Values(c.changes), func(a, b workspace.Change) int { return strings.Compare(a.Path, b.Path) })
	h := sha256.New()
	for _, ch := range changes {
		fmt.Fprintf(h, "%q %q %v %v %d %d\n", ch.Path, ch.From, ch.After == nil, ch.AfterLink, ch.Mode, len(ch.After))
		h.Write(ch.After)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Verified is what a run of tests, or of another command, over pending edits said.
type Verified struct {
	Command string    `json:"command"`
	OK      bool      `json:"ok"`
	Passed  *int      `json:"passed,omitempty"` // tests; nil: they were not counted
	Failed  *int      `json:"failed,omitempty"`
	At      time.Time `json:"at"`
	Stale   bool      `json:"stale"` // what was chosen then is another now
}

// verification is the newest of them.
type verification struct {
	Verified
	sel    Selection
	digest string
}

// Verify notes what a run over what sel chose said.
func (s *guarded) Verify(sel Selection, c *Chosen, v Verified) {
	sel.Revision = 0
	v.At = s.opts.Now().UTC()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified = &verification{v, sel, c.digest()}
	s.revision++
	s.changed()
}

// Verified is what the newest run said, if something is pending.
func (s *Store) Verified() *Verified {
	s.mu.Lock()
	v, pending := s.verified, len(s.entries) > 0
	s.mu.Unlock()
	if v == nil || !pending {
		return nil
	}
	out := v.Verified
	now, err := s.Choose(context.Background(), v.sel)
	out.Stale = err != nil || now.digest() != v.digest
	return &out
}
