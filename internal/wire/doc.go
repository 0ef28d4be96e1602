// Package wire is the wing of protocols: LSP, the Agent Client Protocol, the APIs of language models, the hooks of other
// agents.
//
// A room belongs here when it turns bytes into types and back. It trusts nothing that comes in, and decides nothing. Types
// of a wire stay at their border: server, doors, agents, extend, langserver. LSP and ACP are
// types and words over one connection, rpc, which uses text; agenthook uses the names of files.
package wire
