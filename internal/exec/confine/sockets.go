package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
)

// A socket with a path is reached from every network namespace, so the tables of all of them
// count. A table has the name that a program gave when it bound the socket: it may be relative,
// and the file may have been renamed since.

// socketTables are what /proc/net/unix has in each network namespace that can be looked at.
func socketTables() (string, error) {
	own, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return "", err
	}
	var known []os.FileInfo // of the tables
	if info, err := os.Stat("/proc/self/net/unix"); err == nil {
		known = append(known, info)
	}
	all := string(own)
	processes, _ := filepath.Glob("/proc/[0-9]*/net/unix")
	for _, name := range processes {
		info, err := os.Stat(name)
		if err != nil || slices.ContainsFunc(known, func(k os.FileInfo) bool { return os.SameFile(k, info) }) {
			continue // of one that has ended, or known
		}
		if table, err := os.ReadFile(name); err == nil {
			known = append(known, info)
			all += string(table)
		}
	}
	return all, nil
}

// inSight is the first socket in one of dirs, of tables with lines as in /proc/net/unix:
// Num RefCount Protocol Flags Type St Inode Path. known is false where that takes longer.
func inSight(tables string, dirs []string) (at string, known bool) {
	in := func(at string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return box.Within(at, dir) })
	}
	var anywhere []string // names of those whose files may be anywhere
	for line := range strings.Lines(tables) {
		fields := strings.Fields(line)
		const accepts, datagrams = "00010000", "0002"
		if len(fields) < 8 || strings.HasPrefix(fields[7], "@") || fields[3] != accepts && fields[4] != datagrams {
			continue
		}
		at := filepath.Clean(strings.Join(fields[7:], " "))
		if !filepath.IsAbs(at) {
			anywhere = append(anywhere, fields[6]+" "+at)
			continue
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(at))
		if err != nil {
			continue // it is gone
		}
		if at = filepath.Join(dir, filepath.Base(at)); !in(at) {
			continue
		}
		if !box.Exists(at) { // it may have got another name
			at = aSocket(dir, false)
		}
		if at != "" {
			return at, true
		}
	}
	return lookedThrough.find(anywhere, dirs)
}

// aSocket is a socket in a directory, or also below it.
func aSocket(dir string, below bool) (found string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // commands can't read it either
		case e.Type()&fs.ModeSocket != 0:
			found = path
			return fs.SkipAll
		case e.IsDir() && path != dir && !below:
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// lookedThrough remembers what was found in directories, until there are other sockets whose
// files may be anywhere: to look through all programs of a machine takes a while.
var lookedThrough socketFiles

type socketFiles struct {
	mu   sync.Mutex
	of   []string // the sockets and the directories
	done chan struct{}
	at   string // once done is closed
}

const socketWait = 2 * time.Second // how long a command waits for that, which goes on

// find is the first socket file in dirs, where there are sockets that may be there.
func (s *socketFiles) find(sockets, dirs []string) (at string, known bool) {
	if len(sockets) == 0 {
		return "", true
	}
	slices.Sort(sockets)
	of := slices.Concat(sockets, dirs)
	s.mu.Lock()
	if !slices.Equal(s.of, of) || s.at != "" && !box.Exists(s.at) {
		done := make(chan struct{})
		s.of, s.done, s.at = of, done, ""
		go func() {
			at := ""
			for i := 0; i < len(dirs) && at == ""; i++ {
				at = aSocket(dirs[i], true)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.done == done {
				s.at = at
			}
			close(done)
		}()
	}
	done := s.done
	s.mu.Unlock()
	select {
	case <-done:
	case <-time.After(socketWait):
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at, s.done == done
}
