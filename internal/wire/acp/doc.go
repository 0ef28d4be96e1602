// Package acp is the host's side of the Agent Client Protocol, version 1: it drives
// an agent that speaks the protocol over a pair of byte streams, and answers what the
// agent asks of its client. It starts no program, touches no file and decides nothing:
// the World does that.
//
// The agent is not trusted. Lines, queues and open requests are bounded, what
// comes in the wrong order or the wrong shape is refused or kept raw, and the
// end of the connection ends everything that waits for it.
package acp
