package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

//go:embed templates
var templates embed.FS

// nfpm makes packages of Debian's and Red Hat's kinds without their tools. GoReleaser's
// people keep it (MIT).
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0"

// installed is where packages put a file.
type installed struct {
	From, To string
	Mode     os.FileMode
	Only     string // the kind of package that has it; "" is both
	Type     string // in an rpm: doc or license
}

// completions are where shells look for how to complete a command.
var completions = []struct{ shell, to, only string }{
	{"bash", "/usr/share/bash-completion/completions/sidecar-ls", ""},
	{"fish", "/usr/share/fish/vendor_completions.d/sidecar-ls.fish", ""},
	{"zsh", "/usr/share/zsh/vendor-completions/_sidecar-ls", "deb"},
	{"zsh", "/usr/share/zsh/site-functions/_sidecar-ls", "rpm"},
}

// packages makes a .deb and an .rpm for a Linux of t. The program here says how shells
// complete it.
func (b *build) packages(ctx context.Context, t target, notices, here string) error {
	tool, err := b.tool(ctx, nfpm)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "sidecar-release-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	var wrote error
	made := func(name string, content []byte) string {
		from := filepath.Join(work, name)
		wrote = errors.Join(wrote, os.WriteFile(from, content, 0o644))
		return from
	}
	changes, err := compressed("CHANGELOG.md")
	if err != nil {
		return err
	}
	// What Debian and Red Hat ask of packages: lintian and rpmlint say so.
	const doc, licenses, override = "/usr/share/doc/sidecar-ls/", "/usr/share/licenses/sidecar-ls/", "# One program runs on every distribution.\nsidecar-ls: statically-linked-binary [usr/bin/sidecar-ls]\n"
	files := []installed{
		{b.binary(t), "/usr/bin/sidecar-ls", 0o755, "", ""},
		{"LICENSE", doc + "copyright", 0o644, "deb", ""},
		{"README.md", doc + "README.md", 0o644, "deb", ""},
		{made("changelog.gz", changes), doc + "changelog.gz", 0o644, "deb", ""},
		{notices, doc + noticesName, 0o644, "deb", ""},
		{made("overrides", []byte(override)), "/usr/share/lintian/overrides/sidecar-ls", 0o644, "deb", ""},
		{"LICENSE", licenses + "LICENSE", 0o644, "rpm", "license"},
		{notices, licenses + noticesName, 0o644, "rpm", "license"},
		{"README.md", doc + "README.md", 0o644, "rpm", "doc"},
		{"CHANGELOG.md", doc + "CHANGELOG.md", 0o644, "rpm", "doc"},
	}
	for _, c := range completions {
		text, err := output(ctx, here, "completion", c.shell)
		if err != nil {
			return err
		}
		files = append(files, installed{made(c.shell, []byte(text+"\n")), c.to, 0o644, c.only, ""})
	}
	with := map[string]any{"Arch": t.arch, "Version": b.version, "Date": b.date.Format(time.RFC3339), "Files": files}
	log, failed := render("changelog.yaml", with)
	with["Changelog"] = made("changelog.yaml", log)
	config, broken := render("nfpm.yaml", with)
	name := made("nfpm.yaml", config)
	if err := errors.Join(wrote, failed, broken); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		if _, err := output(ctx, tool, "package", "--config", name, "--packager", kind, "--target", b.out+string(filepath.Separator)); err != nil {
			return err
		}
	}
	return nil
}

// compressed returns what the file name has, as gzip makes it; each time the same.
func compressed(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(data)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

// render fills in a template.
func render(name string, with any) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{"upper": strings.ToUpper}).ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Option("missingkey=error").Execute(&out, with)
	return out.Bytes(), err
}

// manifests are what package managers read. The names are as theirs must be.
var manifests = []string{"sidecar-ls.rb", "sidecar-ls.json", "SidecarLS.SidecarLS.yaml", "SidecarLS.SidecarLS.locale.en-US.yaml", "SidecarLS.SidecarLS.installer.yaml", "mason-package.yaml"}

// published is what manifests name of a release.
type published struct {
	Version, Day string
	sums         map[string]string // of an archive, by its target
}

// Dir is the directory in the archive of a target.
func (p published) Dir(t string) string { return archiveDir(p.Version, t) }

// masonAsset is what mason.nvim downloads for one of its targets.
type masonAsset struct{ Target, Name, Archive, Program string }

// Mason are those of all targets.
func (p published) Mason() (all []masonAsset) {
	for _, t := range targets {
		all = append(all, masonAsset{t.mason, t.String(), t.archive(), t.program()})
	}
	return all
}

// URL is where the archive of a target can be had.
func (p published) URL(name string) (string, error) {
	some, err := named([]string{name})
	if err != nil {
		return "", err
	}
	return home + "/releases/download/v" + p.Version + "/" + archiveDir(p.Version, name) + some[0].archive(), nil
}

// Sum is the checksum of it.
func (p published) Sum(t string) (string, error) {
	sum, ok := p.sums[t]
	if !ok {
		return "", errors.New("there is no archive for " + t)
	}
	return sum, nil
}
