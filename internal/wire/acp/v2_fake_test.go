package acp

import (
	"fmt"
	"testing"
)

// all2 is what an agent offers in version 2 that offers everything.
const all2 = `{"protocolVersion":2,"info":{"name":"fake","version":"2"},"capabilities":{"session":{
"prompt":{"image":{},"embeddedContext":{}},"mcp":{"stdio":{},"http":{}},"delete":{},"fork":{},"additionalDirectories":{}}},
"authMethods":[{"type":"agent","methodId":"key","name":"Key"},{"type":"terminal","methodId":"tui","name":"TUI","args":["login"],"env":[{"name":"A","value":"b"}]}]}`

// open2 runs initialize and session/new in version 2.
func open2(t *testing.T, c *Conn, a *fakeAgent) *Session {
	t.Helper()
	go func() {
		a.reply(a.expect("initialize"), oneLine(all2))
		a.reply(a.expect("session/new"), `{"sessionId":"s1"}`)
	}()
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSession(t.Context(), SessionParams{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// update sends an update of a session, by the members beside its kind.
func (a *fakeAgent) update(session, kind, members string) {
	a.t.Helper()
	if members != "" {
		members = "," + members
	}
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":%q%s}}}`, session, kind, members))
}

func (a *fakeAgent) runs(session string) {
	a.t.Helper()
	a.update(session, "state_update", `"state":"running"`)
}

func (a *fakeAgent) idles(session, reason string) {
	a.t.Helper()
	a.update(session, "state_update", fmt.Sprintf(`"state":"idle","stopReason":%q`, reason))
}

// takes answers a prompt as a message that it has told.
func (a *fakeAgent) takes(prompt wire, message string) {
	a.t.Helper()
	a.update("s1", "user_message", fmt.Sprintf(`"messageId":%q,"content":[{"type":"text","text":"go"}]`, message))
	a.reply(prompt, fmt.Sprintf(`{"messageId":%q}`, message))
}

// synced returns when the host has handled all that was sent.
func (a *fakeAgent) synced() {
	a.t.Helper()
	a.request(`"sync"`, "none", "{}")
	for string(a.read().ID) != `"sync"` {
	}
}

// dial2 is dial in version 2, with a session.
func dial2(t *testing.T) (*testWorld, *Conn, *fakeAgent, *Session) {
	t.Helper()
	w := newWorld()
	c, a := dial(t, w.world(), Options{Version: Version2})
	return w, c, a, open2(t, c, a)
}
