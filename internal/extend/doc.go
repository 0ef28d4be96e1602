// Package extend is what users extend a workspace with: hooks, and tools of their own, from the settings, the project
// and plugins.
//
// Its rooms: plugin, trust (what trusted folders said when the user trusted them), mcp/source (tools of MCP
// servers). A room belongs here when users bring what it reads. What they bring is confined by exec and called by gate,
// neither of which is known here. Gate, exec, server and app use this wing.
package extend
