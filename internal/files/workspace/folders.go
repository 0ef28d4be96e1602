package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Dirs are the directories of folders.
func Dirs(folders []Folder) []string {
	dirs := make([]string, len(folders))
	for i, f := range folders {
		dirs[i] = f.Dir
	}
	return dirs
}

// FoldersOf are the folders of a view, by the names with which its paths begin; one alone
// is ".".
func FoldersOf(files Files) []Folder {
	disk, _ := files.Base()
	if disk == nil {
		return []Folder{{Name: "."}}
	}
	folders := disk.Folders()
	if len(folders) == 1 {
		folders[0].Name = "."
	}
	return folders
}

// KeepFirst puts the folder with that directory first, if there is one.
func KeepFirst(folders []Folder, dir string) []Folder {
	if i := slices.IndexFunc(folders, func(f Folder) bool { return f.Dir == dir }); i > 0 {
		first := folders[i]
		return slices.Insert(slices.Delete(folders, i, i+1), 0, first)
	}
	return folders
}

// Usable are the folders that can be opened, each once.
func Usable(folders []Folder) (good []Folder, problems []string) {
	seen := map[string]string{}
	for _, f := range folders {
		real, err := filepath.EvalSymlinks(f.Dir)
		if err == nil {
			var info os.FileInfo
			if info, err = os.Stat(real); err == nil && !info.IsDir() {
				err = errors.New("it is not a directory")
			}
		}
		switch other, twice := seen[real]; {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s is left out: %v", f.Dir, err))
		case twice:
			problems = append(problems, fmt.Sprintf("%s is left out: it is %s", f.Dir, other))
		default:
			seen[real] = f.Dir
			good = append(good, f)
		}
	}
	return good, problems
}
