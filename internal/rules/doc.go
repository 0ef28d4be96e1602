// Package rules is the wing of what is decided and recorded: policy and its modes, hooks, a session's state, declared
// steps, events, the audit log.
//
// A room belongs here when it says what may happen, or keeps what did. Nothing here runs a call: that is gate's. Gate and
// what stands above it use this wing, and config, extend and tools/agents; it uses sys.
package rules
