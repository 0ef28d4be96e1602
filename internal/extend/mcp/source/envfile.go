package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Bounds of a file of variables.
const (
	maxEnvFile      = 64 << 10 // bytes
	maxEnvVariables = 500
)

// readEnvFile reads the variables of a file that an entry names. A relative name
// is below root, and no link leads out of there: what is trusted is the name.
// No error has a value in it.
func readEnvFile(root, name string) (map[string]string, error) {
	data, err := openEnvFile(root, name)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("its envFile %s is not there; make it, or take envFile out of its entry", name)
		}
		return nil, fmt.Errorf("its envFile %s can't be read: %w", name, err)
	}
	vars, err := parseEnv(string(data))
	if err != nil {
		return nil, fmt.Errorf("its envFile %s: %w", name, err)
	}
	return vars, nil
}

func openEnvFile(root, name string) ([]byte, error) {
	if rel, err := filepath.Rel(root, name); err == nil && filepath.IsAbs(name) && filepath.IsLocal(rel) {
		name = rel
	}
	open := os.OpenFile
	if !filepath.IsAbs(name) {
		if !filepath.IsLocal(name) {
			return nil, errors.New("it is outside of the workspace folder; write its absolute path")
		}
		dir, err := os.OpenRoot(root)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		open = dir.OpenFile
	}
	f, err := open(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold anybody up
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > maxEnvFile:
		return nil, fmt.Errorf("it has more than %d bytes", maxEnvFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	if err == nil && len(data) > maxEnvFile {
		err = fmt.Errorf("it has more than %d bytes", maxEnvFile)
	}
	return data, err
}

// parseEnv reads lines NAME=value: values may be quoted, then also over several
// lines; those in double quotes have \n, \r, \t, \" and \\. Nothing is filled in.
func parseEnv(text string) (map[string]string, error) {
	vars := map[string]string{}
	rest := strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for line := 1; rest != ""; line++ {
		begun := line
		var head string
		head, rest, _ = strings.Cut(rest, "\n")
		head = strings.TrimSpace(head)
		if head == "" || head[0] == '#' {
			continue
		}
		if after, ok := strings.CutPrefix(head, "export"); ok && strings.TrimLeft(after, " \t") != after {
			head = strings.TrimLeft(after, " \t")
		}
		name, value, ok := strings.Cut(head, "=")
		name, value = strings.TrimRight(name, " \t"), strings.TrimLeft(value, " \t")
		if !ok || !envName(name) {
			return nil, fmt.Errorf("line %d is not NAME=value", begun)
		}
		if value != "" && (value[0] == '"' || value[0] == '\'' || value[0] == '`') {
			whole := value[1:]
			end := closing(whole, value[0])
			for end < 0 && rest != "" {
				var next string
				next, rest, _ = strings.Cut(rest, "\n")
				line++
				whole += "\n" + next
				end = closing(whole, value[0])
			}
			if end < 0 {
				return nil, fmt.Errorf("the quote in line %d is not closed", begun)
			}
			if after := strings.TrimSpace(whole[end+1:]); after != "" && after[0] != '#' {
				return nil, fmt.Errorf("line %d goes on after its quote", line)
			}
			if whole = whole[:end]; value[0] == '"' {
				whole = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(whole)
			}
			value = whole
		} else if i := strings.Index(value, " #"); i >= 0 {
			value = strings.TrimRight(value[:i], " \t")
		}
		if strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("line %d has a zero byte", begun)
		}
		vars[name] = value
		if len(vars) > maxEnvVariables {
			return nil, fmt.Errorf("it has more than %d variables", maxEnvVariables)
		}
	}
	return vars, nil
}

// closing is where a quote is closed, or -1.
func closing(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}

func envName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r != '.' && r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

// fromEnvFile gives a server, whose placeholders are filled in, the variables of
// its file. They must be those that its identity names.
func fromEnvFile(s Server, root string) (Server, error) {
	if s.EnvFile == "" {
		return s, nil
	}
	vars, err := readEnvFile(root, s.EnvFile)
	if err != nil {
		return s, err
	}
	if s.Project && !slices.Equal(sortedKeys(vars), s.EnvNames) {
		return s, fmt.Errorf("its envFile %s has other variables than when it was looked at; sidecar.mcp.list shows them", s.EnvFile)
	}
	env := map[string]string{}
	for _, set := range []map[string]string{vars, s.Env} { // what the entry itself says goes first
		for k, v := range set {
			env[k] = v
		}
	}
	s.Env = env
	return s, nil
}
