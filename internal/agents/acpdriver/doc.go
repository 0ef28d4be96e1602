// Package acpdriver makes a run of a conversation with an agent that speaks the
// Agent Client Protocol: it is the run's driver, and the agent's host as far as
// that tells and asks. Files and terminals are the caller's.
package acpdriver
