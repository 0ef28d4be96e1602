// Package agents drives agents: our own, and the user's over the Agent Client Protocol. Each run has a session of its
// own. A program of the user's works in the world of its session, so that all that it writes, by whatever way, waits for
// review; our own agent works through the gate alone.
//
// Its rooms: loop (our own agent), conversation (runs and their journals), acpdriver and acpserver (both sides of ACP),
// profile (the table of agents), adapter (what drives Claude Code and Codex), models (the language models of the settings),
// evals. A room belongs here when it knows what a run is. Only app and server use this wing; how processes are confined is exec's, which calls may happen gate's.
package agents
