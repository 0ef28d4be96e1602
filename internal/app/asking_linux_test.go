package app_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTerminalAsks: at a terminal a tool's question is put to the person there,
// as an approval is. Without a terminal both say that nobody can be asked.
func TestTerminalAsks(t *testing.T) {
	home(t)
	dir := project(t, nil)
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
	for name, c := range map[string]struct {
		typed   string
		args    []string
		shown   string
		printed string
	}{
		"an approval":        {"y\n", []string{"call", "write_file", "path=a.txt", "content=x"}, "Allow? [y/N]", "created a.txt"},
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
