package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	noticesName = "THIRD-PARTY-NOTICES.txt"
	sumsName    = "SHA256SUMS"
)

// release makes all that a version is published as, from the binaries of some targets.
func (b *build) release(ctx context.Context, some []target) error {
	if b.version == "" || strings.HasPrefix(b.version, "0.0.0-") {
		return errors.New("a release has a version: make release VERSION=1.2.0")
	}
	if err := b.clear(); err != nil {
		return err
	}
	notes, err := releaseNotes("CHANGELOG.md", b.version)
	if err != nil {
		return err
	}
	if err := b.write("RELEASE-NOTES.md", notes); err != nil {
		return err
	}
	all, err := b.components(ctx, some)
	if err != nil {
		return err
	}
	told := notices(all)
	if err := b.write(noticesName, told); err != nil {
		return err
	}
	script, err := templates.ReadFile("templates/install.sh")
	if err != nil {
		return err
	}
	if err := b.write("install.sh", script); err != nil {
		return err
	}
	bill, err := b.sbom(all)
	if err != nil {
		return err
	}
	if err := b.write("sidecar-ls-"+b.version+".spdx.json", bill); err != nil {
		return err
	}
	here, err := b.here(ctx)
	if err != nil {
		return err
	}
	p := published{Version: b.version, Day: b.date.Format(time.DateOnly), sums: map[string]string{}}
	for _, t := range some {
		files, err := b.files(t, told)
		if err != nil {
			return err
		}
		dir := archiveDir(b.version, t.String())
		data, err := pack(t, dir, b.date, files)
		if err != nil {
			return err
		}
		if err := b.write(dir+t.archive(), data); err != nil {
			return err
		}
		p.sums[t.String()] = sum(data)
		if t.os == "linux" {
			if err := b.packages(ctx, t, filepath.Join(b.out, noticesName), here); err != nil {
				return err
			}
		}
	}
	if err := b.npm(some, told); err != nil {
		return err
	}
	if err := b.extensions(ctx, some, here); err != nil {
		return err
	}
	if len(some) == len(targets) {
		for _, name := range manifests {
			text, err := render(name, p)
			if err != nil {
				return err
			}
			if err := b.write(name, text); err != nil {
				return err
			}
		}
	}
	return b.sums()
}

// clear removes what another release has left: its files are not of this one.
func (b *build) clear() error {
	entries, err := os.ReadDir(b.out)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			if err := os.Remove(filepath.Join(b.out, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// files are those of an archive.
func (b *build) files(t target, notices []byte) ([]file, error) {
	files := []file{{t.program(), 0o755, nil}, {"LICENSE", 0o644, nil}, {"README.md", 0o644, nil}, {"CHANGELOG.md", 0o644, nil}, {noticesName, 0o644, notices}}
	for i, f := range files {
		from := f.name
		switch {
		case f.data != nil:
			continue
		case i == 0:
			from = b.binary(t)
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		files[i].data = data
	}
	return files, nil
}

func (b *build) write(name string, data []byte) error {
	fmt.Printf("%-60s %9d\n", name, len(data))
	return os.WriteFile(filepath.Join(b.out, name), data, 0o644)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// sums writes the checksums of all files of the release, as sha256sum reads them.
func (b *build) sums() error {
	entries, err := os.ReadDir(b.out)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == sumsName {
			continue
		}
		data, err := os.ReadFile(filepath.Join(b.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%s  %s\n", sum(data), e.Name())
	}
	return b.write(sumsName, []byte(list.String()))
}

// releaseNotes are what the changelog says of a version: its section, or that of what
// is not released yet.
func releaseNotes(changelog, version string) ([]byte, error) {
	text, err := os.ReadFile(changelog)
	if err != nil {
		return nil, err
	}
	for _, title := range []string{"## " + version, "## Unreleased"} {
		for section := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n## ")) {
			head, body, _ := bytes.Cut(section, []byte("\n"))
			if name, _, _ := strings.Cut("## "+string(head), " ("); name == title || strings.HasPrefix(name, title+" ") {
				return append(bytes.TrimSpace(body), '\n'), nil
			}
		}
	}
	return nil, fmt.Errorf("%s says nothing of version %s, nor of what is unreleased", changelog, version)
}
