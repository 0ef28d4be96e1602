package linelog

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read returns the whole lines of a file and how many bytes they have.
func read(t *testing.T, path string) (lines []string, good int64) {
	t.Helper()
	for line, err := range Lines(path) {
		do(t, err)
		lines = append(lines, strings.TrimSuffix(string(line), "\n"))
		good += int64(len(line))
	}
	return lines, good
}

// TestTorn cuts the file at every byte of the last write, and puts bytes of another one
// behind that.
func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	const before, last = "one\ntwo\n", "three\n\nfive\n"
	for cut := range len(last) + 1 {
		for _, rest := range []string{"", "\x00\x00", strings.Repeat("x", 5000)} {
			do(t, ownfile.WriteFile(path, []byte(before+last[:cut]+rest), 0o600))
			want := before + last[:strings.LastIndexByte(last[:cut], '\n')+1]
			_, good := read(t, path)
			l, err := Open(path, good)
			do(t, err)
			if text, err := os.ReadFile(path); err != nil || string(text) != want {
				t.Errorf("cut at %d: it has %q, %v", cut, text, err)
			}
			do(t, l.Append([]byte("more\n")))
			do(t, l.AppendSync([]byte("again\n")))
			do(t, l.Close())
			if text, err := os.ReadFile(path); err != nil || string(text) != want+"more\nagain\n" || l.Size() != int64(len(text)) {
				t.Errorf("cut at %d: then it has %q, %v", cut, text, err)
			}
		}
	}
}

// TestErrors: after an error the old lines are there, and the log goes on or says why not. A
// rewrite leaves the old file as it was until its name is the new one's.
func TestErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	do(t, ownfile.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "log")
	l, err := Open(path, 0)
	do(t, err)
	do(t, l.Append([]byte("one\n")))
	do(t, l.Close())
	do(t, ownfile.Link(path, path+".old"))
	if l.Append([]byte("two\n")) == nil || l.torn == nil {
		t.Error("a closed file takes lines")
	}
	l, err = l.Rewrite([]byte("new\n")) // which a torn one may
	do(t, err)
	do(t, l.Append([]byte("two\n")))
	if lines, _ := read(t, path); !slices.Equal(lines, []string{"new", "two"}) {
		t.Errorf("it has %q", lines)
	}
	if lines, _ := read(t, path+".old"); !slices.Equal(lines, []string{"one"}) {
		t.Errorf("the old file was changed: it has %q", lines)
	}
	do(t, l.Close())
	do(t, ownfile.Remove(path))
	do(t, ownfile.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	l, err = l.Rewrite([]byte("lost\n"))
	if err == nil || l.Append([]byte("three\n")) == nil {
		t.Error("a directory was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, NewPrefix+"*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	device, err := ownfile.Device("/dev/full", os.O_RDWR)
	if err != nil {
		needs.Skip(t, needs.Mounts, "there is no full disk here: ", err)
	}
	do(t, device.Close())
	l, err = Open("/dev/full", 0)
	do(t, err)
	defer l.Close()
	for range 2 {
		if err := l.Append([]byte("x\n")); err == nil || !strings.Contains(err.Error(), "no space left") || l.Size() != 0 {
			t.Errorf("a full disk: %v", err)
		}
	}
}

// TestKill kills a process that appends and rewrites, many times over. Its lines are
// numbered, so that one that is missing shows, and a mixture of an old and a new file.
func TestKill(t *testing.T) {
	if path := os.Getenv("LINELOG_TEST_CHILD"); path != "" {
		child(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "log")
	do(t, ownfile.WriteFile(path, nil, 0o600))
	for round := range 8 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "LINELOG_TEST_CHILD="+path)
		out, err := cmd.StdoutPipe()
		do(t, err)
		do(t, cmd.Start())
		acknowledged := 0
		lines := bufio.NewScanner(out)
		for n := 0; n < 100+round*37 && lines.Scan(); n++ {
			_, err := fmt.Sscan(lines.Text(), &acknowledged)
			do(t, err)
		}
		do(t, cmd.Process.Kill())
		for lines.Scan() { // what it had acknowledged before it died
			_, _ = fmt.Sscan(lines.Text(), &acknowledged)
		}
		_ = cmd.Wait()
		if last := last(t, path); last < acknowledged || acknowledged == 0 {
			t.Errorf("%d was acknowledged, and the last one is %d", acknowledged, last)
		}
	}
}

// last returns the last number of a file, which has all from its first.
func last(t *testing.T, path string) (last int) {
	t.Helper()
	lines, _ := read(t, path)
	for k, line := range lines {
		var n int
		_, err := fmt.Sscan(line, &n)
		do(t, err)
		if k > 0 && n != last+1 {
			t.Fatalf("line %d has number %d after %d", k+1, n, last)
		}
		last = n
	}
	return last
}

// child writes until it is killed, and prints what it has written.
func child(t *testing.T, path string) {
	_, good := read(t, path)
	n := last(t, path)
	l, err := Open(path, good)
	do(t, err)
	line := func(n int) []byte { return fmt.Appendf(nil, "%d %s\n", n, strings.Repeat("y", n%300)) }
	for {
		n++
		do(t, l.Append(line(n)))
		fmt.Println(n)
		if n%5 == 0 {
			var all bytes.Buffer
			for k := max(1, n-20); k <= n; k++ {
				all.Write(line(k))
			}
			l, err = l.Rewrite(all.Bytes())
			do(t, err)
		}
	}
}
