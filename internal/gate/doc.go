// Package gate is the wing of the one way to every effect: a call is bound, decided, asked about, run, applied, masked
// and recorded, in the view of its session.
//
// A room belongs here when a call or a decision about pending edits passes through it. It knows neither LSP nor how
// processes are confined. Doors, agents, exec, the server and app use this wing; it uses rules, files, git, extend and what is below.
package gate
