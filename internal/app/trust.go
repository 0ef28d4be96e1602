package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
)

// Whether a workspace is trusted an editor can say in its settings. For those
// who can't, and for agents without an editor, the user can say it of a folder
// once and for all. That is kept beside the user's settings, where no project
// and no confined command can write.

// folderTrust is what is kept: by folder, trusted or untrusted.
type folderTrust map[string]string

func folderTrustFile() string { return userFile("trust.json") }

func readFolderTrust() (folderTrust, error) {
	all := folderTrust{}
	return all, readUserFile(folderTrustFile(), &all)
}

// of says what is known of a workspace with these folders: it is trusted when
// all of them are, and untrusted when one of them is. "" is nothing.
func (f folderTrust) of(folders []string) string {
	all := len(folders) > 0
	for _, dir := range folders {
		switch f[realPath(dir)] {
		case "untrusted":
			return "untrusted"
		case "trusted":
		default:
			all = false
		}
	}
	if all {
		return "trusted"
	}
	return ""
}

// trustSource is what is known of the workspace as a source of settings. An
// editor that says something itself has the last word.
func trustSource(folders []string) (config.Source, error) {
	src := config.Source{Origin: config.User, Name: folderTrustFile()}
	f, err := readFolderTrust()
	if err != nil {
		return src, fmt.Errorf("%s can't be read, so nothing in it counts: %w", src.Name, err)
	}
	if trust := f.of(folders); trust != "" {
		src.Data, err = json.Marshal(map[string]string{"workspace.trust": trust})
	}
	return src, err
}

// realPath is a directory's name without symbolic links.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// trust says whether the user trusts a workspace, or keeps what they say.
func trust(_ context.Context, c *cli) error {
	verb := strings.Join(c.args, " ")
	word, known := map[string]string{"": "", "yes": "trusted", "no": "untrusted", "forget": ""}[verb]
	if !known {
		return usagef("trust takes yes, no or forget, not %q", verb)
	}
	folder, err := c.folder()
	if err != nil {
		return err
	}
	dir := realPath(folder.Dir)
	all, err := readFolderTrust()
	if err != nil {
		return fmt.Errorf("%s can't be read; mend or remove it: %w", folderTrustFile(), err)
	}
	if verb != "" {
		if all[dir] = word; word == "" {
			delete(all, dir)
		}
		if err := writeUserFile(folderTrustFile(), all); err != nil {
			return err
		}
	}
	said := all.of([]string{dir})
	if c.json {
		return c.print(map[string]string{"folder": dir, "trust": firstOf(said, "unknown")})
	}
	switch said {
	case "trusted":
		fmt.Fprintf(c.Out, "%s is trusted: the language servers, git hooks and filters of the project may run, and its settings may loosen yours.\n", dir)
	case "untrusted":
		fmt.Fprintf(c.Out, "%s is not trusted: tools only read there.\n", dir)
	default:
		fmt.Fprintf(c.Out, "%s: you have not said whether you trust it; nothing that the project names is run.\n", dir)
	}
	if verb != "" {
		fmt.Fprintln(c.Out, "Servers that run take this up when they are started anew; what an editor says itself is stronger.")
	}
	return nil
}

// userFile is the path of a file beside the user's settings; "" without a
// directory for these.
func userFile(name string) string {
	if f := config.UserFile(); f != "" {
		return filepath.Join(filepath.Dir(f), name)
	}
	return ""
}

// readUserFile reads JSON into v; a file that isn't there is nothing.
func readUserFile(file string, v any) error {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// writeUserFile writes v as JSON, readable by the user alone, whole or not at
// all.
func writeUserFile(file string, v any) error {
	if file == "" {
		return errors.New("there is no directory for the user's settings")
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
