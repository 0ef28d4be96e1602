package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sidecar-ls/sidecar-ls/internal/gitrepo"
	"github.com/sidecar-ls/sidecar-ls/pki/history"
)

// pastName is the file, beside the index, that keeps what was read of the
// commits.
const pastName = "history.index"

// keptPast is a folderPast in that file.
type keptPast struct {
	Name    string
	Head    gitrepo.OID
	Below   string
	Commits []history.Commit
	Units   bool // of all commits it was read what they touched
}

// restore returns what was read by an earlier run for the same folders, nil if
// that isn't known. Whether it still holds is seen by its heads.
func (p *past) restore() []folderPast {
	if p.store == nil {
		return nil
	}
	data, err := p.store.Kept(pastName)
	var kept []keptPast
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			p.wrong(fmt.Errorf("the stored history is not used: %w", err))
		}
		return nil
	}
	if len(kept) != len(p.folders) {
		return nil
	}
	out := make([]folderPast, len(kept))
	for i, k := range kept {
		if k.Name != p.folders[i].Name {
			return nil
		}
		out[i] = folderPast{head: k.Head, below: k.Below, commits: k.Commits}
		if !k.Units {
			out[i].head = gitrepo.OID{} // all is read again, for what is missing
		}
	}
	return out
}

// keep stores what was read.
func (p *past) keep() {
	if p.store == nil {
		return
	}
	kept := make([]keptPast, len(p.of))
	for i, f := range p.of {
		kept[i] = keptPast{p.folders[i].Name, f.head, f.below, f.commits, len(f.unread) == 0}
	}
	data, err := json.Marshal(kept)
	if err == nil {
		err = p.store.Keep(pastName, data)
	}
	if err != nil {
		p.wrong(fmt.Errorf("the history is not stored: %w", err))
	}
}

func (p *past) wrong(err error) {
	if p.problem != nil {
		p.problem(err)
	}
}
