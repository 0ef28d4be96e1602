package system

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Settings are those of the server.
type Settings interface {
	// Setting describes a setting. It fails with tools.NotFound, and with
	// tools.Denied for a secret one.
	Setting(key string) (Setting, error)
	// PlanSetting says what a change would be, or why an agent can't make it.
	PlanSetting(key string, value json.RawMessage) (SettingChange, error)
	// ApplySetting makes a change that was planned, and says what holds then.
	ApplySetting(SettingChange) (Setting, error)
}

// Setting is what holds of one setting.
type Setting struct {
	Key      string          `json:"key" jsonschema:"with the prefix sidecar."`
	Value    json.RawMessage `json:"value" jsonschema:"that holds"`
	From     []string        `json:"from" jsonschema:"where the value was set; none: it is the default"`
	Values   string          `json:"values" jsonschema:"what it may be, in words"`
	Writable bool            `json:"agentWritable" jsonschema:"update_setting can change it"`
	Help     string          `json:"help" jsonschema:"what it is for"`
}

// SettingChange is what a change would be.
type SettingChange struct {
	Key      string // without the prefix
	Old, New json.RawMessage
	Where    string // in whose settings, in words
}

//go:embed get_setting.md
var getSettingText string

//go:embed update_setting.md
var updateSettingText string

type getSettingIn struct {
	Key string `json:"key" jsonschema:"such as result.maxBytes" minLength:"1" maxLength:"200"`
}

func getSetting(settings Settings) *tools.Tool {
	d := tools.Def{Name: "get_setting", Title: "Read a setting", Example: `{"key": "result.maxBytes"}`, Description: getSettingText, Category: "system", Tags: []string{"configuration", "option"}, Names: []string{"update_setting"}, Output: Setting{}}
	return tools.NewRead(d, func(_ context.Context, _ *tools.Call, in getSettingIn) (tools.Result, error) {
		s, err := settings.Setting(in.Key)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: s.text(), Structured: s}, nil
	})
}

func (s Setting) text() string {
	text := fmt.Sprintf("%s = %s", s.Key, s.Value)
	if len(s.From) == 0 {
		text += " (the default)"
	}
	for _, from := range s.From {
		text += "\nset by " + from
	}
	text += "\n" + s.Help + "\nIt may be: " + s.Values + "."
	if s.Writable {
		return text + " update_setting can change it, when the user agrees."
	}
	return text + " Agents can't change it."
}

type updateSettingIn struct {
	Key   string          `json:"key" jsonschema:"such as result.maxBytes" minLength:"1" maxLength:"200"`
	Value json.RawMessage `json:"value" jsonschema:"the new value" type:"string,integer,boolean"`

	change SettingChange
}

func updateSetting(settings Settings) *tools.Tool {
	d := tools.Def{
		Name: "update_setting", Title: "Change a setting", Example: `{"key": "result.maxBytes", "value": 20000}`, Description: updateSettingText, Category: "system", AlwaysAsk: true, Idempotent: true,
		Tags: []string{"configuration", "option"}, Names: []string{"get_setting"},
		Output: Setting{},
	}
	t := tools.NewExec(d, func(_ context.Context, _ *tools.Call, in updateSettingIn) (tools.Result, error) {
		s, err := settings.ApplySetting(in.change)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: fmt.Sprintf("%s was %s and is now %s, in %s.", s.Key, in.change.Old, s.Value, in.change.Where), Structured: s}, nil
	})
	return tools.Planned(t, func(_ context.Context, _ workspace.Files, in updateSettingIn) (updateSettingIn, tools.Effects, error) {
		change, err := settings.PlanSetting(in.Key, in.Value)
		in.change = change
		return in, tools.Effects{Change: fmt.Sprintf("sidecar.%s: %s → %s, in %s", change.Key, change.Old, change.New, change.Where)}, err
	})
}
