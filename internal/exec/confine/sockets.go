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

// inSight are sockets in one of dirs, of tables with lines as in /proc/net/unix:
// Num RefCount Protocol Flags Type St Inode Path.
func (s *socketFiles) inSight(tables string, dirs []string) (found []string) {
	in := func(at string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return box.Within(at, dir) })
	}
	anywhere := 0      // servers whose files may be anywhere
	var moved []string // the sockets of those whose files are not where they were bound, or not there alone
	for line := range strings.Lines(tables) {
		fields := strings.Fields(line)
		const accepts, datagrams = "00010000", "0002"
		if len(fields) < 8 || strings.HasPrefix(fields[7], "@") || fields[3] != accepts && fields[4] != datagrams {
			continue
		}
		at := filepath.Clean(strings.Join(fields[7:], " "))
		if !filepath.IsAbs(at) {
			anywhere++
			continue
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(at))
		if err != nil {
			moved = append(moved, fields[6])
			continue
		}
		if at = filepath.Join(dir, filepath.Base(at)); !in(at) {
			if !onlyName(at) {
				moved = append(moved, fields[6])
			}
			continue
		}
		if !box.Exists(at) { // it may have got another name
			moved = append(moved, fields[6])
			at = aSocket(dir, false)
		}
		if at != "" && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	slices.Sort(moved)
	if at := s.find(anywhere, strings.Join(slices.Compact(moved), " "), dirs); at != "" && !slices.Contains(found, at) {
		found = append(found, at)
	}
	return found
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

// socketFiles are the sockets that were found by looking through directories: those of servers
// whose files may be anywhere. To look through all programs of a machine takes a while, so it
// is done now and then, and soon when one more file is not where it was. A command waits a
// moment for it where a server has a relative name; else one that runs is paused.
type socketFiles struct {
	every time.Duration // between two searches

	mu    sync.Mutex
	dirs  []string
	moved string        // as of find
	done  chan struct{} // of the last search; closed when it has ended
	at    time.Time     // when it began
	took  time.Duration // how long it took
	file  string        // that it found
}

const socketWait = time.Second // how long a command waits for a search, which goes on

// find is the first socket file in dirs that is known so far, where there are servers with
// relative names, or files that were moved.
func (s *socketFiles) find(servers int, moved string, dirs []string) string {
	if servers == 0 && moved == "" {
		return ""
	}
	s.mu.Lock()
	const rest = 10 // times as long as a search takes
	again := func() bool {
		since := time.Since(s.at)
		return closed(s.done) && (since > s.every || s.moved != moved && since > rest*s.took)
	}
	if s.done == nil || !slices.Equal(s.dirs, dirs) || again() {
		done := make(chan struct{})
		s.dirs, s.moved, s.done, s.at = slices.Clone(dirs), moved, done, time.Now()
		go func() {
			defer close(done)
			file := ""
			for i := 0; i < len(dirs) && file == ""; i++ {
				file = aSocket(dirs[i], true)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.done == done {
				s.file, s.took = file, time.Since(s.at)
			}
		}()
	}
	done := s.done
	s.mu.Unlock()
	if servers > 0 {
		select {
		case <-done:
		case <-time.After(socketWait):
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != "" && !box.Exists(s.file) {
		s.file = ""
	}
	return s.file
}

func closed(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
