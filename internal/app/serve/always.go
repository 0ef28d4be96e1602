package serve

import (
	"encoding/json"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/always"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

// RulesOf proposes rules that allow for good in a workspace.
func RulesOf(w *app.Workspace) always.Rules {
	r := always.Rules{Log: w.Home.Records, Settings: w.Client.Settings, Lists: w.Dispatch}
	for _, f := range w.Disk.Folders() {
		r.Folders = append(r.Folders, f.Dir)
	}
	return r
}

// forGood is that for an editor.
type forGood struct{ always.Rules }

// Suggest implements commands.Always, as does Plan.
func (f forGood) Suggest(days int) (any, error) { return f.Rules.Suggest(days) }

func (f forGood) Plan(rule commands.AlwaysRule, scope string) (commands.AlwaysPlan, error) {
	one := always.Rule{Prefix: rule.Prefix, Decision: rule.Decision, Rest: rule.Rest, Packages: rule.Packages, Host: rule.Host}
	if scope == "workspace" {
		var err error
		if one, err = f.Here(one); err != nil {
			return commands.AlwaysPlan{}, err
		}
	}
	figures, err := f.Prove(one, 0)
	if err != nil {
		return commands.AlwaysPlan{}, err
	}
	p := commands.AlwaysPlan{Title: figures.Title(), Reason: figures.Words(), Figures: figures, File: config.UserFile()}
	text, err := json.Marshal(figures.Rule)
	if err != nil {
		return commands.AlwaysPlan{}, err
	}
	setting := "sidecar.commandRules"
	if one.Host != "" {
		setting = "sidecar.sandbox.network"
		if text, err = json.Marshal(one.Reaches()); err != nil {
			return commands.AlwaysPlan{}, err
		}
	}
	p.Body = fmt.Sprintf("Adds to %s in %s:\n  %s", setting, p.File, text)
	p.Write = func() error {
		_, err := f.Add(one)
		return err
	}
	return p, nil
}
