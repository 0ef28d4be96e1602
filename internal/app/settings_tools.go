package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/system"
)

// settingTools is the settings for the tools that read and change them.
type settingTools struct {
	c   *core
	dir string // of the project
}

// Whose settings a value is from, in words.
const (
	inUser    = "the user's settings"
	inClient  = "the editor's settings"
	inProject = "the project's settings (" + config.ProjectFile + ")"
)

func (s settingTools) row(key string) (config.Setting, error) {
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

func (s settingTools) Setting(key string) (system.Setting, error) {
	row, err := s.row(key)
	if err != nil {
		return system.Setting{}, err
	}
	e, _ := s.c.settings.now.Load().Explain(row.Key)
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
	switch source {
	case config.UserFile():
		return inUser
	case config.ProjectFile:
		return inProject
	}
	return inClient
}

func (s settingTools) PlanSetting(key string, value json.RawMessage) (system.SettingChange, error) {
	row, err := s.row(key)
	if err != nil {
		return system.SettingChange{}, err
	}
	if !row.AgentWritable {
		return system.SettingChange{}, tools.Errorf(tools.Denied, "agents can't change sidecar.%s; ask the user to", row.Key)
	}
	if err := s.c.settings.now.Load().Check(row.Key, value); err != nil {
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
	case old.From[len(old.From)-1] == inClient:
		return change, tools.Errorf(tools.Unavailable, "the editor sets sidecar.%s, which stands before the user's file; ask the user to change it there", row.Key)
	default:
		change.Where = old.From[len(old.From)-1]
	}
	return change, nil
}

func (s settingTools) ApplySetting(change system.SettingChange) (system.Setting, error) {
	write := s.c.putUserSetting
	if change.Where == inProject {
		write = s.putProjectSetting
	}
	if err := write(change.Key, change.New); err != nil {
		return system.Setting{}, tools.Errorf(tools.Unavailable, "sidecar.%s was not changed: %v", change.Key, err)
	}
	s.c.settings.reload()
	now, err := s.Setting(change.Key)
	if err == nil && !bytes.Equal(now.Value, change.New) {
		err = tools.Errorf(tools.Conflict, "%s was written to %s, but something stands before it: it is %s", now.Key, change.Where, now.Value)
	}
	return now, err
}

// putUserSetting writes a setting into the user's file.
func (c *core) putUserSetting(key string, value []byte) error {
	src, err := config.UserSource()
	if err != nil {
		return err
	}
	if src.Name == "" {
		return errors.New("the system names no directory for the user's settings")
	}
	data, err := config.Put(src, key, value)
	if err != nil {
		return err
	}
	name := src.Name
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real // a link that the user made stays one
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	return replaceFile(root, filepath.Base(name), data)
}

// putProjectSetting writes a setting into the project's file, which must be no
// link: it would lead out of the project.
func (s settingTools) putProjectSetting(key string, value []byte) error {
	old, err := readProjectSettings(s.dir)
	if err != nil {
		return err
	}
	data, err := config.Put(config.Source{Origin: config.Project, Name: config.ProjectFile, Data: old}, key, value)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return replaceFile(root, config.ProjectFile, data)
}

// replaceFile writes a file whole: whoever reads it sees the old or the new.
func replaceFile(root *os.Root, name string, data []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	temp := name + ".new"
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), root.Remove(temp))
	}
	return nil
}
