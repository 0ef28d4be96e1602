// Package attach lets the processes of one user that work in the same
// directory find each other. One of them is the host; it is found by a socket
// that lies outside of the directory, where what runs confined in there can't
// reach it. What is said over a connection is not known here.
package attach

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Errors that callers branch on. They come wrapped.
var (
	ErrTaken       = errors.New("another process is the host")
	ErrNone        = errors.New("there is no host")
	ErrBusy        = errors.New("the host has work that can't wait")
	ErrUnsupported = errors.New("not possible on this system")
)

// Kind says what a host is.
type Kind string

// The kinds of hosts.
const (
	Editor Kind = "serve" // the server of an editor; it stays until its editor leaves
	Alone  Kind = "mcp"   // an endpoint without an editor; it leaves when it is asked to
)

// Greeting is what a host says of itself, to everybody who connects.
type Greeting struct {
	Protocol int    `json:"sidecar"` // of the greeting; what this one does not know it refuses
	Kind     Kind   `json:"kind"`
	PID      int    `json:"pid"`
	Version  string `json:"version"`
}

// protocol is the version of the words below.
const protocol = 1

// What who connects wants.
const (
	wantAttach = "attach\n"
	wantLeave  = "leave\n"
)

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

// maxPath is the longest path of a socket on the systems that there are.
const maxPath = 100

// runDir is where this user's sockets lie: the directory that the system has
// for such files, else one below the caches, else one of its own in the
// directory for temporary files. It belongs to the user, and to nobody else.
func runDir(prepare bool) (string, error) {
	var tries []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		tries = append(tries, filepath.Join(dir, "sidecar-ls"))
	}
	if dir, err := os.UserCacheDir(); err == nil {
		tries = append(tries, filepath.Join(dir, "sidecar-ls", "run"))
	}
	tries = append(tries, filepath.Join(os.TempDir(), fmt.Sprintf("sidecar-ls-%d", os.Getuid())))
	err := ErrUnsupported
	for _, dir := range tries {
		if len(dir) > maxPath-len("/0123456789abcdef01234567.sock") {
			continue
		}
		if prepare {
			if err = os.MkdirAll(dir, 0o700); err != nil {
				continue
			}
		}
		if err = private(dir); err == nil {
			return dir, nil
		}
	}
	return "", err
}

// private fails for a directory in which others could put a socket.
func private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !mine(info):
		return fmt.Errorf("%s is not a directory of this user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s can be reached by others (mode %v); make it 0700", dir, info.Mode().Perm())
	}
	return nil
}

// readLine reads up to a newline, and no byte after it.
func readLine(r io.Reader) (string, error) {
	var line []byte
	b := make([]byte, 1)
	for len(line) < maxGreeting {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		if line = append(line, b[0]); b[0] == '\n' {
			return string(line), nil
		}
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
