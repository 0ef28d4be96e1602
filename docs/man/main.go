// Command man writes the documents as man pages into a directory: sidecar-ls(1) from the
// README, and sidecar-ls-TOPIC(7) from each page.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/docs"
	"github.com/sidecar-ls/sidecar-ls/internal/text/manual"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man README DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func write(readme, dir string) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	pages := map[string]string{"man1/sidecar-ls.1": manual.Man(string(text), "sidecar-ls", "review what coding agents change, hunk by hunk", 1)}
	for _, p := range docs.Pages() {
		name := "sidecar-ls-" + p.Name
		pages["man7/"+name+".7"] = manual.Man(p.Text, name, p.Title, 7)
	}
	for name, text := range pages {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
