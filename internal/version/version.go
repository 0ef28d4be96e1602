// Package version names the build.
package version

import "runtime/debug"

// version is set when a release is built.
var version = ""

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
