package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

// completed are lines, and what the shell makes of them.
var completed = []struct{ line, want string }{
	{"sidecar-ls kno", "sidecar-ls knowledge"},
	{"sidecar-ls tools read_f", "sidecar-ls tools read_file"},
	{"sidecar-ls review rej", "sidecar-ls review reject"},
	{"sidecar-ls policy explain read_f", "sidecar-ls policy explain read_file"},
	{"sidecar-ls call --mode rev", "sidecar-ls call --mode review"},
	{"sidecar-ls call --mode=rev", "sidecar-ls call --mode=review"},
	{"sidecar-ls call --mode own", "sidecar-ls call --mode ownmode"},
	{"sidecar-ls call --ro", "sidecar-ls call --root"},
	{"sidecar-ls call read_file off", "sidecar-ls call read_file offset="},
	{"sidecar-ls call read_file mode=out", "sidecar-ls call read_file mode=outline"},
	{"sidecar-ls call git_pull rebase=t", "sidecar-ls call git_pull rebase=true"},
	{"sidecar-ls call read_file path=lon", "sidecar-ls call read_file path=long-name.txt"},
	{"sidecar-ls call read_file path=inn", "sidecar-ls call read_file path=inner/"},
	{"sidecar-ls call read_file path=inner/x", "sidecar-ls call read_file path=inner/x.go"},
	{"sidecar-ls call read_file path=odd", "sidecar-ls call read_file path=odd$(touch ran)name"},
	{"sidecar-ls setup cod", "sidecar-ls setup codex"},
	{"sidecar-ls setup codex --via=wor", "sidecar-ls setup codex --via=world"},
	{"sidecar-ls agent pro", "sidecar-ls agent prompt"},
	{"sidecar-ls agent eval --only=err", "sidecar-ls agent eval --only=error-path"},
	{"sidecar-ls completion z", "sidecar-ls completion zsh"},
	{"sidecar-ls review diff lon", "sidecar-ls review diff long-name.txt"}, // a file, by the shell itself
}

// TestCompletion runs the shells themselves.
func TestCompletion(t *testing.T) {
	for _, shell := range []struct {
		name string
		run  func(t *testing.T, shell, dir string, lines []string) []string
	}{
		{"bash", typed("--norc", "--noprofile", "-i")},
		{"zsh", typed("-f", "-i")},
		{"fish", fish},
	} {
		t.Run(shell.name, func(t *testing.T) {
			path, err := exec.LookPath(shell.name)
			if err != nil {
				needs.Skip(t, needs.Shells, fmt.Sprintf("%s is not here; make tools installs it", shell.name))
			}
			e2e.Home(t)
			e2e.UserSettings(t, e2e.Object{"customModes": []e2e.Object{{"name": "ownmode", "base": "cautious"}}})
			dir := e2e.Project(t, map[string]string{"long-name.txt": "", "inner/x.go": "", "odd$(touch ran)name": ""})
			bin := t.TempDir()
			self, err := os.Executable()
			if err == nil {
				err = ownfile.Symlink(self, filepath.Join(bin, "sidecar-ls"))
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			t.Setenv("HOME", t.TempDir())
			var lines []string
			for _, c := range completed {
				lines = append(lines, c.line)
			}
			for i, got := range shell.run(t, path, dir, lines) {
				if c := completed[i]; got != c.want {
					t.Errorf("%q becomes %q, want %q", c.line, got, c.want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Error("the name of a file was run")
			}
		})
	}
}

// typed types the lines into a shell at a terminal, each with a tab, and lets
// the shell print them: as what printf is given.
func typed(args ...string) func(t *testing.T, shell, dir string, lines []string) []string {
	return func(t *testing.T, shell, dir string, lines []string) []string {
		t.Helper()
		other, tty := pty(t)
		const setSize = 0x5414 // TIOCSWINSZ, ioctl_tty(2): no line is wider
		size := [4]uint16{50, 500}
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), setSize, uintptr(unsafe.Pointer(&size))); errno != 0 {
			t.Fatal(errno)
		}
		cmd := exec.CommandContext(t.Context(), shell, args...)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, tty, tty, tty
		cmd.Env = append(os.Environ(), "TERM=dumb", "INPUTRC=/dev/null", "PS1=")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		name := filepath.Base(shell)
		// The output is bracketed by marks that the line itself does not have. In zsh
		// the keys are those of Emacs whatever EDITOR is.
		setup := "source <(sidecar-ls completion " + name + ")\n"
		if name == "zsh" {
			setup = "bindkey -e; unsetopt zle_bracketed_paste prompt_cr; autoload -Uz compinit; compinit -u -D\n" + setup
		}
		typing := make(chan error, 1)
		go func() { // a terminal takes only so much that nobody has read yet
			_, err := other.WriteString(setup)
			for _, line := range lines {
				if err == nil {
					_, err = other.WriteString(line + "\t\x01printf '<%s' 'BEG''IN' \x05 'E''ND>'\n")
				}
			}
			if err == nil {
				_, err = other.WriteString("exit\n")
			}
			typing <- err
		}()
		var all bytes.Buffer
		buf := make([]byte, 4096)
		for {
			n, err := other.Read(buf)
			all.Write(buf[:n])
			if err != nil {
				break
			}
		}
		_ = cmd.Wait()
		if err := <-typing; err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, part := range strings.Split(all.String(), "<BEGIN<")[1:] {
			words, _, _ := strings.Cut(part, "<END>")
			got = append(got, strings.ReplaceAll(words, "<", " "))
		}
		if len(got) != len(lines) {
			t.Fatalf("%d lines of %d; the shell printed\n%s", len(got), len(lines), all.String())
		}
		return got
	}
}

// fish asks fish what it would offer, and puts the first offer into the line.
func fish(t *testing.T, shell, dir string, lines []string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shell, append([]string{"-N", "-c", "sidecar-ls completion fish | source; for line in $argv; complete -C $line | head -n 1; echo; end"}, lines...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	offers := strings.Split(string(out), "\n\n")
	if len(offers) != len(lines)+1 {
		t.Fatalf("%d offers for %d lines: %s", len(offers)-1, len(lines), out)
	}
	for i, line := range lines {
		word, _, _ := strings.Cut(offers[i], "\t")
		offers[i] = line[:strings.LastIndexByte(line, ' ')+1] + word
	}
	return offers[:len(lines)]
}
