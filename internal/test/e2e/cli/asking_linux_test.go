package cli_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestTerminalAsks: at a terminal a tool's question is put to the person there,
// as an approval is. Without a terminal both say that nobody can be asked.
func TestTerminalAsks(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// run gives the program a terminal on which a person types, if anybody does.
	run := func(typed string, args ...string) (shown, printed string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), self, append(args, "--root", dir)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if typed == "" {
			_ = cmd.Run()
			return "", out.String()
		}
		other, tty := pty(t)
		cmd.Stdin, cmd.SysProcAttr.Setctty = tty, true
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		if _, err := other.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		all, _ := io.ReadAll(other) // ends with an error when nobody has the terminal any more
		_ = cmd.Wait()
		return string(all), out.String()
	}
	which := []string{"call", "ask_user", "question=Which database?", "options=SQLite", "options=PostgreSQL"}
	lost := []string{"call", "run_command", "command=rm -rf nothing && echo do''ne"}
	for name, c := range map[string]struct {
		typed   string
		args    []string
		shown   string
		printed string
	}{
		"an approval":           {"y\n", []string{"call", "write_file", "path=a.txt", "content=x"}, "Allow? [y/N]", "created a.txt"},
		"can't be undone":       {"CONFIRM\n", lost, "nothing && echo do''ne`?\r\nIt can't be undone: rm deletes", "done"},
		"can't be undone, yes":  {"yes\n", lost, "Type CONFIRM to allow it: ", "done"},
		"can't be undone, y":    {"y\n", lost, "Type CONFIRM to allow it: ", "not_approved"},
		"can't be undone, case": {"confirm\n", lost, "Type CONFIRM to allow it: ", "not_approved"},

		"an option":          {"2\n", which, "Which database?\r\n  1  SQLite\r\n  2  PostgreSQL\r\nNumber, or your own words: ", "PostgreSQL\n"},
		"own words":          {"neither of them\n", which, "Number, or your own words: ", "neither of them\n"},
		"without options":    {"a name\n", []string{"call", "ask_user", "question=What?"}, "What?\r\nAnswer: ", "a name\n"},
		"dismissed":          {"\n", which, "Which database?", "dismissed the question"},
		"only the options":   {"3\n", append(which, "allow_custom=false"), "Number: ", "dismissed the question"},
		"a text with escape": {"1\n", []string{"call", "ask_user", "question=\x1b[2Jx", "options=\x1b[1my"}, "<U+001B>[2Jx", "\x1b[1my"},

		"no terminal":              {"", which, "", "unavailable: the user could not be asked (there is no terminal here); go on by your best judgement"},
		"no terminal, an approval": {"", []string{"call", "write_file", "path=b.txt", "content=x"}, "", "there is no terminal here"},
	} {
		t.Run(name, func(t *testing.T) {
			shown, printed := run(c.typed, c.args...)
			if !strings.Contains(shown, c.shown) || !strings.Contains(printed, c.printed) {
				t.Errorf("the terminal shows %q, want %q; printed %q, want %q", shown, c.shown, printed, c.printed)
			}
			if strings.Contains(shown, "\x1b") {
				t.Errorf("the question steers the terminal: %q", shown)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "b.txt")); err == nil {
		t.Error("b.txt was written without anybody's leave")
	}
}

// TestWelcome: who types the program's name alone at a terminal is told what it is and what
// to type next; a program that starts it so is served.
func TestWelcome(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, nil)
	server := program.ServerAnywhere(t)
	bin := t.TempDir()
	install := func(name string) {
		t.Helper()
		e2e.Write(t, filepath.Join(bin, name), "#!/bin/sh\n")
		if err := ownfile.Chmod(filepath.Join(bin, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	install("claude")
	t.Setenv("PATH", bin)
	waiting := e2e.Project(t, nil)
	if _, stderr, code := e2e.RunCLI(t, "", "call", "--mode", "review", "write_file", "path=a.txt", "content=x", "--root", waiting); code != 0 {
		t.Fatal(stderr)
	}
	const drive = "sidecar-ls agent run claude"
	for _, c := range []struct {
		where string
		npm   bool
		want  []string
		lacks []string
	}{
		{dir, false, []string{"every change waits for your review", dir, "cautious", "Claude Code (it is driven by claude-agent-acp, which npm installs", "sidecar-ls setup", "sidecar-ls review "}, []string{drive, "Waits"}},
		{dir, true, []string{"Claude Code", drive}, []string{"npm", "Waits"}},
		{waiting, true, []string{"Waits    1 change in 1 file", "sidecar-ls review diff", drive}, nil},
		{os.Getenv("HOME"), true, []string{"every change waits for your review", "is no project", "sidecar-ls help"}, []string{drive}},
	} {
		where, want := c.where, c.want
		if c.npm {
			install("npm")
		}
		cmd := exec.CommandContext(t.Context(), server)
		other, tty := pty(t)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = where, tty, tty, tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		shown, _ := io.ReadAll(other) // ends with an error when nobody has the terminal any more
		if err := cmd.Wait(); err != nil {
			t.Errorf("in %s: %v", where, err)
		}
		for _, part := range want {
			if !strings.Contains(string(shown), part) {
				t.Errorf("in %s it lacks %q: %s", where, part, shown)
			}
		}
		for _, part := range c.lacks {
			if strings.Contains(string(shown), part) {
				t.Errorf("in %s it has %q: %s", where, part, shown)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), server)
	cmd.Stdin = strings.NewReader("Content-Length: 2\r\n\r\n{}")
	if out, _ := cmd.CombinedOutput(); strings.Contains(string(out), "every change waits") {
		t.Errorf("a program is told %s", out)
	}
}

// TestModeCommand: the mode that a person chooses is in their settings, where the rest stays
// as it is; a project's stricter one is named.
func TestModeCommand(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{".sidecar/settings.json": `{"mode": "manual"}`})
	plain := e2e.Project(t, nil)
	e2e.SettingsFile(t, "{\n  \"result.maxBytes\":    20000\n}\n")
	for _, c := range []struct {
		where, mode, want string
	}{{plain, "review", "The mode is now review"}, {dir, "autonomous", "it is manual, which the project's settings ask for"}} {
		out, said, code := e2e.RunCLI(t, "", "mode", "--root", c.where, c.mode)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%s: %d, %s%s", c.mode, code, out, said)
		}
		if data, err := os.ReadFile(config.UserFile()); err != nil || !strings.Contains(string(data), "\"result.maxBytes\":    20000") || !strings.Contains(string(data), `"mode": "`+c.mode+`"`) {
			t.Errorf("%s: the settings are %s, %v", c.mode, data, err)
		}
	}
	if out, _, _ := e2e.RunCLI(t, "", "mode", "--root", plain, "--json"); !strings.Contains(out, `"mode": "autonomous"`) {
		t.Errorf("it shows %s", out)
	}
}
