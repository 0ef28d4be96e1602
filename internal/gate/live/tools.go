package live

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
)

// ForTools is the settings as the tools know them that read and change them.
func (s *Settings) ForTools() system.Settings { return forTools{s} }

type forTools struct{ s *Settings }

// Whose settings a value is from, in words.
const (
	inUser    = "the user's settings"
	inClient  = "the editor's settings"
	inProject = "the project's settings (" + config.ProjectFile + ")"
)

func (s forTools) row(key string) (config.Setting, error) {
	key = strings.TrimPrefix(strings.TrimSpace(key), "sidecar.")
	row, ok := config.Lookup(key)
	if !ok {
		return row, tools.Errorf(tools.NotFound, "key: %s is no setting%s", key, config.Near(key))
	}
	if row.Secret {
		return row, tools.Errorf(tools.Denied, "sidecar.%s is secret: agents can neither read nor change it", row.Key)
	}
	return row, nil
}

func (s forTools) Setting(key string) (system.Setting, error) {
	row, err := s.row(key)
	if err != nil {
		return system.Setting{}, err
	}
	e, _ := s.s.Now().Explain(row.Key)
	value, err := json.Marshal(e.Value)
	if err != nil {
		return system.Setting{}, err
	}
	out := system.Setting{Key: "sidecar." + row.Key, Value: value, From: []string{}, Values: row.Values(), Writable: row.AgentWritable, Help: row.Help}
	for _, name := range e.Sources {
		out.From = append(out.From, whose(name))
	}
	return out, nil
}

func whose(source string) string {
	if config.OfMachine(source) {
		return source
	}
	switch source {
	case config.UserFile():
		return inUser
	case config.ProjectFile:
		return inProject
	}
	return inClient
}

func (s forTools) PlanSetting(key string, value json.RawMessage) (system.SettingChange, error) {
	row, err := s.row(key)
	if err != nil {
		return system.SettingChange{}, err
	}
	if !row.AgentWritable {
		return system.SettingChange{}, tools.Errorf(tools.Denied, "agents can't change sidecar.%s; ask the user to", row.Key)
	}
	if err := s.s.Now().Check(row.Key, value); err != nil {
		return system.SettingChange{}, tools.Errorf(tools.InvalidArguments, "value: %v", err)
	}
	old, err := s.Setting(key)
	if err != nil {
		return system.SettingChange{}, err
	}
	change := system.SettingChange{Key: row.Key, Old: old.Value, New: bytes.TrimSpace(value), Where: inUser}
	switch {
	case bytes.Equal(change.Old, change.New):
		return change, tools.Errorf(tools.InvalidArguments, "value: sidecar.%s is %s already; nothing was changed", row.Key, change.Old)
	case len(old.From) == 0:
	case config.OfMachine(old.From[len(old.From)-1]):
		return change, tools.Errorf(tools.Denied, "sidecar.%s is set by %s, which only an administrator can change", row.Key, old.From[len(old.From)-1])
	case old.From[len(old.From)-1] == inClient:
		return change, tools.Errorf(tools.Unavailable, "the editor sets sidecar.%s, which stands before the user's file; ask the user to change it there", row.Key)
	default:
		change.Where = old.From[len(old.From)-1]
	}
	return change, nil
}

func (s forTools) ApplySetting(change system.SettingChange) (system.Setting, error) {
	write := s.s.PutUser
	if change.Where == inProject {
		write = s.s.writeProject
	}
	if err := write(change.Key, change.New); err != nil {
		return system.Setting{}, tools.Errorf(tools.Unavailable, "sidecar.%s was not changed: %v", change.Key, err)
	}
	now, err := s.Setting(change.Key)
	if err == nil && !bytes.Equal(now.Value, change.New) {
		err = tools.Errorf(tools.Conflict, "%s was written to %s, but something stands before it: it is %s", now.Key, change.Where, now.Value)
	}
	return now, err
}
