package run_test

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
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// runRig serves a project by a process of its own: what it has not started is a person's.
func runRig(t *testing.T, kind string, files map[string]string) *e2e.Rig {
	t.Helper()
	return e2e.RunIn(t, e2e.WorldProject(t, kind, files))
}

// TestRunBesideEditor: a program sees what is pending, what it writes is pending while it
// runs, and what the user decides about that reaches it.
func TestRunBesideEditor(t *testing.T) { e2e.EachWorld(t, testRunBesideEditor) }

func testRunBesideEditor(t *testing.T, kind string) {
	r := runRig(t, kind, map[string]string{"a.txt": "disk\n", "b.txt": "b\n", "gone.txt": "x\n"})
	if res := r.Tool("write_file", e2e.Object{"path": "a.txt", "content": "pending\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	p := e2e.Runs(t, r.Dir, "--", "sh", "-c", `cat a.txt; mkdir -p deep/er; echo one > deep/er/one.txt; echo mine >> b.txt; rm gone.txt; read x
until [ ! -e deep/er/one.txt ]; do sleep 0.05; done; grep -c mine b.txt; echo last > last.txt; echo error >&2; exit 7`)
	if got := p.Next(); got != "pending" {
		t.Errorf("it saw %q", got)
	}
	e2e.Until(t, "what the program wrote never was pending", func() bool {
		return slices.Equal(r.Queued(), []string{"a.txt", "b.txt", "deep/er/one.txt", "gone.txt"})
	})
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.reject", e2e.Object{"uris": []string{workspace.FileURI(filepath.Join(r.Dir, "deep/er/one.txt"))}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.accept", e2e.Object{"uris": []string{workspace.FileURI(filepath.Join(r.Dir, "b.txt"))}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p.In, "go\n"); err != nil {
		t.Fatal(err)
	}
	if got := p.Next(); got != "1" {
		t.Errorf("after the accept it saw %q", got)
	}
	p.Ends(7, "error\n", "gone.txt, last.txt: held for review (sidecar-ls review diff), as session sh")
	r.IsQueued("a.txt", "gone.txt", "last.txt")
	if got := r.File("a.txt") + r.File("b.txt") + r.File("gone.txt"); got != "disk\nb\nmine\nx\n" {
		t.Errorf("the disk has %q", got)
	}
	var list struct {
		Edits []struct{ Path, Session, Tool, Command string }
	}
	if err := r.ExecuteCommand(t.Context(), "sidecar.review.list", e2e.Object{}, &list); err != nil {
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
	dir := e2e.WorldProject(t, "overlay", map[string]string{"sub/a.txt": "one\ntwo\n"})
	p := e2e.Runs(t, dir, "--", "sed", "-i", "s/one/ONE/", "sub/a.txt")
	p.Ends(0, "sub/a.txt: held for review")
	if got, _, code := e2e.RunCLI(t, "", "review", "--root", dir, "list"); code != 0 || !strings.Contains(got, "sub/a.txt  modify  +1 −1  clean  by run (sed -i s/one/ONE/ sub/a.txt)") {
		t.Errorf("the list: %s", got)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "sub/a.txt")); err != nil || string(data) != "one\ntwo\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
	if _, said, code := e2e.RunCLI(t, "", "review", "--root", dir, "accept"); code != 0 {
		t.Error(said)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "sub/a.txt")); err != nil || string(data) != "ONE\ntwo\n" {
		t.Errorf("after the accept the disk has %q, %v", data, err)
	}
	// In a mode that applies, it is applied.
	e2e.Runs(t, dir, "--mode", "autonomous", "--", "sed", "-i", "s/two/TWO/", "sub/a.txt").Ends(0, "sub/a.txt: changed")
	if data, err := os.ReadFile(filepath.Join(dir, "sub/a.txt")); err != nil || string(data) != "ONE\nTWO\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
}

// TestRunBesideShells: without an editor, a person's other shells review what a program
// does while it runs, see what it sees, and start others, which its end does not end.
func TestRunBesideShells(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "disk\n"})
	shell := e2e.Shell{T: t, Dir: dir}
	first := e2e.Runs(t, dir, "--", "sh", "-c", `echo one > new.txt; echo ONE > a.txt; echo begun; until [ ! -e new.txt ]; do sleep 0.05; done; echo seen; read x`)
	if got := first.Next(); got != "begun" {
		t.Fatalf("it printed %q", got)
	}
	e2e.Until(t, "another shell does not see what waits", func() bool {
		out, _, code := e2e.RunCLI(t, "", "review", "--root", dir, "list")
		return code == 0 && strings.Contains(out, "new.txt  create") && strings.Contains(out, "a.txt")
	})
	shell.Says([]string{"ONE"}, "call", "--mode", "review", "read_file", "path=a.txt")
	shell.Says([]string{"rejected new.txt"}, "review", "reject", "new.txt")
	if got := first.Next(); got != "seen" {
		t.Fatalf("it printed %q", got)
	}
	shell.Says([]string{"accepted a.txt"}, "review", "accept", "a.txt")
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "ONE\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}

	second := e2e.Runs(t, dir, "--", "sh", "-c", `echo two > two.txt; echo begun; read x; echo $x`)
	if got := second.Next(); got != "begun" {
		t.Fatalf("the second printed %q", got)
	}
	said := make(chan string)
	go func() { // the first says that it waits, before the second may go on
		<-said
		_, _ = io.WriteString(second.In, "go\n")
	}()
	first.OnSaid("waiting for another shell's program or agent, which runs through this one. Ctrl-C ends it, too.", func() { close(said) })
	if _, err := io.WriteString(first.In, "go\n"); err != nil {
		t.Fatal(err)
	}
	if got := second.Next(); got != "go" {
		t.Errorf("the second printed %q", got)
	}
	second.Ends(0, "two.txt: held for review")
	first.Ends(0)
	shell.Says([]string{"two.txt"}, "review", "list")
}

// TestRunLoginShells: a login shell keeps the PATH, which the system's start-up files set
// anew; what a program has put in their place stays.
func TestRunLoginShells(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"})
	t.Setenv("PATH", os.Getenv("PATH")+":/opt/of-the-user/bin")
	for _, shell := range []string{"bash", "sh", "zsh"} {
		p := e2e.Runs(t, dir, "--", shell, "-l", "-c", `echo "$PATH"`)
		if got := p.Next(); !strings.HasSuffix(got, ":/opt/of-the-user/bin") {
			t.Errorf("%s has the PATH %s", shell, got)
		}
		p.Ends(0)
	}
	e2e.Runs(t, dir, "--", "sh", "-c", `echo 'echo mine' > ~/.profile`).Ends(0)
	p := e2e.Runs(t, dir, "--", "sh", "-l", "-c", "true")
	if got := p.Next(); got != "mine" {
		t.Errorf("its own start-up file says %q", got)
	}
	p.Ends(0)
}

// TestEditorAfterRun: an editor that opens while a program works elsewhere has the queue
// once that has ended, and shells then reach the editor's server.
func TestEditorAfterRun(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "disk\n"})
	p := e2e.Runs(t, dir, "--", "sh", "-c", `echo ONE > a.txt; echo begun; read x`)
	p.Next()
	r := e2e.RunIn(t, dir)
	if _, err := io.WriteString(p.In, "go\n"); err != nil {
		t.Fatal(err)
	}
	p.Ends(0, "a.txt: held for review")
	e2e.Until(t, "the editor has not got the queue", func() bool {
		return r.Tool("write_file", e2e.Object{"path": "b.txt", "content": "b\n"}).OK && slices.Equal(r.Queued(), []string{"a.txt", "b.txt"})
	})
	e2e.Until(t, "a shell does not reach the editor's server", func() bool {
		out, _, code := e2e.RunCLI(t, "", "review", "--root", dir, "list")
		return code == 0 && strings.Contains(out, "b.txt")
	})
}

// TestRunAmongPrograms: what a program starts decides nothing, though it finds the process
// that serves its workspace; nor does another shell where the setting is off.
func TestRunAmongPrograms(t *testing.T) {
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "disk\n"}, e2e.Object{"mcp.attach": false})
	p := e2e.Runs(t, dir, "--", "sh", "-c", `echo ONE > a.txt; echo begun; read x`)
	p.Next()
	e2e.Until(t, "the queue is not held", func() bool {
		_, said, code := e2e.RunCLI(t, "", "review", "--root", dir, "accept")
		return code == 1 && strings.Contains(said, "has this project's review") && strings.Contains(said, "sidecar.mcp.attach")
	})
	if _, err := io.WriteString(p.In, "go\n"); err != nil {
		t.Fatal(err)
	}
	p.Ends(0, "a.txt: held for review")

	open := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "disk\n"})
	self := program.ServerAnywhere(t)
	p = e2e.Runs(t, open, "--", "sh", "-c", `echo ONE > a.txt; `+self+` review --root `+open+` accept 2>&1 | tail -n 1; `+self+` agent --root `+open+` list >/dev/null 2>&1; cat a.txt`)
	if got := p.Next(); strings.Contains(got, "accepted") {
		t.Errorf("the program accepts: %q", got)
	}
	p.Next()
	p.Ends(0, "a.txt: held for review")
	if data, err := os.ReadFile(filepath.Join(open, "a.txt")); err != nil || string(data) != "disk\n" {
		t.Errorf("the disk has %q, %v", data, err)
	}
}

// TestRunOnTerminal: the program has a terminal of its own, of the size of the person's
// and with their keys, and shows on it.
func TestRunOnTerminal(t *testing.T) {
	for _, attached := range []bool{true, false} {
		dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"})
		if attached {
			e2e.RunIn(t, dir)
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
		cmd := exec.CommandContext(t.Context(), program.ServerAnywhere(t), "run", "--mode", "review", "--root", dir, "--", "bash", "-c",
			// Without noflsh the terminal drops what the trap prints if that is quicker than its own flush.
			`stty noflsh; trap 'stty size' WINCH; trap 'echo interrupted; exit 5' INT; echo "$TERM"; stty size; test -t 2 && echo ready; echo new > new.txt; while :; do read -r -t 0.05 line && echo "got $line"; done`)
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
		p := e2e.Runs(t, r.Dir, "--session", "mine", "--", "bash", "-c", "echo x >> written.txt; (exec -a "+mark+" sleep 1000) & wait")
		e2e.Until(t, "it never wrote", func() bool {
			return slices.Contains(r.Queued(), "written.txt") && lives()
		})
		if err := p.Process.Signal(how); err != nil {
			t.Fatal(err)
		}
		_ = p.Wait()
		e2e.Until(t, "something of the program is left", func() bool { return !lives() })
		e2e.Until(t, "its session is left", func() bool {
			again := e2e.Runs(t, r.Dir, "--session", "mine", "--", "true")
			_ = again.Wait()
			return !strings.Contains(again.Said.String(), "open already")
		})
		r.IsQueued("written.txt")
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
			p := e2e.Runs(t, r.Dir, c.args...)
			p.Out = bufio.NewScanner(strings.NewReader(""))
			p.Ends(c.code, c.says)
		})
	}
	r.IsQueued()
	// A program of the server's own is no person.
	if res := r.Tool("run_command", e2e.Object{"command": program.ServerAnywhere(t) + " run -- touch ran"}); res.OK {
		t.Errorf("a command of an agent runs programs: %s", res.Content)
	}
	r.IsQueued()
	e2e.UserSettings(t, e2e.Object{"commands.world": "disk"})
	disk := e2e.RunIn(t, e2e.Project(t, map[string]string{"a.txt": "a\n"}))
	e2e.Runs(t, disk.Dir, "--", "touch", "ran").Ends(1, "could not be reviewed, because it would see the disk: the setting sidecar.commands.world says so")
	if _, err := os.Stat(filepath.Join(disk.Dir, "ran")); err == nil {
		t.Error("it ran on the disk")
	}
}

// TestRunProfiles: a program that has a profile sees of the user's what that says, once
// they have allowed it, and nothing else.
func TestRunProfiles(t *testing.T) {
	program.ServerAnywhere(t)
	user := t.TempDir()
	t.Setenv("HOME", user)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("FAKE_KEY", "key-of-the-agent")
	t.Setenv("OTHER_KEY", "key-of-another")
	dir := e2e.WorldProject(t, "overlay", map[string]string{"a.txt": "a\n"}, e2e.Object{"agents": e2e.Object{
		"fake": e2e.Object{"program": "fake-agent", "state": []string{".fake"}, "copied": []string{".fake.json"}, "env": []string{"FAKE_KEY"}},
		"bad":  e2e.Object{"state": []string{"../other"}},
	}})
	bin := t.TempDir()
	e2e.Write(t, filepath.Join(bin, "fake-agent"), "#!/bin/sh\ncat ~/.fake/state ~/.fake.json; echo $FAKE_KEY$OTHER_KEY; cat ~/.other/secret; echo more >> ~/.fake/state; echo changed > ~/.fake.json; echo own > ~/own; echo x > x.txt\n")
	if err := ownfile.Chmod(filepath.Join(bin, "fake-agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for name, text := range map[string]string{".fake/state": "state\n", ".fake.json": "{}\n", ".other/secret": "secret\n"} {
		e2e.Write(t, filepath.Join(user, name), text)
	}
	start := func(args ...string) *e2e.Running {
		t.Helper()
		p := e2e.Runs(t, dir, args...)
		_ = p.In.Close()
		return p
	}
	lines := func(p *e2e.Running, want ...string) {
		t.Helper()
		for _, w := range want {
			if got := p.Next(); got != w {
				t.Errorf("it printed %q, want %q", got, w)
			}
		}
	}
	start("--", "fake-agent").Ends(1, "~/.fake is read and written: its state", "~/.fake.json is read; changes stay in a copy", "FAKE_KEY", "no terminal to ask at")
	if _, err := os.Stat(filepath.Join(user, ".local", "state", "sidecar-ls", "agents", "fake")); err == nil {
		t.Error("something was readied that nobody allowed")
	}
	start("--profile", "nonesuch", "--", "fake-agent").Ends(2, "there is none of the name \"nonesuch\"; there are aider, claude,", "fake, gemini")
	start("--profile", "bad", "--", "fake-agent").Ends(2, "there is none of the name")

	p := start("--yes", "--", "fake-agent")
	lines(p, "state", "{}", "key-of-the-agent")
	p.Ends(0, "cat: ", "x.txt: held for review")
	p = start("--", "fake-agent") // asked once
	lines(p, "state", "more", "changed", "key-of-the-agent")
	p.Ends(0)
	for name, want := range map[string]string{".fake/state": "state\nmore\nmore\n", ".fake.json": "{}\n", ".other/secret": "secret\n"} {
		if data, err := os.ReadFile(filepath.Join(user, name)); err != nil || string(data) != want {
			t.Errorf("~/%s is %q, %v", name, data, err)
		}
	}
	if _, err := os.Stat(filepath.Join(user, "own")); err == nil {
		t.Error("the program wrote into the user's home")
	}
	// Another profile's words are asked about again; none gives it nothing.
	e2e.UserSettings(t, e2e.Object{"agents": e2e.Object{"fake": e2e.Object{"program": "fake-agent", "state": []string{".fake", ".other"}}}})
	start("--", "fake-agent").Ends(1, "~/.fake, ~/.other are read and written")
	p = start("--profile", "none", "--", "fake-agent")
	lines(p, "")
	p.Ends(0, "cat: ")
	// A link as state is refused, with what to do.
	if err := ownfile.Rename(filepath.Join(user, ".fake"), filepath.Join(user, "dots")); err != nil {
		t.Fatal(err)
	}
	if err := ownfile.Symlink("dots", filepath.Join(user, ".fake")); err != nil {
		t.Fatal(err)
	}
	start("--yes", "--", "fake-agent").Ends(1, "~/.fake leads over a link to")
}
