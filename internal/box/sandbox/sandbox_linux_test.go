package sandbox

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/mask"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/probe"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/rights"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

// helperInit names the program of testdata/init, for tests that run as somebody
// else.
const helperInit = "SANDBOX_TEST_INIT"

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

// runTests builds the program that Init takes over, and runs the tests with it.
func runTests(m *testing.M) int {
	if os.Getenv(helperInit) == "" {
		dir, err := os.MkdirTemp("", "sidecar-ls-init-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer ownfile.RemoveAll(dir)
		name := filepath.Join(dir, "init")
		if out, err := exec.Command("go", "build", "-trimpath", "-o", name, "./testdata/init").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		os.Setenv(helperInit, name)
	}
	return m.Run()
}

// self is a program that Init takes over.
func self(t *testing.T) string {
	t.Helper()
	return os.Getenv(helperInit)
}

// program is that of the tests.
func program(t *testing.T) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// at is a Sandbox that works at a level, whatever the machine's best is.
func at(t *testing.T, level spec.Level) *Sandbox {
	t.Helper()
	s := Open(self(t), Options{})
	s.once.Do(func() {
		s.tools, s.status = probe.FindMachine(s.opts.Bwrap, s.opts.Programs), probe.Status{Level: level}
	})
	if level >= spec.Bubblewrap && s.tools.Bwrap == "" {
		needs.Skip(t, needs.Sandbox, "there is no bubblewrap here: make tools installs it")
	}
	if (level == spec.Landlock || level == spec.Full) && s.tools.Landlock < rights.LeastLandlock {
		needs.Skip(t, needs.Landlock, "there is no Landlock here")
	}
	return s
}

var allLevels = []spec.Level{spec.None, spec.Landlock, spec.Bubblewrap, spec.Full}

func eachLevel(t *testing.T, levels []spec.Level, f func(t *testing.T, s *Sandbox)) {
	for _, level := range levels {
		t.Run(strings.ReplaceAll(level.String(), ", ", "+"), func(t *testing.T) { f(t, at(t, level)) })
	}
}

// result is what became of a command.
type result struct {
	out, said string
	code      int
}

func run(t *testing.T, s *Sandbox, want spec.Spec, argv ...string) result {
	t.Helper()
	if want.Env == nil {
		want.Env = spec.Environ(os.Environ())
	}
	c, err := s.Command(t.Context(), want, want.Root, argv...)
	if err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	err = c.Run()
	var exit *ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err, said.String())
	}
	r := result{out: out.String(), said: said.String()}
	if exit != nil {
		r.code = exit.ExitCode()
	}
	return r
}

func sh(t *testing.T, s *Sandbox, spec spec.Spec, script string) result {
	t.Helper()
	return run(t, s, spec, "bash", "-c", script)
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEscapes makes all attempts at every level; what fails in the sandbox
// must have worked outside of it.
func TestEscapes(t *testing.T) {
	slow.Test(t)
	eachLevel(t, []spec.Level{spec.Landlock, spec.Bubblewrap, spec.Full}, func(t *testing.T, s *Sandbox) {
		trials, err := s.prober().Trials(t.Context(), s.status.Level, probe.TryAll)
		if err != nil {
			t.Fatal(err)
		}
		controls, held, must, escaped, open := 0, 0, 0, 0, []string{}
		for _, tr := range trials {
			if tr.Must {
				must++
			}
			switch {
			case tr.Must && !tr.Held:
				escaped++
				t.Errorf("escaped: %s", tr.Name)
			case !tr.Held:
				open = append(open, tr.Name)
			case tr.Control:
				held++
			}
			if tr.Control {
				controls++
			}
		}
		t.Logf("%d tried, %d with a control, %d of those held; open by design: %q", len(trials), controls, held, open)
		t.Logf("%d of %d held, %d controls", must-escaped, must, controls)
		want := 55 // an ordinary user; root gets further without a sandbox
		if len(trials) < 80 || controls < want {
			t.Errorf("%d tried, %d with a control, want at least 80 and %d", len(trials), controls, want)
		}
		if s.status.Level >= spec.Bubblewrap && len(open) > 0 {
			t.Errorf("%q are open", open)
		}
	})
}

// TestOrdinary: confinement is of no use if people turn it off.
func TestOrdinary(t *testing.T) {
	slow.Test(t)
	home := realTemp(t)
	// The standard library is compiled there already, for the program of testdata/init.
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	cache := strings.TrimSpace(string(out))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cache); err != nil {
		needs.Skip(t, needs.Sources, "nothing was compiled on this machine yet")
	}
	eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
		root := realTemp(t)
		for name, text := range map[string]string{
			"go.mod": "module example.org/m\n\ngo 1.26\n", "main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"built\") }\n",
			"Makefile": "all:\n\t@echo made > target; cat target\n", "package.json": "{}", "words": "b\na\nab\n",
		} {
			if err := ownfile.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command("git", "-C", root, "init", "-q").CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		spec := spec.Spec{Root: root, Home: home, Writable: []string{cache}, Env: append(spec.Environ(os.Environ()),
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
			"GOFLAGS=-buildvcs=false", "GOCACHE="+cache)}
		for _, c := range []struct{ needs, script, want string }{
			{"go", "go build -o prog . && ./prog", "built"},
			{"git", "git status --short | head -1", "?? Makefile"},
			{"git", "git add . && git commit -qm first && git log --format=%s", "first"},
			{"npm", "npm --version >/dev/null && echo ok", "ok"},
			{"python3", "python3 -c 'import json, subprocess; print(json.dumps(subprocess.check_output([\"echo\", \"x\"]).decode()))'", `"x\n"`},
			{"make", "make", "made"},
			{"cat", "cat words | grep a | sort | tr '\\n' ,", "a,ab,"},
			{"mktemp", "f=$(mktemp) && echo kept > $f && cat $f && rm $f", "kept"},
			{"ls", "ls /usr | grep -x bin", "bin"},
			{"node", "node -e 'require(\"child_process\").execFileSync(\"true\"); console.log(require(\"os\").cpus().length > 0)'", "true"},
			{"gcc", "printf 'int main(){return 0;}' > a.c && gcc -o a a.c && ./a && echo ran", "ran"},
		} {
			if _, err := exec.LookPath(c.needs); err != nil {
				continue
			}
			if r := sh(t, s, spec, c.script); strings.TrimSpace(r.out) != c.want || r.code != 0 {
				t.Errorf("%s: %q, %d, want %q\n%s", c.script, r.out, r.code, c.want, r.said)
			}
		}
		if left := leftovers(t, root); len(left) > 0 {
			t.Errorf("%q are left in the workspace", left)
		}
	})
}

// leftovers are stand-ins that nobody removed.
func leftovers(t *testing.T, root string) []string {
	var left []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // they may go while this looks
		}
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && mask.StandsIn(info) {
			left = append(left, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// everything repeats all tests as another user, which takes minutes; without
// it, those that differ most for one who is not root.
var everything = flag.Bool("everything", false, "repeat all tests as another user")

// TestAsUser runs the tests again as a user without rights, when root runs
// them.
func TestAsUser(t *testing.T) {
	slow.Test(t)
	if os.Geteuid() != 0 {
		needs.Skip(t, needs.OtherUser, "is not root already")
	}
	const uid = 12345
	dir, err := os.MkdirTemp("/var/tmp", "sidecar-ls-test-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ownfile.RemoveAll(dir) })
	copied := func(from, name string) string {
		data, err := os.ReadFile(from)
		name = filepath.Join(dir, name)
		if err = errors.Join(err, ownfile.WriteFile(name, data, 0o755)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tests, helper := copied(program(t), "sandbox.test"), copied(self(t), "init")
	for _, name := range []string{"home", "tmp"} {
		err = errors.Join(err, ownfile.Mkdir(filepath.Join(dir, name), 0o700), ownfile.Chown(filepath.Join(dir, name), uid, uid))
	}
	if err = errors.Join(err, ownfile.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	names := []string{"TestEscapes", "TestProtected", "TestProtectedTogether", "TestServerDies", "TestEnvironment", "TestMerged", "TestLocalhost", "TestLocalhostCloses", "TestLocalhostEnds", "TestLocalhostLost", "TestLocalhostServerDies", "TestLocalhostMany", "TestLocalhostBounded"}
	if *everything {
		names = append(names, "TestOrdinary", "TestTree", "TestDegrade", "TestStreams")
	}
	cmd := exec.CommandContext(t.Context(), tests, "-test.v", "-test.run", "^("+strings.Join(names, "|")+")$")
	cmd.Dir = filepath.Join(dir, "tmp")
	path := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(d string) bool { return strings.HasPrefix(d, "/root") })
	cmd.Env = []string{"PATH=" + strings.Join(path, ":"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"), helperInit + "=" + helper}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS: TestEscapes") {
		t.Errorf("as another user: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "tried") || strings.Contains(line, " held, ") || strings.Contains(line, "SKIP") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// TestPrivateDirectories: home and temporary directory outlive a command, and
// what one command leaves there leads the next one nowhere.
func TestPrivateDirectories(t *testing.T) {
	eachLevel(t, []spec.Level{spec.Landlock, spec.Bubblewrap, spec.Full}, func(t *testing.T, s *Sandbox) {
		base := realTemp(t)
		at := func(name string) string {
			path := filepath.Join(base, name)
			if err := ownfile.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			return path
		}
		want := spec.Spec{Root: at("root"), Home: at("home"), Temp: at("temp"), ReadOnly: []string{at("tools")}}
		if r := sh(t, s, want, "echo 1 > $HOME/kept; echo 2 > $TMPDIR/kept"); r.code != 0 {
			t.Fatal(r.said)
		}
		if r := sh(t, s, want, "cat $HOME/kept $TMPDIR/kept"); r.out != "1\n2\n" {
			t.Errorf("%+v", r)
		}
		if s.status.Level < spec.Bubblewrap || !spec.Within(base, "/tmp") {
			return
		}
		// The workspace is mounted below the private /tmp: links stand in its way.
		outside := at("outside")
		first, _, _ := strings.Cut(strings.TrimPrefix(base, "/tmp/"), "/")
		for _, target := range []string{outside, "/oldroot" + outside, "/nowhere"} {
			if err := errors.Join(ownfile.RemoveAll(filepath.Join(want.Temp, first)), ownfile.Symlink(target, filepath.Join(want.Temp, first))); err != nil {
				t.Fatal(err)
			}
			if r := sh(t, s, want, "pwd; cat $HOME/kept"); r.out != want.Root+"\n1\n" {
				t.Errorf("with a link to %s: %+v", target, r)
			}
			if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
				t.Errorf("a link to %s led there: %v, %v", target, entries, err)
			}
		}
	})
}

// TestEnvironment: of the server's environment a command has what is listed.
func TestEnvironment(t *testing.T) {
	for _, v := range probe.Planted("server-secret") {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
		root := realTemp(t)
		const look = `env; cat /proc/self/environ /proc/$PPID/environ /proc/1/environ 2>/dev/null | tr '\0' '\n'; true`
		leaked := func(spec spec.Spec) int {
			return strings.Count(sh(t, s, spec, look).out, "server-secret")
		}
		if n := leaked(spec.Spec{Root: root}); n != 0 {
			t.Errorf("%d of %d secrets leaked", n, len(probe.PlantedKeys))
		}
		if n := leaked(spec.Spec{Root: root, Env: os.Environ()}); n < len(probe.PlantedKeys) {
			t.Errorf("only %d of %d are seen when they are handed over", n, len(probe.PlantedKeys))
		}
	})
}

// TestRefused is what no command is started for.
func TestRefused(t *testing.T) {
	s := at(t, spec.Full)
	root := realTemp(t)
	file := filepath.Join(root, "file")
	if err := ownfile.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		spec spec.Spec
		dir  string
		argv []string
		want string
	}{
		{"no command", spec.Spec{Root: root}, root, nil, "there is no command"},
		{"an argument that no program can have", spec.Spec{Root: root}, root, []string{"echo", "a\x00b"}, "NUL byte"},
		{"no root", spec.Spec{}, root, []string{"true"}, "needs a root"},
		{"a relative root", spec.Spec{Root: "."}, root, []string{"true"}, "not an absolute path"},
		{"the whole machine", spec.Spec{Root: "/"}, "/", []string{"true"}, "/usr is in it"},
		{"the system's directory", spec.Spec{Root: "/usr"}, "/usr", []string{"true"}, "/usr is in it"},
		{"a root that is not there", spec.Spec{Root: root + "/none"}, root, []string{"true"}, "no such file"},
		{"a file for a root", spec.Spec{Root: file}, root, []string{"true"}, "not a directory"},
		{"an unknown mode", spec.Spec{Root: root, Mode: "on"}, root, []string{"true"}, "no sandbox mode"},
		{"a program that is not there", spec.Spec{Root: root}, root, []string{"no-such-program"}, "command not found"},
		{"a program outside", spec.Spec{Root: root}, root, []string{"/root/no-such-program"}, "no such file"},
		{"a directory that was deleted", spec.Spec{Root: root}, root + "/gone", []string{"true"}, "working directory"},
		{"a directory outside", spec.Spec{Root: root}, "/var/log", []string{"true"}, "working directory"},
	} {
		cmd, err := s.Command(t.Context(), c.spec, c.dir, c.argv...)
		if err == nil {
			err = cmd.Run()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if r := run(t, s, spec.Spec{Root: root}, "true"); r.code != 0 {
		t.Errorf("true: %v", r)
	}
	if left := leftovers(t, root); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// TestModes: what the user wants, and what the machine has.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		status probe.Status
		mode   spec.Mode
		want   string
	}{
		{probe.Status{Level: spec.Full}, spec.Auto, spec.Full.String()},
		{probe.Status{Level: spec.Full}, "", spec.Full.String()},
		{probe.Status{Level: spec.Full}, spec.Require, spec.Full.String()},
		{probe.Status{Level: spec.Full}, spec.Off, spec.None.String()},
		{probe.Status{Level: spec.Landlock}, spec.Require, spec.Landlock.String()},
		{probe.Status{Level: spec.None, Why: "no kernel"}, spec.Auto, spec.None.String()},
		{probe.Status{Level: spec.None, Why: "no kernel"}, spec.Require, "this machine has none: no kernel"},
		{probe.Status{Broken: "a hole"}, spec.Auto, "does not hold on this machine (a hole)"},
		{probe.Status{Broken: "a hole"}, spec.Require, "does not hold on this machine (a hole)"},
		{probe.Status{Broken: "a hole"}, spec.Off, spec.None.String()},
		{probe.Status{Level: spec.Full}, "none", "there is no sandbox mode"},
	} {
		s := Open("", Options{})
		s.once.Do(func() { s.status = c.status })
		level, err := s.LevelFor(c.mode)
		got := level.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v, %q: %s, want %s", c.status, c.mode, got, c.want)
		}
	}
	if got := fmt.Sprint(spec.Full.Words(spec.NoHost), "|", spec.Landlock.Words(spec.AnyHost), "|", spec.None.Words(spec.NoHost)); got !=
		"sandbox: bubblewrap, Landlock, seccomp; no network|sandbox: Landlock, seccomp; network allowed|sandbox: none; the command ran with all rights of the user" {
		t.Error(got)
	}
}

// TestStreams: output comes as it is written, in its order, and errors of the
// command are not taken for errors of the sandbox.
func TestStreams(t *testing.T) {
	eachLevel(t, allLevels, func(t *testing.T, s *Sandbox) {
		spec := spec.Spec{Root: realTemp(t), Env: spec.Environ(os.Environ())}
		var both bytes.Buffer
		c, err := s.Command(t.Context(), spec, spec.Root, "bash", "-c", "for i in 1 2 3; do echo o$i; echo e$i >&2; done; cat; exit 7")
		if err != nil {
			t.Fatal(err)
		}
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader("input"), &both, &both
		err = c.Run()
		var exit *ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 7 || both.String() != "o1\ne1\no2\ne2\no3\ne3\ninput" {
			t.Errorf("%v, %q", err, both.String())
		}
		if r := sh(t, s, spec, "kill -TERM $$"); r.code != 128+int(syscall.SIGTERM) {
			t.Errorf("a command that a signal ends has code %d", r.code)
		}
		if r := run(t, s, spec, "cat"); r.code != 0 || r.out != "" {
			t.Errorf("without standard input: %+v", r)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if c, err := s.Command(ctx, spec, spec.Root, "true"); err == nil && c.Run() == nil {
			t.Error("a call that was cancelled ran")
		}
	})
}
