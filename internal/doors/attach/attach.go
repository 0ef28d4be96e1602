// Package attach lets the processes of one user that work in the same
// directory find each other. One of them is the host; it is found by a socket
// that lies outside of the directory, where what runs confined in there can't
// reach it, or by the name of a pipe. What is said over a connection is not known here.
package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"
)

// Errors that callers branch on. They come wrapped.
var (
	ErrTaken  = errors.New("another process is the host")
	ErrNone   = errors.New("there is no host")
	ErrBusy   = errors.New("the host has work that can't wait")
	ErrUnable = errors.New("the host does not answer command lines")
)

// Kind says what a host is.
type Kind string

// The kinds of hosts.
const (
	Editor Kind = "serve" // the server of an editor; it stays until its editor leaves
	Left   Kind = "left"  // a server whose editor has left while its agents work; the next editor may have it
	Alone  Kind = "mcp"   // an endpoint without an editor; it leaves when it is asked to
)

// Greeting is what a host says of itself, to everybody who connects.
type Greeting struct {
	Protocol int    `json:"sidecar"` // of the greeting; what this one does not know it refuses
	Kind     Kind   `json:"kind"`
	PID      int    `json:"pid"`
	Version  string `json:"version"`
	Person   bool   `json:"person,omitempty"` // it answers command lines: see DialPerson
}

// Wish is what who attaches wants to have otherwise; the zero value is nothing.
type Wish struct {
	Mode    string `json:"mode,omitempty"`    // of what is called there
	Session string `json:"session,omitempty"` // of those that are kept for who attaches again; "": one that ends with the connection
}

// protocol is the version of the words below.
const protocol = 1

// What who connects wants. After attach, its wish may follow.
const (
	wantAttach = "attach"
	wantLeave  = "leave"
	wantPerson = "person"
	wantServer = "server"
)

// words are what a Wish is said in.
func (w Wish) words() (string, error) {
	if w == (Wish{}) {
		return wantAttach, nil
	}
	said, err := json.Marshal(w)
	return wantAttach + " " + string(said), err
}

// wish reads what words wrote; ok is false for other words.
func wish(line string) (w Wish, ok bool) {
	word, rest, more := strings.Cut(line, " ")
	if word != wantAttach {
		return w, false
	}
	return w, !more || json.Unmarshal([]byte(rest), &w) == nil
}

// handshake bounds the words before the first byte that is handed on.
const handshake = 5 * time.Second

// maxGreeting bounds a line of the handshake, in bytes.
const maxGreeting = 512

// name is how a directory's files are called in the directory of sockets.
func name(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(real))
	return hex.EncodeToString(sum[:12]), nil
}

// readLine reads a line and returns it without its end. It reads no byte after that.
func readLine(r io.Reader) (string, error) {
	var line []byte
	b := make([]byte, 1)
	for len(line) < maxGreeting {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
	}
	return "", errors.New("a line that is too long")
}

func greet(c net.Conn, g Greeting) error {
	line, err := json.Marshal(g)
	if err != nil {
		return err
	}
	_, err = c.Write(append(line, '\n'))
	return err
}
