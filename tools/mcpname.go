package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const maxName = 64

// MCPName is the name under which the tool of an MCP server is registered:
// mcp_<server>_<tool>. Where that is too long, or taken (a_b and c make the
// same name as a and b_c), a short hash of the pair ends it. taken may be nil.
func MCPName(server, tool string, taken func(name string) bool) string {
	name := "mcp_" + snake(server) + "_" + snake(tool)
	if len(name) <= maxName && (taken == nil || !taken(name)) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	suffix := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(suffix))] + suffix
}

// OfMCP reports whether a name, in one of the spellings that Lookup takes, is
// that of a tool of an MCP server.
func OfMCP(name, server string) bool {
	for _, prefix := range []string{"mcp_" + snake(server) + "_", "mcp:" + server + "/", "mcp__" + server + "__"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// snake replaces what a name can't have.
func snake(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, s)
}
