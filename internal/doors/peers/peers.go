// Package peers says who may decide: which processes act for a person, and which
// commands need one. A program that sidecar-ls has started works for an agent, if for
// anybody: it calls tools, and decides nothing, whatever it calls itself and whatever
// its environment says.
package peers

import (
	"cmp"
	"errors"
	"fmt"
	"net"
)

// ErrNoPerson refuses what only a person may do. It comes wrapped.
var ErrNoPerson = errors.New("only a person decides that")

// Who is for whom a process acts. The zero value is nobody who may decide.
type Who struct {
	person bool
	own    bool   // it descends from this very process
	why    string // it is no person
}

// Person reports whether the process acts for a person, as far as the system tells.
func (w Who) Person() bool { return w.person }

// Own reports whether it is known that this very process has started it.
func (w Who) Own() bool { return w.own }

// Why says why it is no person.
func (w Who) Why() string { return cmp.Or(w.why, "nothing is known of it") }

// May fails, with what to do instead, when the process may not do what is called by
// that name in the table.
func (w Who) May(name string) error {
	if w.person || required(name) == anyone {
		return nil
	}
	return fmt.Errorf("%s: %w, and the process that asks works for none: %s. Decide in the editor, or in a terminal of your own", name, ErrNoPerson, w.Why())
}

// Sandboxed is who runs in a sandbox of ours.
func Sandboxed() Who { return Who{why: "it runs in a sandbox of sidecar-ls"} }

// Peer is a connection, and who is at its other end.
type Peer struct {
	net.Conn
	Who
}

// tries bounds how often the process of a connection is looked for: the tables of the
// system change while they are read.
const tries = 3

// facts are what the system tells of a process.
type facts struct {
	unseen error  // why it can't be looked at
	below  int    // a process of ours that it descends from; 0: none
	own    bool   // with below: it descends from this process, too
	apart  string // the kind of namespace that it does not share with this process; "": none
}

// who is the one decision over them.
func (f facts) who() Who {
	switch {
	case f.unseen != nil:
		return Who{why: fmt.Sprintf("it can't be looked at (%v)", f.unseen)}
	case f.below != 0:
		return Who{own: f.own, why: fmt.Sprintf("it descends from the sidecar-ls of process %d, which starts programs for agents", f.below)}
	case f.apart != "":
		return Who{why: fmt.Sprintf("it is in another %s namespace than the server", f.apart)}
	}
	return Who{person: true}
}
