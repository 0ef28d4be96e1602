package workspace_test

import (
	"path/filepath"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func TestUndone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"modified": "now", "created": "now", "moved-to": "now", "empty": "now", "other": "now"} {
		if err := ownfile.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := workspace.OpenDisk([]workspace.Folder{{Name: "main", Dir: dir}}, workspace.DiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	before := workspace.Undone(disk, []workspace.Change{
		{Path: "modified", Before: []byte("before"), After: []byte("now")},
		{Path: "created", After: []byte("now")},
		{Path: "deleted", Before: []byte("before")},
		{Path: "moved-to", From: "moved-from", Before: []byte("before"), After: []byte("now")},
		{Path: "empty", Before: []byte{}, After: []byte("now")},
	})
	for name, want := range map[string]string{
		"modified": "before", "created": "absent", "deleted": "before", "moved-to": "absent", "moved-from": "before", "empty": "", "other": "now",
	} {
		got := "absent"
		if data, err := before.ReadFile(name); err == nil {
			got = string(data)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
