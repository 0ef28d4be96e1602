package ide

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
)

// standing says what a program may do, whatever token it has.
type standing struct {
	held  bool   // its edits wait for review, in whatever mode
	blind bool   // it gets no selection, open files and problems
	why   string // it is held; "": it is not
}

// standingOf is the one decision about it. A program of the user's gets what the user's
// mode says. One that works for an agent writes nothing that was not reviewed, as in its
// world, and sees what the editor shows of the folders if it was started by this server,
// whose worlds have them; others have worlds of other folders.
func standingOf(r *http.Request) standing {
	who := peers.Who{}
	if look, ok := r.Context().Value(peerKey{}).(func() peers.Who); ok {
		who = look()
	}
	if who.Person() {
		return standing{}
	}
	return standing{held: true, blind: !who.Own(), why: who.Why()}
}

// peerKey is the key of who is at the other end, in the context of a connection.
type peerKey struct{}

// withPeer has a connection know who is at its other end. It is looked at once, when
// somebody knows the token: a connection that was opened by one program stays its.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() peers.Who { return peers.OfTCP(c) }))
}
