package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Versions of the protocol.
const (
	Version1 = 1
	Version2 = 2 // a draft: schema/v2/schema.json of the TypeScript library, 2.4.0
)

// dialect is a version of the protocol: how what is said in it is written and read.
type dialect interface {
	// hello are the parameters of initialize. An agent may answer them with an
	// earlier version, so they say what that needs, too.
	hello(c *Conn) map[string]any
	initialized(raw json.RawMessage) (Initialized, error)
	// reaches is what of the world the version has requests for.
	reaches(w World) World
	// signing are the methods to sign in and out.
	signing() (in, out string)
	session(p SessionParams) map[string]any
	// loading is the method that tells a session's history, whose parameters it completes.
	loading(p map[string]any) string
	// setMode is the method that changes a mode; "" for a version without modes.
	setMode() string
	setting(id string, value any) map[string]any
	options(raw json.RawMessage) ([]ConfigOption, error)
	permission(raw json.RawMessage) (PermissionRequest, error)
	talk(s *Session) talk
}

// talk is what is said in a session. Its methods are called in the order of the wire,
// but for answered, which at the end of the connection is called beside them.
type talk interface {
	began(raw json.RawMessage) ([]Update, error)
	// heard hears an update, of a sub-agent with a session of its own if child is not "".
	heard(child string, raw json.RawMessage) said
	// answered hears the answer to the prompt of a turn.
	answered(t *turn, raw json.RawMessage, err error) said
	// works reports whether the agent does something that no turn waits for.
	// Session.mu is held.
	works() bool
}

// said is what follows from a message: what the host is told, and then the end of a turn.
type said struct {
	updates []Update
	over    *turn
	stopped Stopped
	err     error
}

// dialects are the versions that are spoken here.
var dialects = map[int]dialect{Version1: version1{}, Version2: version2{}}

// negotiated is the version with which an agent answers when it was asked for one.
func negotiated(raw json.RawMessage, asked int) (int, error) {
	var reply struct {
		ProtocolVersion *int `json:"protocolVersion"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil || reply.ProtocolVersion == nil {
		return 0, errors.New("the agent's answer to initialize has no version number: check that the program speaks the Agent Client Protocol on its standard output")
	}
	v := *reply.ProtocolVersion
	switch {
	case v > asked && dialects[v] != nil:
		return 0, fmt.Errorf("%w: it was asked for version %d and answers with %d: ask it for that", ErrVersion, asked, v)
	case v > asked:
		return 0, fmt.Errorf("%w: it was asked for version %d and answers with %d: use an older release of the agent", ErrVersion, asked, v)
	case dialects[v] == nil:
		return 0, fmt.Errorf("%w: it was asked for version %d and answers with %d: use a newer release of the agent", ErrVersion, asked, v)
	}
	return v, nil
}

// maxVersions bounds how many versions of an agent's are named.
const maxVersions = 10

// refused makes of an agent's refusal of a version an error that says which it speaks.
// Other errors stay as they are.
func refused(err error, asked int) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeVersion {
		return err
	}
	var data struct{ Supported json.RawMessage }
	_ = json.Unmarshal(e.Data, &data)
	var speaks []string
	for _, raw := range items(data.Supported) {
		var v uint16
		if !isNull(raw) && json.Unmarshal(raw, &v) == nil && !slices.Contains(speaks, fmt.Sprint(v)) && len(speaks) < maxVersions {
			speaks = append(speaks, fmt.Sprint(v))
		}
	}
	if len(speaks) == 0 {
		return fmt.Errorf("%w: it was asked for version %d and refuses that, and does not say which it speaks", ErrVersion, asked)
	}
	return fmt.Errorf("%w: it was asked for version %d and speaks %s", ErrVersion, asked, strings.Join(speaks, ", "))
}

// items are the members of a list; none of what is no list.
func items(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	return list
}
