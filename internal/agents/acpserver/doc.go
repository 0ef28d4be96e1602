// Package acpserver is the agent's side of the Agent Client Protocol, version 1: a
// client's sessions are runs of our own agent. What happens in a run is told as updates,
// what the agent asks is asked of the client. A Relay keeps a client's connection while
// the process that serves its folder changes.
package acpserver
