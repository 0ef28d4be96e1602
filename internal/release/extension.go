package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const extensionDir = "editors/vscode"

// extensions packs the extension for VS Code: once for each target with its server, and
// once without one, which the Marketplace gives to all other systems. The program here
// tells the scripts of the extension what settings and tools there are.
func (b *build) extensions(ctx context.Context, some []target, here string) error {
	dir, err := filepath.Abs(extensionDir)
	if err != nil {
		return err
	}
	version, _, preview := strings.Cut(b.version, "-") // the Marketplace takes three numbers
	pack := func(name string, build, vsce []string) error {
		args := append([]string{"--describe", here, "--version", version}, build...)
		if _, err := outputIn(ctx, dir, nil, "node", append([]string{"scripts/build.mjs"}, args...)...); err != nil {
			return err
		}
		out := filepath.Join(b.out, name)
		args = append([]string{"package", "--no-dependencies", "--baseContentUrl", home + "/blob/HEAD/" + extensionDir, "--baseImagesUrl", home + "/raw/HEAD/" + extensionDir, "-o", out}, vsce...)
		if preview {
			args = append(args, "--pre-release")
		}
		_, err := outputIn(ctx, filepath.Join(dir, "build"), []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", b.date.Unix())}, "../node_modules/.bin/vsce", args...)
		if err != nil {
			return err
		}
		info, err := os.Stat(out)
		if err == nil {
			fmt.Printf("%-60s %9d\n", name, info.Size())
		}
		return err
	}
	for _, t := range some {
		for _, platform := range t.vscode {
			if err := pack(fmt.Sprintf("sidecar-%s-%s.vsix", b.version, platform), []string{"--server", b.binary(t)}, []string{"--target", platform}); err != nil {
				return err
			}
		}
	}
	return pack(fmt.Sprintf("sidecar-%s.vsix", b.version), nil, nil)
}
