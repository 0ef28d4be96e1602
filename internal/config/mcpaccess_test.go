package config

import (
	"strings"
	"testing"
)

// TestMCPAccess: access to the disk is the user's own file's to give; an access that is
// wrong is reported, and the entry left out.
func TestMCPAccess(t *testing.T) {
	entry := func(access string) string {
		return `{"mcp.servers": {"a": {"command": "a", "access": "` + access + `"}}}`
	}
	for _, c := range []struct {
		source Source
		want   MCPAccess
		says   string
	}{
		{user(entry("disk")), MCPDisk, ""},
		{user(entry("read")), MCPRead, ""},
		{client(entry("read")), MCPRead, ""},
		{client(entry("world")), MCPWorld, ""},
		{client(entry("disk")), MCPWorld, "only in the user's own settings file"},
		{user(entry("all")), "", "must be one of world, read, disk"},
		{user(`{"mcp.servers": {"a": {"command": "a", "access": true}}}`), "", "must be a string"},
		{user(`{"mcp.servers": {"a": {"url": "https://example.org", "access": "read"}}}`), "", "for a command"},
	} {
		set, problems := Load(c.source)
		if got := set.MCPServers()["a"].Access; got != c.want {
			t.Errorf("%s: access %q, want %q", c.source.Data, got, c.want)
		}
		said := ""
		for _, p := range problems {
			said += p.Message
		}
		if c.says == "" && said != "" || !strings.Contains(said, c.says) {
			t.Errorf("%s: said %q, want %q", c.source.Data, said, c.says)
		}
	}
	file := MCPFile{".mcp.json", "mcpServers"}
	for access, broken := range map[string]bool{"disk": false, "read": false, "x": true} {
		got, err := file.Read([]byte(`{"mcpServers": {"a": {"command": "a", "access": "` + access + `"}}}`))
		if err != nil || (got["a"].Broken != "") != broken {
			t.Errorf("%s: %+v, %v", access, got, err)
		}
	}
}
