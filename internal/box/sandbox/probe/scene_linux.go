package probe

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/child"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// scene is what there is to reach for a command that tries to escape. It is
// set up outside, once for the sandbox and once for the control.
type scene struct {
	Root     string // the workspace, with a git repository
	Outside  string // a directory that was not given
	ReadOnly string // a directory that was given to read
	Victim   int    // a process of the same user
	TCP      string // listens
	UDP      string // answers
	Unix     string // a socket in Outside
	Abstract string
	Shm      string // a file in /dev/shm
	SysV     int    // key of a segment of shared memory
	Secret   string // is in files, and in the environment of Victim and of the server
}

// PlantedKeys are names under which secrets are in many environments.
var PlantedKeys = []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN",
	"NPM_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_SECRET", "SSH_AUTH_SOCK", "DATABASE_URL", "HF_TOKEN", "KUBECONFIG"}

// Planted is an environment with a secret under each of PlantedKeys.
func Planted(secret string) []string {
	var env []string
	for _, key := range PlantedKeys {
		env = append(env, key+"="+secret)
	}
	return env
}

// NewScene makes a scene below dir; done takes it away again. Without a network
// or shared memory there is a scene, and no control for what needs them.
func NewScene(self, dir string) (_ *scene, done func(), err error) {
	var last []func()
	undo := func() {
		for _, f := range slices.Backward(last) {
			f()
		}
	}
	defer func() {
		if err != nil {
			undo()
		}
	}()
	w := &scene{
		Root: filepath.Join(dir, "root"), Outside: filepath.Join(dir, "outside"), ReadOnly: filepath.Join(dir, "readonly"),
		Secret: "planted-" + strconv.FormatInt(time.Now().UnixNano(), 36),
	}
	for _, d := range []string{w.Root, w.Outside, w.ReadOnly, filepath.Join(w.Root, ".git/hooks"), filepath.Join(w.Root, ".git/objects"), filepath.Join(w.Root, ".git/refs")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, nil, err
		}
	}
	for name, text := range map[string]string{
		filepath.Join(w.Outside, "secret"):     w.Secret,
		filepath.Join(w.Outside, "file"):       "kept\n",
		filepath.Join(w.ReadOnly, "file"):      "kept\n",
		filepath.Join(w.Root, "file"):          "text\n",
		filepath.Join(w.Root, ".env"):          w.Secret,
		filepath.Join(w.Root, "key.pem"):       w.Secret,
		filepath.Join(w.Root, ".git/HEAD"):     "ref: refs/heads/main\n",
		filepath.Join(w.Root, ".git/config"):   "[core]\n\trepositoryformatversion = 0\n",
		filepath.Join(w.Root, ".git/hooks/ok"): "#!/bin/sh\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return nil, nil, err
		}
	}
	victim := exec.Command(self, child.InitCommand, child.RoleTry, "victim") //nolint:noctx // it ends with its standard input
	victim.Env, victim.Dir = Planted(w.Secret), w.Outside
	life, err := victim.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := victim.Start(); err != nil {
		return nil, nil, err
	}
	last = append(last, func() { life.Close(); _ = victim.Wait() })
	w.Victim = victim.Process.Pid

	if tcp, err := net.Listen("tcp", "127.0.0.1:0"); err == nil { //nolint:noctx // at once
		last = append(last, func() { _ = tcp.Close() })
		w.TCP = tcp.Addr().String()
	}
	if udp, err := net.ListenPacket("udp", "127.0.0.1:0"); err == nil { //nolint:noctx // at once
		last = append(last, func() { _ = udp.Close() })
		w.UDP = udp.LocalAddr().String()
		go answers(udp)
	}
	w.Unix, w.Abstract = filepath.Join(w.Outside, "sock"), "@sidecar-ls-"+w.Secret
	for _, name := range []string{w.Unix, w.Abstract} {
		l, err := net.Listen("unix", name) //nolint:noctx // at once
		if err != nil {
			continue // such as for a long name: then there is no control
		}
		last = append(last, func() { _ = l.Close() })
	}
	w.Shm = "/dev/shm/sidecar-ls-" + w.Secret
	if os.WriteFile(w.Shm, []byte(w.Secret), 0o600) == nil {
		last = append(last, func() { _ = os.Remove(w.Shm) })
	}
	w.SysV = os.Getpid()<<8 | w.Victim&0xff
	if id, err := unix.SysvShmGet(w.SysV, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600); err == nil {
		last = append(last, func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	}
	return w, undo, nil
}

// answer is what one who asks over UDP is told.
const answer = "answer"

func answers(c net.PacketConn) {
	b := make([]byte, 64)
	for {
		_, from, err := c.ReadFrom(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			_, _ = c.WriteTo([]byte(answer), from)
		}
	}
}

// spec is what an attempt to escape may use.
func (w *scene) spec() spec.Spec {
	return spec.Spec{
		Root: w.Root, ReadOnly: []string{w.ReadOnly}, Hidden: []string{filepath.Join(w.Root, ".env")}, Sealed: []string{filepath.Join(w.Root, "key.pem")},
		Env: spec.Environ(append(os.Environ(), Planted(w.Secret)...)),
	}
}

// victim does nothing until its standard input ends.
func victim(in io.Reader) int {
	_, err := io.Copy(io.Discard, in)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
