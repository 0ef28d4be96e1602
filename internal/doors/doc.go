// Package doors is the wing of the ways in beside LSP: MCP, the editor that agents look for, the terminal's other
// processes, and the set-up of clients.
//
// A room belongs here when somebody outside of this process comes in through it. Each door knows who is at the other end
// and hands the call to gate. Only serve, cli and app use this wing.
package doors
