package shells

import (
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	const (
		gitBash = `C:\Program Files\Git\bin\bash.exe`
		wsl     = `C:\Windows\System32\bash.exe`
		pwsh    = `C:\Program Files\PowerShell\7\pwsh.exe`
		ps      = `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
	)
	for name, c := range map[string]struct {
		path    map[string]string // what PATH leads to
		core    string            // what git says
		files   []string
		answers map[string]string // of programs that are asked what they are
		want    string            // "": none
	}{
		"git in cmd":        {map[string]string{"git": `C:\Program Files\Git\cmd\git.exe`, "bash": wsl, "pwsh": pwsh}, "", []string{gitBash, wsl}, map[string]string{gitBash: "5.2.26(1)-release", pwsh: "7.4.2"}, gitBash},
		"git in mingw64":    {map[string]string{"git": `C:\Program Files\Git\mingw64\bin\git.exe`}, "", []string{gitBash}, map[string]string{gitBash: "5.2.26(1)-release"}, gitBash},
		"a stand-in of git": {map[string]string{"git": `C:\Users\me\scoop\shims\git.exe`}, "C:/Program Files/Git/mingw64/libexec/git-core", []string{gitBash}, map[string]string{gitBash: "5.2"}, gitBash},
		"bash on PATH":      {map[string]string{"bash": `C:\msys64\usr\bin\bash.exe`}, "", []string{`C:\msys64\usr\bin\bash.exe`}, map[string]string{`C:\msys64\usr\bin\bash.exe`: "5.2"}, `C:\msys64\usr\bin\bash.exe`},
		"WSL's alone":       {map[string]string{"bash": wsl}, "", []string{wsl}, map[string]string{wsl: "5.1"}, ""},
		"WSL's of the shop": {map[string]string{"bash": `C:\Users\me\AppData\Local\Microsoft\WindowsApps\bash.exe`}, "", []string{`C:\Users\me\AppData\Local\Microsoft\WindowsApps\bash.exe`}, map[string]string{`C:\Users\me\AppData\Local\Microsoft\WindowsApps\bash.exe`: "5.1"}, ""},
		"a broken bash":     {map[string]string{"git": `C:\Program Files\Git\cmd\git.exe`, "pwsh": pwsh}, "", []string{gitBash}, map[string]string{pwsh: "7.4.2"}, pwsh},
		"PowerShell 7":      {map[string]string{"pwsh": pwsh, "powershell": ps}, "", nil, map[string]string{pwsh: "7.4.2", ps: "5.1.22621.2506"}, pwsh},
		"PowerShell 5.1":    {map[string]string{"powershell": ps}, "", nil, map[string]string{ps: "5.1.22621.2506"}, ps},
		"an old PowerShell": {map[string]string{"powershell": ps}, "", nil, map[string]string{ps: "2.0"}, ""},
		"one that is none":  {map[string]string{"powershell": ps}, "", nil, nil, ""},
		"nothing":           {nil, "", nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := find(system{
				name: "windows", root: `C:\Windows`,
				look: func(p string) (string, error) {
					if path := c.path[p]; path != "" {
						return path, nil
					}
					return "", exec.ErrNotFound
				},
				isFile: func(path string) bool { return slices.Contains(c.files, path) },
				ask: func(program string, args ...string) string {
					if strings.HasSuffix(program, "git.exe") {
						return c.core
					}
					return c.answers[program]
				},
			}, Auto)
			if got.Path != c.want || (got.Why == "") != (c.want == "") || errors.Is(err, ErrNone) != (c.want == "") {
				t.Errorf("%+v, %v, want %q", got, err, c.want)
			}
			if is := strings.HasSuffix(got.Path, "pwsh.exe") || strings.HasSuffix(got.Path, "powershell.exe"); got.PowerShell != is {
				t.Errorf("%+v", got)
			}
		})
	}
	if got, err := find(system{name: "linux"}, Auto); err != nil || got.Path != "bash" || got.PowerShell {
		t.Errorf("elsewhere: %+v, %v", got, err)
	}
}

// TestFindChosen: the setting takes one shell alone, and says what is missing. The words
// of wsl.exe are in UTF-16, and it is there without a Linux, too.
func TestFindChosen(t *testing.T) {
	const (
		gitBash = `C:\Program Files\Git\bin\bash.exe`
		pwsh    = `C:\Program Files\PowerShell\7\pwsh.exe`
		ps      = `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
		wsl     = `C:\Windows\System32\wsl.exe`
	)
	all := map[string]string{gitBash: "5.2.26", pwsh: "7.4.2", ps: "5.1.22621.2506", wsl + " -l": "Ubuntu\r\nDebian", wsl + " -e": "5.2.21(1)-release\n/mnt/c/"}
	with := func(change map[string]string) map[string]string {
		m := maps.Clone(all)
		maps.Copy(m, change)
		return m
	}
	for name, c := range map[string]struct {
		os, want string
		answers  map[string]string
		path     string // "": none, and
		err      string
	}{
		"auto":              {"windows", Auto, all, gitBash, ""},
		"not set":           {"windows", "", all, gitBash, ""},
		"auto, never WSL":   {"windows", Auto, with(map[string]string{gitBash: "", pwsh: "", ps: ""}), "", "no shell was found"},
		"bash":              {"windows", UseBash, all, gitBash, ""},
		"no bash":           {"windows", UseBash, with(map[string]string{gitBash: ""}), "", "the setting sidecar.commands.shell asks for bash, and no bash was found: install Git for Windows"},
		"powershell":        {"windows", UseWindows, all, ps, ""},
		"no powershell":     {"windows", UseWindows, with(map[string]string{ps: ""}), "", "5.1 does not answer"},
		"7 as powershell":   {"windows", UseWindows, with(map[string]string{ps: "7.4.2"}), "", "5.1 does not answer"},
		"pwsh":              {"windows", UsePwsh, all, pwsh, ""},
		"no pwsh":           {"windows", UsePwsh, with(map[string]string{pwsh: ""}), "", "install it (winget install Microsoft.PowerShell); start the server again then, or set it to auto"},
		"wsl":               {"windows", UseWSL, all, wsl, ""},
		"wsl with nothing":  {"windows", UseWSL, with(map[string]string{wsl + " -l": ""}), "", "WSL has no Linux: install one (wsl --install)"},
		"docker's Linux":    {"windows", UseWSL, with(map[string]string{wsl + " -e": ""}), "", "no bash that answers"},
		"without drives":    {"windows", UseWSL, with(map[string]string{wsl + " -e": "5.2.21\n"}), "", "automount"},
		"linux, bash":       {"linux", UseBash, nil, "bash", ""},
		"linux, pwsh":       {"linux", UsePwsh, all, "", "for Windows alone"},
		"darwin, wsl":       {"darwin", UseWSL, all, "", "set it to auto or bash"},
		"linux, powershell": {"linux", UseWindows, all, "", "for Windows alone"},
	} {
		got, err := find(system{
			name: c.os, root: `C:\Windows`,
			look: func(p string) (string, error) {
				if path := map[string]string{"git": `C:\Program Files\Git\cmd\git.exe`, "pwsh": pwsh, "powershell": ps, "wsl": wsl, "bash": `C:\Windows\System32\bash.exe`}[p]; path != "" {
					return path, nil
				}
				return "", exec.ErrNotFound
			},
			isFile: func(path string) bool { return path != `C:\Program Files\Git\bash.exe` },
			ask: func(program string, args ...string) string {
				if program == wsl {
					program += " " + args[0]
				}
				return c.answers[program]
			},
		}, c.want)
		if got.Path != c.path || (err == nil) != (c.path != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if want := map[string]string{wsl: "/mnt/"}[c.path]; got.Drives != want || got.Old != (c.path == ps) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPaths(t *testing.T) {
	wsl, root := Shell{Drives: "/mnt/"}, Shell{Drives: "/"}
	for _, c := range []struct {
		s             Shell
		outside, name string
	}{
		{wsl, `C:\`, "/mnt/c"}, {wsl, `C:\a b\größe`, "/mnt/c/a b/größe"}, {wsl, `Z:\x`, "/mnt/z/x"},
		{root, `C:\x`, "/c/x"}, {wsl, "/home/me", "/home/me"}, {wsl, `\\server\share`, `\\server\share`},
		{wsl, "/mnt/data", "/mnt/data"}, {wsl, "/mnt/", "/mnt/"}, {Shell{}, `C:\x`, `C:\x`}, {Shell{}, "/mnt/c/x", "/mnt/c/x"},
	} {
		if got := c.s.Inside(c.outside); got != c.name {
			t.Errorf("%q is %q in there, want %q", c.outside, got, c.name)
		}
		if got := c.s.Outside(c.name); got != c.outside {
			t.Errorf("%q is %q, want %q", c.name, got, c.outside)
		}
	}
	if got := wsl.Inside("c:/a/b/"); got != "/mnt/c/a/b" {
		t.Error(got)
	}
}

func TestNative(t *testing.T) {
	wsl, git, here := Shell{Drives: "/mnt/", Variable: true}, Shell{Variable: true}, Bash
	for _, c := range []struct {
		s          Shell
		name, want string
	}{
		{wsl, "/mnt/c/p/.env", `C:\p\.env`}, {wsl, "//mnt/../mnt/c//p/.env", `C:\p\.env`}, {wsl, "/home/me", "/home/me"}, {wsl, "c/p", "c/p"}, {wsl, "/c/p", "/c/p"},
		{git, "/c/p/.env", `C:\p\.env`}, {git, "/cygdrive/c/p", `C:\p`}, {git, "/usr/bin", "/usr/bin"}, {git, "c:/p", "c:/p"},
		{here, "/c/p", "/c/p"}, {here, "/mnt/c/p", "/mnt/c/p"},
	} {
		if got := c.s.Native(c.name); got != c.want {
			t.Errorf("%+v: %q is %q, want %q", c.s, c.name, got, c.want)
		}
	}
}

// TestWSLLine: a line reaches the bash of WSL in the one variable that comes along.
func TestWSLLine(t *testing.T) {
	argv, env := Shell{Path: "wsl.exe", Variable: true, Drives: "/mnt/"}.Script([]string{"--norc"}, "echo $1", "it's")
	if got := strings.Join(argv, " "); got != `wsl.exe -e bash --norc -c eval "$__sc_boot"` {
		t.Error(got)
	}
	if want := []string{"WSLENV=__sc_boot/u", `__sc_boot=unset __sc_boot; set -- 'it'\''s'; echo $1`}; !slices.Equal(env, want) {
		t.Errorf("%q", env)
	}
}

func TestPlain(t *testing.T) {
	for said, want := range map[string]string{
		"U\x00b\x00\r\x00\n\x00": "Ub\r\n", "\xff\xfea\x00": "a", "Ubuntu": "Ubuntu", "": "", "größe": "größe", "\x00\x00\x00": "\x00\x00\x00",
	} {
		if got := plain([]byte(said)); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}
