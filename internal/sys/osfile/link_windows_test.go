package osfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/wine"
)

// TestMountPoint compares what is handed to Windows with REPARSE_DATA_BUFFER as it is
// documented: ReparseTag (4 bytes), ReparseDataLength and Reserved (2 each), then
// SubstituteNameOffset, SubstituteNameLength, PrintNameOffset, PrintNameLength (2 each)
// and PathBuffer, with a zero behind each name that the lengths do not count.
func TestMountPoint(t *testing.T) {
	want := []byte{
		0x03, 0x00, 0x00, 0xa0, // IO_REPARSE_TAG_MOUNT_POINT
		0x24, 0x00, 0x00, 0x00, // 8 for the offsets and lengths, 28 for the names
		0x00, 0x00, 0x10, 0x00, // \??\C:\ü
		0x12, 0x00, 0x08, 0x00, // C:\ü
		'\\', 0, '?', 0, '?', 0, '\\', 0, 'C', 0, ':', 0, '\\', 0, 0xfc, 0, 0, 0,
		'C', 0, ':', 0, '\\', 0, 0xfc, 0, 0, 0,
	}
	if got := mountPoint(`C:\ü`); !bytes.Equal(got, want) {
		t.Errorf("got  % x\nwant % x", got, want)
	}
	// A sign outside of the first plane takes two units.
	long := mountPoint(`C:\` + strings.Repeat("😀", 100))
	if n, sub, shown := int(long[4])|int(long[5])<<8, int(long[10])|int(long[11])<<8, int(long[14])|int(long[15])<<8; n != len(long)-8 || sub != 2*(7+200) || shown != 2*(3+200) || n != 8+sub+2+shown+2 {
		t.Errorf("lengths %d, %d, %d of %d bytes", n, sub, shown, len(long))
	}
}

// TestLinkDir reads and writes through a link, and removes it without what it leads to.
// Where none can be made, nothing is left behind.
func TestLinkDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "Jörg Müller")
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "a link")
	if err := ownfile.MkdirAll(target, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(target, "file"), "text")
	err := LinkDir(target, link)
	if err != nil {
		if !wine.Running() {
			t.Fatal(err)
		}
		if _, err := os.Lstat(link); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something is there: %v", err)
		}
		if got := text(t, filepath.Join(target, "file")); got != "text" {
			t.Errorf("the file has %q", got)
		}
		needs.Skip(t, needs.Wine, "Wine makes no junctions: ", err)
	}
	if info, err := os.Lstat(link); err != nil || info.IsDir() {
		t.Errorf("it is %v, %v", info, err)
	}
	if got := text(t, filepath.Join(link, "file")); got != "text" {
		t.Errorf("by the link, the file has %q", got)
	}
	write(t, filepath.Join(link, "new"), "new")
	if err := RemoveAll(dir + string(filepath.Separator) + "a link"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"file": "text", "new": "new"} {
		if got := text(t, filepath.Join(target, name)); got != want {
			t.Errorf("%s has %q", name, got)
		}
	}
	if err := LinkDir(target, filepath.Join(target, "file")); err == nil {
		t.Error("a link was made over a file")
	}
}
