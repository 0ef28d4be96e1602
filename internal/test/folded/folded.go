// Package folded finds directories in which two spellings of a name that differ in
// letter case lead to one file, for tests of what follows from that.
package folded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// Dir returns an empty directory of that kind: one of this system, below the directory
// that SIDECAR_FOLDED names, or, on Linux, on a small exFAT volume, which root can
// mount where exfat-fuse and exfatprogs are installed. Else it skips the test.
func Dir(t testing.TB) string {
	t.Helper()
	if dir := t.TempDir(); Is(t, dir) {
		return dir
	}
	if below := os.Getenv("SIDECAR_FOLDED"); below != "" {
		dir, err := os.MkdirTemp(below, "test")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if !Is(t, dir) {
			t.Fatalf("SIDECAR_FOLDED names %s, where names that differ in letter case are two files", below)
		}
		return dir
	}
	return mounted(t)
}

// Is reports whether names that differ in letter case lead to one file in a directory.
func Is(t testing.TB, dir string) bool {
	t.Helper()
	name := filepath.Join(dir, "folded")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(name) }()
	_, err := os.Lstat(filepath.Join(dir, "FOLDED"))
	return err == nil
}

func mounted(t testing.TB) string {
	t.Helper()
	const why = "there is no directory here in which letter case makes no difference: "
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		needs.Skip(t, needs.FoldedNames, why+"name one by SIDECAR_FOLDED")
	}
	image, dir := filepath.Join(t.TempDir(), "volume"), t.TempDir()
	err := os.WriteFile(image, nil, 0o600)
	if err == nil {
		err = os.Truncate(image, 16<<20)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := func(line ...string) string {
		out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput()
		if err != nil {
			needs.Skip(t, needs.FoldedNames, fmt.Sprintf("%s%s: %v %s", why, line[0], err, out))
		}
		return strings.TrimSpace(string(out))
	}
	run("mkfs.exfat", image)
	device := run("losetup", "--find", "--show", image)
	cleans(t, dir, device)
	// The kernel must not remember: it takes two spellings for two files.
	run("mount.exfat-fuse", "-o", "entry_timeout=0,attr_timeout=0,negative_timeout=0,direct_io", device, dir)
	if !Is(t, dir) {
		needs.Skip(t, needs.FoldedNames, why+"nothing was mounted")
	}
	return dir
}

// cleans takes a volume away at the end of the test, or when this process ends in the
// midst of it, however that is: its time may be up.
func cleans(t testing.TB, dir, device string) {
	t.Helper()
	// What read it a moment ago may have it open.
	const script = `cat >/dev/null
		for n in $(seq 50); do mountpoint -q "$1" || break; umount "$1" || sleep 0.1; done
		losetup --detach "$2"; ! mountpoint -q "$1"`
	cmd := exec.CommandContext(context.Background(), "sh", "-c", script, "sh", dir, device)
	cmd.SysProcAttr = apart()
	until, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = exec.CommandContext(t.Context(), "losetup", "--detach", device).Run()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(until.Close(), cmd.Wait()); err != nil {
			t.Errorf("%s is still mounted: %v", dir, err)
		}
	})
}
