package localsock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// Path is how a socket is called that has a name in a directory. Pipes are in no
// directory: the name of a pipe has the user and the directory in it.
func Path(dir, name string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf(`\\.\pipe\sidecar-ls-%s-%s-%s`, user(), hex.EncodeToString(sum[:6]), name)
}

// user is the identifier of this process's user; "" is never the case.
func user() string {
	u, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return ""
	}
	return u.User.Sid.String()
}

// bufferSize is how much may be written, in bytes, before it is read.
const bufferSize = 64 << 10

// Listen makes a pipe that admits processes of this user, on this machine. It
// fails when there is one of that name.
func Listen(path string) (net.Listener, error) {
	return winio.ListenPipe(path, &winio.PipeConfig{
		SecurityDescriptor: "D:P(A;;GA;;;" + user() + ")",
		MessageMode:        true, // without which half of a connection can't be closed
		InputBufferSize:    bufferSize,
		OutputBufferSize:   bufferSize,
	})
}

// Dial connects to a pipe. Whoever has made it can't act in the name of this user.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	return winio.DialPipeContext(ctx, path)
}
