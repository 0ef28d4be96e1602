// Package acp is the host's side of the Agent Client Protocol, versions 1 and 2:
// it drives an agent that speaks the protocol over a pair of byte streams, and
// answers what the agent asks of its client. It starts no program, touches no
// file and decides nothing: the World does that.
//
// The agent is not trusted. Lines, queues and open requests are bounded, what
// comes in the wrong order or the wrong shape is refused or kept raw, and the
// end of the connection ends everything that waits for it.
//
// Which version is spoken is agreed on by initialize: it is the one that is asked
// for (Options.Version), or an earlier one. A dialect translates between what a
// version says and the types here; nothing above a Conn sees which it is. Version
// 2 is a draft. It has no fs and no terminal methods, so that a World's Files and
// Terminals are not reached, and an agent may work without a prompt in it.
package acp
