package spec

import (
	"slices"
	"testing"
)

// TestEnviron: what starts programs is kept, by the system's own names, and secrets
// are not.
func TestEnviron(t *testing.T) {
	from := []string{"Path=p", "PATH=q", "SystemRoot=r", "ComSpec=c", "UserProfile=u", "HOME=h", "LC_ALL=l", "TOKEN=t", "GIT_EDITOR=mine", "DEBIAN_FRONTEND=dialog", "ProgramFiles(x86)=x", "=C:=C:\\", "PSModulePath=m"}
	for system, want := range map[string][]string{
		"linux":   {"PATH=q", "LC_ALL=l"},
		"windows": {"PATH=p", "PATH=q", "SYSTEMROOT=r", "COMSPEC=c", "USERPROFILE=u", "HOME=h", "LC_ALL=l", "PROGRAMFILES(X86)=x"},
	} {
		want = append(append(want, "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat"), Unattended()...)
		if got := environOn(system, from); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
}
