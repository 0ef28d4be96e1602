package ide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// Places are the directories in which agents look for editors. One that is "" is
// that of an agent that is not here.
type Places struct {
	Claude string // for PORT.lock
	Gemini string // for gemini-ide-server-PID-PORT.json
}

// PlacesHere are the places of this user, who has an agent if its own directory
// exists.
func PlacesHere() (p Places, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return p, err
	}
	if own := own("CLAUDE_CONFIG_DIR", home, ".claude"); isDir(own) {
		p.Claude = filepath.Join(own, "ide")
	}
	if own := filepath.Join(own("GEMINI_CLI_HOME", home, ""), ".gemini"); isDir(own) {
		p.Gemini = filepath.Join(os.TempDir(), "gemini", "ide")
	}
	return p, nil
}

// own is the directory that a variable names, or the usual one.
func own(variable, home, usual string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home, usual)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// owner is how our files are told from those of other editors.
const owner = "sidecar-ls"

// claudeFile is what Claude Code reads.
type claudeFile struct {
	PID       int      `json:"pid"`
	Folders   []string `json:"workspaceFolders"`
	Name      string   `json:"ideName"`
	Transport string   `json:"transport"`
	Windows   bool     `json:"runningInWindows"`
	Token     string   `json:"authToken"`
	Server    string   `json:"server"` // owner
}

// geminiFileOf is what Gemini CLI reads.
type geminiServer struct {
	Port   int    `json:"port"`
	Path   string `json:"workspacePath"` // folders, as in PATH
	Token  string `json:"authToken"`
	PID    int    `json:"pid"`
	Server string `json:"server"` // owner
	IDE    struct {
		Name    string `json:"name"`
		Display string `json:"displayName"`
	} `json:"ideInfo"`
}

// announce writes the files by which the agents that are here find a port, and
// removes those that servers of ours have left. It returns the files that it wrote;
// where one can't be written, that is logged, and the other agent is served.
func announce(o Options, port int, token string) (files []string, err error) {
	pid := os.Getpid()
	folders := both(o.Folders)
	if dir := o.Places.Claude; dir != "" {
		name := filepath.Join(dir, strconv.Itoa(port)+".lock")
		err = errors.Join(err, publish(dir, 1, name, claudeFile{PID: pid, Folders: folders, Name: o.Name, Transport: "ws", Token: token, Server: owner}, &files))
	}
	if dir := o.Places.Gemini; dir != "" {
		g := geminiServer{Port: port, Path: strings.Join(folders, string(filepath.ListSeparator)), Token: token, PID: pid, Server: owner}
		g.IDE.Name, g.IDE.Display = owner, o.Name
		name := filepath.Join(dir, fmt.Sprintf("gemini-ide-server-%d-%d.json", pid, port))
		err = errors.Join(err, publish(dir, 2, name, g, &files))
	}
	if err != nil {
		o.Log.Warn("an agent can't find this editor", "error", err)
	}
	if len(files) == 0 {
		return nil, err
	}
	return files, nil
}

// both are folders as they are called and as they are without links: agents compare
// either with where they run.
func both(folders []string) (all []string) {
	for _, dir := range folders {
		all = append(all, dir)
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			all = append(all, real)
		}
	}
	return all
}

// publish writes a file for its owner alone, at once, into a directory that is made
// with depth levels.
func publish(dir string, depth int, name string, what any, files *[]string) error {
	if err := prepare(dir, depth); err != nil {
		return err
	}
	sweep(dir)
	data, err := json.Marshal(what)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".sidecar-*.tmp") // made with 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := osfile.Rename(context.Background(), f.Name(), name); err != nil {
		return err
	}
	*files = append(*files, name)
	return nil
}

// prepare makes the last levels of a directory for us alone. A link, or a directory of
// somebody else, is refused: whoever has it could put other files there.
func prepare(dir string, depth int) error {
	if depth > 1 {
		if err := prepare(filepath.Dir(dir), depth-1); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !ours(info) {
		return fmt.Errorf("%s is a link, or belongs to somebody else", dir)
	}
	return nil
}

// remove removes the files that announce wrote.
func remove(files []string) {
	for _, name := range files {
		_ = os.Remove(name)
	}
}

// maxFile bounds what is read of a file, in bytes.
const maxFile = 1 << 16

// sweep removes what servers of ours that have died have left in a directory.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		var f struct {
			PID    int    `json:"pid"`
			Port   int    `json:"port"`
			Server string `json:"server"`
		}
		if json.Unmarshal(data, &f) != nil || f.Server != owner {
			continue
		}
		if port, ok := strings.CutSuffix(e.Name(), ".lock"); ok {
			f.Port, _ = strconv.Atoi(port)
		}
		if !alive(f.PID) || !listens(f.Port) {
			_ = os.Remove(name)
		}
	}
}

// listens reports whether somebody listens on a port of this machine.
func listens(port int) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
