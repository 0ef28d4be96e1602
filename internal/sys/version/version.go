// Package version names the build.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// These are set when a release is built.
var (
	version = ""
	commit  = "" // all of its name
	date    = "" // of the commit, such as 2026-11-27
)

// String names the build: the release, else the commit that Go recorded.
func String() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Long also says what a release was built from and for.
func Long() string {
	about := []string{runtime.GOOS + "/" + runtime.GOARCH}
	if commit != "" {
		about = append([]string{"commit " + commit[:min(len(commit), 12)], date}, about...)
	}
	return fmt.Sprintf("%s (%s)", String(), strings.Join(about, ", "))
}
