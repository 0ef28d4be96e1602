package profile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/sys/osfile"
)

// ownHome is a program's own home, in which it may have put any links: nothing is
// written or read by a path that could lead out of it.
type ownHome struct{ *os.Root }

func openHome(dir string) (ownHome, error) {
	root, err := os.OpenRoot(dir)
	return ownHome{root}, err
}

// The most that is copied, in bytes.
const (
	maxCopied = 64 << 20
	maxKeys   = 1 << 20
)

// place readies the directories above a name, and takes away what is there that is not
// of the kind that it is to be.
func (h ownHome) place(rel string, dir bool) error {
	for i, c := range rel {
		if c == '/' {
			if err := h.only(rel[:i], true); err != nil {
				return err
			}
		}
	}
	if err := h.MkdirAll(filepath.Dir(rel), 0o700); err != nil {
		return err
	}
	return h.only(rel, dir)
}

// only takes away what is neither a directory nor a file, as dir says.
func (h ownHome) only(rel string, dir bool) error {
	info, err := h.Lstat(rel)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (dir && info.IsDir() || !dir && info.Mode().IsRegular()) {
		return nil
	}
	if err != nil {
		return err
	}
	return h.RemoveAll(rel)
}

// show has the program see what the user has at a path, and nothing where they have
// nothing. A link of the user's leads to the same for it.
func (h ownHome) show(rel, path string) (readable []string, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := h.place(rel, true); err != nil {
			return nil, err
		}
		return nil, h.RemoveAll(rel)
	}
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if err := h.place(rel, info.IsDir()); err != nil || real == path {
		return []string{path}, err
	}
	if err := h.RemoveAll(rel); err != nil {
		return nil, err
	}
	return []string{real}, h.Symlink(real, rel)
}

// again copies a file anew, and takes away the copy of one that is not there.
func (h ownHome) again(from, rel string) error {
	if err := h.place(rel, false); err != nil {
		return err
	}
	data, _, err := regular(from, maxCopied)
	if errors.Is(err, fs.ErrNotExist) {
		return h.RemoveAll(rel)
	}
	if err != nil {
		return err
	}
	return h.WriteFile(rel, data, 0o600)
}

// refresh copies a file to where there is no copy, or an older one.
func (h ownHome) refresh(from, rel string) error {
	if err := h.place(rel, false); err != nil {
		return err
	}
	data, info, err := regular(from, maxCopied)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if have, err := h.Lstat(rel); err == nil && !info.ModTime().After(have.ModTime()) {
		return nil
	}
	return h.WriteFile(rel, data, 0o600)
}

// keys has a file with keys be the same for the user and the program, as it was written
// last, as long as nothing but tokens was refreshed in it. One that the user has not is
// the program's own.
func (h ownHome) keys(user, rel string) error {
	if err := h.place(rel, false); err != nil {
		return err
	}
	theirs, info, err := regular(user, maxKeys)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	have, err := h.Lstat(rel)
	if err != nil || !have.ModTime().After(info.ModTime()) {
		return errors.Join(h.WriteFile(rel, theirs, 0o600), h.Chtimes(rel, info.ModTime(), info.ModTime()))
	}
	ours, err := h.ReadFile(rel)
	if err != nil || bytes.Equal(ours, theirs) {
		return err
	}
	if len(ours) > maxKeys || !refreshed(theirs, ours) { // the user's own is the program's again
		return errors.Join(h.WriteFile(rel, theirs, 0o600), h.Chtimes(rel, info.ModTime(), info.ModTime()))
	}
	real, err := filepath.EvalSymlinks(user)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(real), ".sidecar-*.tmp") // made with 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.Write(ours)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return osfile.Rename(context.Background(), f.Name(), real)
}

// regular reads a file of the user's.
func regular(name string, most int64) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, nil, fmt.Errorf("%s is no file of at most %d MiB, of which the program could have a copy", name, most>>20)
	}
	data, err := os.ReadFile(name)
	return data, info, err
}

var (
	notInName  = regexp.MustCompile(`[^a-zA-Z0-9]`)
	geminiSlug = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,199}$`)
)

// maxFolderName is how long such a name is at most before agents shorten it.
const maxFolderName = 200

// inFolders are the paths of a row, for the folders that the program works in.
func inFolders(user string, list, folders []string) (paths []string) {
	for _, path := range list {
		if !strings.ContainsRune(path, '{') {
			paths = append(paths, path)
			continue
		}
		for _, folder := range folders {
			for from, name := range map[string]string{folderName: notInName.ReplaceAllString(folder, "-"), geminiName: geminiFolder(user, folder)} {
				if strings.Contains(path, from) && len(name) <= maxFolderName {
					paths = append(paths, strings.ReplaceAll(path, from, name))
				}
			}
		}
	}
	return paths
}

// geminiFolder is how Gemini CLI calls a folder: as its list of projects does, or else,
// as earlier versions did, by the sum of its path.
func geminiFolder(user, folder string) string {
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	if data, _, err := regular(filepath.Join(user, ".gemini/projects.json"), maxKeys); err == nil {
		_ = json.Unmarshal(data, &known)
	}
	if name := known.Projects[folder]; geminiSlug.MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(folder))
	return hex.EncodeToString(sum[:])
}
