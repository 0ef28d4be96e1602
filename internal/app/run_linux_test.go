package app_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	terminal "github.com/creack/pty"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// runRig serves a project by a process of its own: what it has not started is a person's.
func runRig(t *testing.T, kind string, files map[string]string) *rig {
	t.Helper()
	return runIn(t, worldProject(t, kind, files))
}

func runIn(t *testing.T, dir string) *rig {
	t.Helper()
	return runWith(t, dir, fakeeditor.Options{})
}

func runWith(t *testing.T, dir string, o fakeeditor.Options) *rig {
	t.Helper()
	r := begin(t, dir, o, func(in io.Reader, out io.Writer) error {
		cmd := exec.CommandContext(context.Background(), buildServer(t), "serve")
		cmd.Stdout = out
		to, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(to, in) }()
		return cmd.Run()
	})
	r.mode("review")
	return r
}

// running is `sidecar-ls run` as a process.
type running struct {
	*exec.Cmd
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	said bytes.Buffer
}

func runs(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	r := &running{t: t, Cmd: exec.CommandContext(t.Context(), buildServer(t), append([]string{"run", "--root", dir}, args...)...)}
	r.Dir = dir
	r.Stderr = &r.said
	var err error
	if r.in, err = r.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewScanner(out)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// next is the next line that it prints.
func (r *running) next() string {
	r.t.Helper()
	if !r.out.Scan() {
		_ = r.Wait()
		r.t.Fatalf("it printed no more: %v\n%s", r.out.Err(), r.said.String())
	}
	return r.out.Text()
}

// ends waits for its end with a code.
func (r *running) ends(code int, said ...string) {
	r.t.Helper()
	for r.out.Scan() {
		r.t.Errorf("it printed %q, too", r.out.Text())
	}
	err := r.Wait()
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	if got != code {
		r.t.Errorf("exit code %d, want %d: %s", got, code, r.said.String())
	}
	for _, s := range said {
		if !strings.Contains(r.said.String(), s) {
			r.t.Errorf("it does not say %q but %q", s, r.said.String())
		}
	}
}

// TestRunBesideEditor: a program sees what is pending, what it writes is pending while it
// runs, and what the user decides about that reaches it.
func TestRunBesideEditor(t *testing.T) { eachWorld(t, testRunBesideEditor) }

func testRunBesideEditor(t *testing.T, kind string) {
	r := runRig(t, kind, map[string]string{"a.txt": "disk\n", "b.txt": "b\n", "gone.txt": "x\n"})
	if res := r.call("write_file", object{"path": "a.txt", "content": "pending\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	p := runs(t, r.dir, "--", "sh", "-c", `cat a.txt; mkdir -p deep/er; echo one > deep/er/one.txt; echo mine >> b.txt; rm gone.txt; read x
until [ ! -e deep/er/one.txt ]; do sleep 0.05; done; grep -c mine b.txt; echo last > last.txt; echo error >&2; exit 7`)
	if got := p.next(); got != "pending" {
		t.Errorf("it saw %q", got)
	}
	until(t, "what the program wrote never was pending", func() bool {
		return slices.Equal(r.queued(), []string{"a.txt", "b.txt", "deep/er/one.txt", "gone.txt"})
	})
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.reject", object{"uris": []string{workspace.FileURI(filepath.Join(r.dir, "deep/er/one.txt"))}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.accept", object{"uris": []string{workspace.FileURI(filepath.Join(r.dir, "b.txt"))}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.in, "go\n"); err != nil {
		t.Fatal(err)
	}
	if got := p.next(); got != "1" {
		t.Errorf("after the accept it saw %q", got)
	}
	p.ends(7, "error\n", "b.txt, deep/er/one.txt, gone.txt, last.txt: held for review (sidecar-ls review list), as session sh")
	r.isQueued("a.txt", "gone.txt", "last.txt")
	if got := r.file("a.txt") + r.file("b.txt") + r.file("gone.txt"); got != "disk\nb\nmine\nx\n" {
		t.Errorf("the disk has %q", got)
	}
	var list struct {
		Edits []struct{ Path, Session, Tool, Command string }
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.list", object{}, &list); err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Edits {
		if e.Path != "a.txt" && (e.Session != "sh" || e.Tool != "run" || !strings.HasPrefix(e.Command, "sh -c cat a.txt; mkdir")) {
			t.Errorf("%+v", e)
		}
	}
}

// TestRunAlone: without an editor what a program writes waits in the workspace's queue.
func TestRunAlone(t *testing.T) {
	dir := worldProject(t, "overlay", map[string]string{"sub/a.txt": "one\ntwo\n"})
	p := runs(t, dir, "--", "sed", "-i", "s/one/ONE/", "sub/a.txt")
	p.ends(0, "sub/a.txt: held for review")
	if got, _, code := runCLI(t, "", "review", "--root", dir, "list"); code != 0 || !strings.Contains(got, "sub/a.txt  modify  +1 −1  clean  by run (sed -i s/one/ONE/ sub/a.txt)") {
		t.Errorf("the list: %s", got)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "sub/a.txt")); err != nil || string(data) != "one\ntwo\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
	if _, said, code := runCLI(t, "", "review", "--root", dir, "accept"); code != 0 {
		t.Error(said)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "sub/a.txt")); err != nil || string(data) != "ONE\ntwo\n" {
		t.Errorf("after the accept the disk has %q, %v", data, err)
	}
	// In a mode that applies, it is applied.
	runs(t, dir, "--mode", "autonomous", "--", "sed", "-i", "s/two/TWO/", "sub/a.txt").ends(0, "sub/a.txt: changed")
	if data, err := os.ReadFile(filepath.Join(dir, "sub/a.txt")); err != nil || string(data) != "ONE\nTWO\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
}

// TestRunOnTerminal: the program has a terminal of its own, of the size of the person's
// and with their keys, and shows on it.
func TestRunOnTerminal(t *testing.T) {
	for _, attached := range []bool{true, false} {
		dir := worldProject(t, "overlay", map[string]string{"a.txt": "a\n"})
		if attached {
			runIn(t, dir)
		}
		ours, theirs, err := terminal.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		resize := func(rows, cols uint16) {
			if err := terminal.Setsize(ours, &terminal.Winsize{Rows: rows, Cols: cols}); err != nil {
				t.Fatal(err)
			}
		}
		resize(11, 22)
		cmd := exec.CommandContext(t.Context(), buildServer(t), "run", "--root", dir, "--", "bash", "-c",
			`trap 'stty size' WINCH; trap 'echo interrupted; exit 5' INT; echo "$TERM"; stty size; test -t 2 && echo ready; echo new > new.txt; while :; do read -r -t 0.05 line && echo "got $line"; done`)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		lines := bufio.NewScanner(ours)
		var all []string
		next := func(want string) {
			t.Helper()
			for lines.Scan() {
				all = append(all, lines.Text())
				if strings.Contains(lines.Text(), want) {
					return
				}
			}
			t.Fatalf("attached %v: no %q in %q: %v", attached, want, all, lines.Err())
		}
		next("xterm-256color")
		next("11 22")
		next("ready")
		resize(33, 44)
		next("33 44")
		if _, err := io.WriteString(ours, "typed\r"); err != nil {
			t.Fatal(err)
		}
		next("got typed")
		if _, err := io.WriteString(ours, "\x03"); err != nil {
			t.Fatal(err)
		}
		next("interrupted")
		next("new.txt: held for review")
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 5 {
			t.Errorf("attached %v: it ended with %v", attached, err)
		}
	}
}

// TestRunEnds: when the person's process is killed, or the server, nothing of the program is
// left, and what it had written is pending.
func TestRunEnds(t *testing.T) {
	r := runRig(t, "overlay", map[string]string{"a.txt": "a\n"})
	mark := "3317" + filepath.Base(t.TempDir())
	lives := func() bool {
		out, _ := exec.CommandContext(context.Background(), "pgrep", "-f", mark).Output()
		return len(bytes.TrimSpace(out)) > 0
	}
	for _, how := range []os.Signal{os.Kill, os.Interrupt} {
		p := runs(t, r.dir, "--session", "mine", "--", "bash", "-c", "echo x >> written.txt; (exec -a "+mark+" sleep 1000) & wait")
		until(t, "it never wrote", func() bool {
			return slices.Contains(r.queued(), "written.txt") && lives()
		})
		if err := p.Process.Signal(how); err != nil {
			t.Fatal(err)
		}
		_ = p.Wait()
		until(t, "something of the program is left", func() bool { return !lives() })
		until(t, "its session is left", func() bool {
			again := runs(t, r.dir, "--session", "mine", "--", "true")
			_ = again.Wait()
			return !strings.Contains(again.said.String(), "open already")
		})
		r.isQueued("written.txt")
	}
}

// TestRunRefuses: what can't be run says why, and nothing is run.
func TestRunRefuses(t *testing.T) {
	r := runRig(t, "overlay", map[string]string{"a.txt": "a\n"})
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no program":              {nil, 2, "run takes a program"},
		"an unknown one":          {[]string{"--", "no-such-program"}, 1, `"no-such-program": executable file not found in $PATH`},
		"an unknown mode":         {[]string{"--mode", "nonesuch", "--", "touch", "ran"}, 2, "nonesuch"},
		"a session that is there": {[]string{"--session", "default", "--", "touch", "ran"}, 2, "open already"},
		"no session's name":       {[]string{"--session", "../x", "--", "touch", "ran"}, 2, "invalid session"},
		"an unknown flag":         {[]string{"--nonesuch", "--", "touch", "ran"}, 2, "nonesuch"},
		"a program's own flags":   {[]string{"touch", "--help"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := runs(t, r.dir, c.args...)
			p.out = bufio.NewScanner(strings.NewReader(""))
			p.ends(c.code, c.says)
		})
	}
	r.isQueued()
	// A program of the server's own is no person.
	if res := r.call("run_command", object{"command": buildServer(t) + " run -- touch ran"}); res.OK {
		t.Errorf("a command of an agent runs programs: %s", res.Content)
	}
	r.isQueued()
	userSettings(t, object{"commands.world": "disk"})
	disk := runIn(t, project(t, map[string]string{"a.txt": "a\n"}))
	runs(t, disk.dir, "--", "touch", "ran").ends(1, "could not be reviewed, because it would see the disk: the setting sidecar.commands.world says so")
	if _, err := os.Stat(filepath.Join(disk.dir, "ran")); err == nil {
		t.Error("it ran on the disk")
	}
}

// TestRunProfiles: a program that has a profile sees of the user's what that says, once
// they have allowed it, and nothing else.
func TestRunProfiles(t *testing.T) {
	buildServer(t)
	user := t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("FAKE_KEY", "key-of-the-agent")
	t.Setenv("OTHER_KEY", "key-of-another")
	dir := worldProject(t, "overlay", map[string]string{"a.txt": "a\n"}, object{"agents": object{
		"fake": object{"program": "fake-agent", "state": []string{".fake"}, "copied": []string{".fake.json"}, "env": []string{"FAKE_KEY"}},
		"bad":  object{"state": []string{"../other"}},
	}})
	bin := t.TempDir()
	write(t, filepath.Join(bin, "fake-agent"), "#!/bin/sh\ncat ~/.fake/state ~/.fake.json; echo $FAKE_KEY$OTHER_KEY; cat ~/.other/secret; echo more >> ~/.fake/state; echo changed > ~/.fake.json; echo own > ~/own; echo x > x.txt\n")
	if err := ownfile.Chmod(filepath.Join(bin, "fake-agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for name, text := range map[string]string{".fake/state": "state\n", ".fake.json": "{}\n", ".other/secret": "secret\n"} {
		write(t, filepath.Join(user, name), text)
	}
	start := func(args ...string) *running {
		t.Helper()
		p := runs(t, dir, args...)
		_ = p.in.Close()
		return p
	}
	lines := func(p *running, want ...string) {
		t.Helper()
		for _, w := range want {
			if got := p.next(); got != w {
				t.Errorf("it printed %q, want %q", got, w)
			}
		}
	}
	start("--", "fake-agent").ends(1, "~/.fake is read and written: its state", "~/.fake.json is read; changes stay in a copy", "FAKE_KEY", "no terminal to ask at")
	if _, err := os.Stat(filepath.Join(user, ".local", "state", "sidecar-ls", "agents", "fake")); err == nil {
		t.Error("something was readied that nobody allowed")
	}
	start("--profile", "nonesuch", "--", "fake-agent").ends(2, "there is none of the name \"nonesuch\"; there are aider, claude,", "fake, gemini")
	start("--profile", "bad", "--", "fake-agent").ends(2, "there is none of the name")

	p := start("--yes", "--", "fake-agent")
	lines(p, "state", "{}", "key-of-the-agent")
	p.ends(0, "cat: ", "x.txt: held for review")
	p = start("--", "fake-agent") // asked once
	lines(p, "state", "more", "changed", "key-of-the-agent")
	p.ends(0)
	for name, want := range map[string]string{".fake/state": "state\nmore\nmore\n", ".fake.json": "{}\n", ".other/secret": "secret\n"} {
		if data, err := os.ReadFile(filepath.Join(user, name)); err != nil || string(data) != want {
			t.Errorf("~/%s is %q, %v", name, data, err)
		}
	}
	if _, err := os.Stat(filepath.Join(user, "own")); err == nil {
		t.Error("the program wrote into the user's home")
	}
	// Another profile's words are asked about again; none gives it nothing.
	userSettings(t, object{"agents": object{"fake": object{"program": "fake-agent", "state": []string{".fake", ".other"}}}})
	start("--", "fake-agent").ends(1, "~/.other is read and written")
	p = start("--profile", "none", "--", "fake-agent")
	lines(p, "")
	p.ends(0, "cat: ")
	// A link as state is refused, with what to do.
	if err := ownfile.Rename(filepath.Join(user, ".fake"), filepath.Join(user, "dots")); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink("dots", filepath.Join(user, ".fake")); err != nil {
		t.Fatal(err)
	}
	start("--yes", "--", "fake-agent").ends(1, "~/.fake leads over a link to")
}
