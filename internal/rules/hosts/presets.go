package hosts

import (
	"maps"
	"slices"
)

// presets are the public hosts of ecosystems, by the names that the setting may have in
// their place.
var presets = map[string][]string{
	"cargo":  {"crates.io", "static.crates.io", "index.crates.io"},
	"debian": {"deb.debian.org", "security.debian.org"},
	"github": {"github.com", "api.github.com", "codeload.github.com", "raw.githubusercontent.com", "objects.githubusercontent.com", "release-assets.githubusercontent.com"},
	"go":     {"proxy.golang.org", "sum.golang.org"},
	"maven":  {"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"},
	"npm":    {"registry.npmjs.org", "registry.yarnpkg.com"},
	"pypi":   {"pypi.org", "files.pythonhosted.org"},
	"ruby":   {"rubygems.org", "index.rubygems.org"},
	"ubuntu": {"archive.ubuntu.com", "security.ubuntu.com"},
}

// Presets are the names of the presets.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// Preset returns the hosts of a preset; nil: there is none of that name.
func Preset(name string) (list []Host) {
	for _, host := range presets[name] {
		list = append(list, Host{Name: host})
	}
	return list
}

// housekeeping are hosts that browsers ask of their own accord: for updates, lists and
// guesses. They are refused without a question, or each session with a browser would begin
// with one.
var housekeeping = []Host{
	{Name: "accounts.google.com"}, {Name: "android.clients.google.com"}, {Name: "*.clients.google.com"}, {Name: "clients1.google.com"},
	{Name: "clients2.google.com"}, {Name: "clients3.google.com"}, {Name: "clients4.google.com"}, {Name: "clientservices.googleapis.com"},
	{Name: "content-autofill.googleapis.com"}, {Name: "edgedl.me.gvt1.com"}, {Name: "mtalk.google.com", Port: 5228},
	{Name: "optimizationguide-pa.googleapis.com"}, {Name: "passwordsleakcheck-pa.googleapis.com"}, {Name: "redirector.gvt1.com"},
	{Name: "safebrowsing.googleapis.com"}, {Name: "safebrowsingohttpgateway.googleapis.com"}, {Name: "update.googleapis.com"},
	{Name: "*.services.mozilla.com"}, {Name: "detectportal.firefox.com"}, {Name: "incoming.telemetry.mozilla.org"},
	{Name: "aus5.mozilla.org"}, {Name: "firefox-settings-attachments.cdn.mozilla.net"}, {Name: "content-signature-2.cdn.mozilla.net"},
}

// browsers are the names of the programs that do so.
var browsers = []string{"chrome", "chromium", "chromium-browse", "headless_shell", "firefox", "firefox-esr", "Socket Thread", "msedge"}

// Housekeeping reports whether a program asks a host of its own accord, as browsers do.
func Housekeeping(program, name string, port int) bool {
	return slices.Contains(browsers, program) && Find(housekeeping, name, port) != nil
}
