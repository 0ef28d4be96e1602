package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/probe"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// without is a machine that has not got something: system calls that fail as
// they do there.
type without struct {
	Userns   bool   // user namespaces are not allowed to anybody
	Landlock bool   // the kernel has none
	Seccomp  bool   // no filter can be added
	Internet bool   // no socket of the internet can be made
	Bwrap    string // takes the place of bwrap
	Cache    string
	Temp     string // takes the place of the directory for temporary files

	Descriptors uint64 // as many can be open, above what is; 0 is no limit
}

const helperMachine = "SANDBOX_TEST_MACHINE"

// on tells what a machine without something is found to be able to do.
func on(t *testing.T, w without) probe.Status {
	t.Helper()
	data, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program(t), "-test.run=^TestHelperMachine$", "-test.v")
	// Under the race detector, a process waits for a second before it ends.
	cmd.Env = append(os.Environ(), helperMachine+"="+string(data), "GORACE=atexit_sleep_ms=0")
	if w.Temp != "" {
		cmd.Env = append(cmd.Env, "TMPDIR="+w.Temp)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	for line := range strings.Lines(string(out)) {
		if found, ok := strings.CutPrefix(line, "status "); ok {
			var st probe.Status
			if err := json.Unmarshal([]byte(found), &st); err != nil {
				t.Fatal(err)
			}
			return st
		}
	}
	t.Fatalf("no status: %s", out)
	return probe.Status{}
}

// TestHelperMachine is such a machine, in a process of its own.
func TestHelperMachine(t *testing.T) {
	data, ok := os.LookupEnv(helperMachine)
	if !ok {
		return // it is for TestDegrade
	}
	var w without
	if err := json.Unmarshal([]byte(data), &w); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(helperMachine+"_INSIDE") == "" {
		runtime.LockOSThread() // the filter is for one thread, and for what replaces it
		if err := w.take(); err != nil {
			t.Fatal(err)
		}
		t.Fatal(syscall.Exec(program(t), os.Args, append(os.Environ(), helperMachine+"_INSIDE=1")))
	}
	limitDescriptors(t, w.Descriptors)
	st := Open(self(t), Options{Bwrap: w.Bwrap, CacheDir: w.Cache}).Status()
	limitDescriptors(t, 0)
	out, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("status %s\n", out)
}

// take makes system calls fail from now on.
func (w without) take() error {
	deny := func(err unix.Errno) bpf.Instruction {
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(err)}
	}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	p := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}}
	on := func(nr uint32, body ...bpf.Instruction) {
		p = append(append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: nr, SkipFalse: uint8(len(body))}), body...)
	}
	if w.Userns {
		for nr, body := range map[uint32]bpf.Instruction{unix.SYS_CLONE: bpf.LoadAbsolute{Off: 16, Size: 4}, unix.SYS_UNSHARE: bpf.LoadAbsolute{Off: 16, Size: 4}} {
			on(nr, body, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.CLONE_NEWUSER, SkipFalse: 1}, deny(unix.EPERM), allow)
		}
		on(unix.SYS_CLONE3, deny(unix.ENOSYS))
	}
	if w.Landlock {
		on(unix.SYS_LANDLOCK_CREATE_RULESET, deny(unix.EOPNOTSUPP))
	}
	if w.Internet {
		on(unix.SYS_SOCKET, bpf.LoadAbsolute{Off: 16, Size: 4}, bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipFalse: 1}, deny(unix.EACCES), allow)
	}
	if w.Seccomp {
		on(unix.SYS_SECCOMP, deny(unix.EINVAL))
	}
	raw, err := bpf.Assemble(append(p, allow))
	if err != nil {
		return err
	}
	prog := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		prog[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		return errno
	}
	return nil
}

// TestDegrade: each machine has its level, and a reason is given for what is
// missing; a hole is never taken for a level.
func TestDegrade(t *testing.T) {
	slow.Test(t)
	at(t, spec.Full) // or there is nothing to take away
	dir := realTemp(t)
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := ownfile.WriteFile(path, []byte("#!/bin/bash\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// rewrite is a bwrap that changes what it is told, and then does as told.
	rewrite := func(sed string) string {
		return `[ "$1" = --args ] || exec bwrap "$@"
fd=$2; shift 2; mapfile -d '' -t args < <(cat <&$fd | ` + sed + `); exec bwrap "${args[@]}" "$@"`
	}
	for _, c := range []struct {
		name    string
		without without
		level   spec.Level
		why     string // of Why or Broken
		broken  bool
	}{
		{"all is there", without{}, spec.Full, "", false},
		{"a bwrap between that changes nothing", without{Bwrap: script("same", rewrite("cat"))}, spec.Full, "", false},
		{"no bubblewrap", without{Bwrap: filepath.Join(dir, "none")}, spec.Landlock, "bubblewrap is not installed", false},
		{"no user namespaces", without{Userns: true}, spec.Landlock, "bubblewrap does not work: bwrap:", false},
		{"a bwrap that fails", without{Bwrap: script("fails", "echo cannot >&2; exit 1")}, spec.Landlock, "bubblewrap does not work: cannot", false},
		{"a bwrap that runs nothing", without{Bwrap: script("nothing", "exit 0")}, spec.Landlock, "bubblewrap does not work", false},
		{"no Landlock", without{Landlock: true}, spec.Bubblewrap, "version 0 of Landlock", false},
		{"neither", without{Landlock: true, Userns: true}, spec.None, "version 0 of Landlock", false},
		{"no internet", without{Internet: true}, spec.Full, "", false},
		{"no temporary files", without{Temp: filepath.Join(dir, "none")}, spec.None, "the sandbox can't be tried out", false},
		{"no filters", without{Seccomp: true}, spec.None, "system calls can't be filtered", false},
		{"the network is not taken away", without{Bwrap: script("net", rewrite(`sed -z 's/^--clearenv$/--clearenv\x00--share-net/'`))}, spec.None, "connect over TCP", true},
		{"hooks can be written", without{Bwrap: script("hooks", rewrite(`sed -z 's/^--ro-bind$/--bind/'`))}, spec.None, "add a git hook", true},
		{"no program is there", without{Bwrap: script("usr", rewrite(`sed -z 's|^/usr$|/usr/share|'`))}, spec.Landlock, "bubblewrap does not work", false},
		{"ordinary programs do not work", without{Bwrap: script("tmp", rewrite(`sed -z '$s|.*|/tmp|'`))}, spec.None, "ordinary programs do not work", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := on(t, c.without)
			if st.Level != c.level || (st.Broken != "") != c.broken || !strings.Contains(st.Why+st.Broken, c.why) {
				t.Errorf("%+v, want %v, broken: %v, %q", st, c.level, c.broken, c.why)
			}
			if st.Level != spec.Full && st.Why+st.Broken == "" {
				t.Error("no reason is given")
			}
		})
	}
}

// TestRemembered: what was found out holds until something is another one, and
// a level that is remembered wrongly runs nothing.
func TestRemembered(t *testing.T) {
	at(t, spec.Full)
	cache := filepath.Join(realTemp(t), "cache")
	s := Open(self(t), Options{CacheDir: cache})
	if st := s.Status(); st.Level != spec.Full {
		t.Fatal(st)
	}
	file := filepath.Join(cache, probe.CacheName)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c probe.Cached[probe.Status]
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	store := func(c probe.Cached[probe.Status]) {
		data, err := json.Marshal(c)
		if err = errors.Join(err, ownfile.WriteFile(file, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	c.Status = probe.Status{Level: spec.Landlock, Why: "remembered"}
	store(c)
	if st := Open(self(t), Options{CacheDir: cache}).Status(); st.Why != "remembered" {
		t.Errorf("not remembered: %+v", st)
	}
	for _, bad := range []probe.Cached[probe.Status]{{Key: "of another boot", Status: c.Status}, {Key: c.Key, Status: probe.Status{Level: 9}}, {Key: c.Key, Status: probe.Status{Level: -1}}} {
		store(bad)
		if st := Open(self(t), Options{CacheDir: cache}).Status(); st.Level != spec.Full {
			t.Errorf("%+v was believed: %+v", bad, st)
		}
	}
	if s.Works("here") {
		t.Error("what was never seen to work is remembered")
	}
	s.Worked("here")
	if next := Open(self(t), Options{CacheDir: cache}); !next.Works("here") || next.Works("elsewhere") {
		t.Error("what worked is not remembered, or what did not is")
	}
	s.Worked("")
	if Open(self(t), Options{CacheDir: cache}).Works("here") {
		t.Error("what does not work any more is remembered")
	}
	// Somebody writes that bubblewrap works where it does not.
	broken := filepath.Join(realTemp(t), "bwrap")
	if err := ownfile.WriteFile(broken, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s = Open(self(t), Options{CacheDir: cache, Bwrap: broken})
	s.tools = probe.FindMachine(s.opts.Bwrap, s.opts.Programs)
	store(probe.Cached[probe.Status]{Key: s.prober().CacheKey(), Status: probe.Status{Level: spec.Full}})
	root := realTemp(t)
	cmd, err := s.Command(t.Context(), spec.Spec{Root: root}, root, "touch", "made")
	if err == nil {
		err = cmd.Run()
	}
	if err == nil || spec.Exists(filepath.Join(root, "made")) {
		t.Errorf("a command ran without its sandbox: %v", err)
	}
}

// limitDescriptors makes n the number of descriptors that can be opened more;
// 0 is no limit.
func limitDescriptors(t *testing.T, n uint64) {
	t.Helper()
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	if limit.Cur = limit.Max; n > 0 {
		r, w, pipeErr := os.Pipe() // the runtime can't do without the descriptors that it makes for the first one
		err = errors.Join(err, pipeErr, r.Close(), w.Close())
		next, openErr := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		err = errors.Join(err, openErr, unix.Close(next))
		limit.Cur = uint64(next) + n
	}
	if err = errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)); err != nil {
		t.Fatal(err)
	}
}

const helperWorld = "SANDBOX_TEST_WORLD"

// TestSceneFails: whatever step of making a scene fails, its maker says so and
// leaves nothing, and the machine has a level or a reason.
func TestSceneFails(t *testing.T) {
	slow.Test(t)
	for what, spoil := range map[string]func(dir string) (program string){
		"no directory":  func(dir string) string { put(t, filepath.Join(dir, "scene"), ""); return self(t) },
		"no repository": func(dir string) string { put(t, filepath.Join(dir, "blocked"), ""); return self(t) },
		"no file": func(dir string) string {
			if err := ownfile.MkdirAll(filepath.Join(dir, "scene/root/.env/taken"), 0o755); err != nil {
				t.Fatal(err)
			}
			return self(t)
		},
		"no program": func(dir string) string { return filepath.Join(dir, "none") },
	} {
		t.Run(what, func(t *testing.T) {
			dir := realTemp(t)
			program, at := spoil(dir), filepath.Join(dir, "scene")
			if what == "no repository" {
				at = filepath.Join(dir, "blocked", "scene")
			}
			if w, done, err := probe.NewScene(program, at); err == nil || w != nil || done != nil {
				t.Errorf("made %v, %v", w, err)
			}
		})
	}
	t.Run("descriptors", func(t *testing.T) {
		if os.Getenv(helperWorld) == "" {
			cmd := exec.CommandContext(t.Context(), program(t), "-test.run=^TestSceneFails$/^descriptors$", "-test.v")
			cmd.Env = append(os.Environ(), helperWorld+"=1", "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "scenes failed") {
				t.Errorf("%v\n%s", err, out)
			}
			return
		}
		failed, made := 0, 0
		for n := uint64(1); n <= 40; n++ {
			dir := realTemp(t)
			limitDescriptors(t, n)
			_, done, err := probe.NewScene(self(t), filepath.Join(dir, "scene"))
			limitDescriptors(t, 0)
			if err != nil {
				failed++
				continue
			}
			made++
			done()
		}
		t.Logf("%d scenes failed, %d were made", failed, made)
		if failed < 2 || made == 0 {
			t.Error("this shows nothing")
		}
	})
	for n := uint64(4); n <= 48; n += 4 {
		if st := on(t, without{Descriptors: n}); st.Level != spec.Full && st.Why+st.Broken == "" {
			t.Errorf("with %d descriptors: %+v", n, st)
		}
	}
}

// TestSealFails: what can't be made to stand for sealed files is said, and nothing
// of it stays.
func TestSealFails(t *testing.T) {
	temp := realTemp(t)
	t.Setenv("TMPDIR", temp)
	key := filepath.Join(realTemp(t), "key.pem")
	put(t, key, "secret")
	limitDescriptors(t, 1)
	last, openErr := os.Open(os.DevNull)
	_, remove, err := mask.Seal([]string{key})
	limitDescriptors(t, 0)
	if openErr != nil {
		t.Fatal(openErr)
	}
	last.Close()
	left, _ := os.ReadDir(temp)
	if err == nil || remove != nil || len(left) > 0 {
		t.Errorf("%v, %v", err, left)
	}
	_, remove, err = mask.Seal([]string{key}) // the control
	if err != nil {
		t.Fatal(err)
	}
	remove()
}

// TestNoSecondProcess: a server that can't start itself once more says so, whatever
// the level.
func TestNoSecondProcess(t *testing.T) {
	broken := filepath.Join(realTemp(t), "program")
	if err := ownfile.WriteFile(broken, []byte("\x7fELF of another machine"), 0o755); err != nil {
		t.Fatal(err)
	}
	root := realTemp(t)
	for _, mode := range []spec.Mode{spec.Auto, spec.Off} {
		s := Open(broken, Options{})
		if st := s.Status(); st.Level != spec.None || !strings.Contains(st.Why, "exec format error") {
			t.Errorf("%+v", st)
		}
		cmd, err := s.Command(t.Context(), spec.Spec{Root: root, Mode: mode}, root, "touch", "made")
		if err == nil {
			err = cmd.Run()
		}
		if err == nil || !strings.Contains(err.Error(), "exec format error") || spec.Exists(filepath.Join(root, "made")) {
			t.Errorf("mode %s: %v", mode, err)
		}
		s.Close()
	}
}
