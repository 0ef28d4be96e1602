package shells

import (
	"errors"
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
			})
			if got.Path != c.want || errors.Is(err, ErrNone) != (c.want == "") {
				t.Errorf("%+v, %v, want %q", got, err, c.want)
			}
			if is := strings.HasSuffix(got.Path, "pwsh.exe") || strings.HasSuffix(got.Path, "powershell.exe"); got.PowerShell != is {
				t.Errorf("%+v", got)
			}
		})
	}
	if got, err := find(system{name: "linux"}); err != nil || got.Path != "bash" || got.PowerShell {
		t.Errorf("elsewhere: %+v, %v", got, err)
	}
}
