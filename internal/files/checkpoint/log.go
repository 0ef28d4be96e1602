// Package checkpoint keeps what files were before an agent changed them, so that they
// can be made what they were at any moment of its run.
package checkpoint

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/linelog"
)

// Log is the file of an agent's changes. A text is in it once, however many changes led
// to it or away from it.
type Log struct {
	path string

	mu    sync.Mutex
	file  *linelog.Log
	texts map[string]bool // by hash
}

// What a log keeps at most, in bytes: of a text, and in all. A change that is longer is
// noted without its texts.
const (
	maxText = 4 << 20
	maxLog  = 256 << 20
)

// Open returns the log at a path, which need not be there yet.
func Open(path string) *Log { return &Log{path: path} }

// line is one of the file: a text, or changes.
type line struct {
	Text string `json:"text,omitempty"` // its hash
	Gzip []byte `json:"gzip,omitempty"`

	At      int64    `json:"at,omitempty"`
	Changes []change `json:"changes,omitempty"`
}

type change struct {
	Path       string `json:"path"`
	From       string `json:"from,omitempty"`
	Before     string `json:"before,omitempty"` // the hash; "" is no file
	After      string `json:"after,omitempty"`
	BeforeLink bool   `json:"beforeLink,omitempty"`
	AfterLink  bool   `json:"afterLink,omitempty"`
	Exec       bool   `json:"exec,omitempty"`   // what was there before could be executed
	Mode       bool   `json:"mode,omitempty"`   // and that was changed
	Unkept     bool   `json:"unkept,omitempty"` // it is too long
}

// Add notes changes that are about to be made to files, after an event of the run. They
// may turn out not to be made: to take such a change back does nothing. They are kept
// when the process ends, but perhaps not when the machine does.
func (l *Log) Add(at int64, files workspace.Files, changes []workspace.Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		if err := l.open(); err != nil {
			return fmt.Errorf("what the files were can't be kept: %w", err)
		}
	}
	var lines bytes.Buffer
	noted, fresh := line{At: at}, map[string]bool{}
	for _, ch := range changes {
		c := change{Path: ch.Path, From: ch.From, BeforeLink: ch.BeforeLink, AfterLink: ch.AfterLink, Mode: ch.Mode != 0 && ch.Before != nil}
		if old := ch.Path; ch.Before != nil && !ch.BeforeLink {
			if ch.From != "" {
				old = ch.From
			}
			n, err := workspace.NodeOf(files, old)
			c.Exec = err == nil && n.Exec
		}
		c.Unkept = len(ch.Before) > maxText || len(ch.After) > maxText || l.file.Size()+int64(lines.Len()) > maxLog
		if !c.Unkept {
			c.Before, c.After = l.text(&lines, fresh, ch.Before), l.text(&lines, fresh, ch.After)
		}
		noted.Changes = append(noted.Changes, c)
	}
	if err := json.NewEncoder(&lines).Encode(noted); err != nil {
		return err
	}
	if err := l.file.Append(lines.Bytes()); err != nil {
		_ = l.file.Close()
		l.file = nil // the next one reads what is there, and cuts off what is not whole
		return fmt.Errorf("what the files were can't be kept: %w", err)
	}
	for hash := range fresh {
		l.texts[hash] = true
	}
	return nil
}

// text adds a text to lines, if the log does not have it, and returns its hash.
func (l *Log) text(lines *bytes.Buffer, fresh map[string]bool, text []byte) string {
	if text == nil {
		return ""
	}
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:])
	if l.texts[hash] || fresh[hash] {
		return hash
	}
	fresh[hash] = true
	var short bytes.Buffer
	z := gzip.NewWriter(&short)
	_, _ = z.Write(text) // a buffer takes everything
	_ = z.Close()
	_ = json.NewEncoder(lines).Encode(line{Text: hash, Gzip: short.Bytes()})
	return hash
}

// open opens the file for writing after its last whole line.
func (l *Log) open() error {
	l.texts = map[string]bool{}
	good, err := l.read(func(one line) error {
		if one.Text != "" {
			l.texts[one.Text] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.file, err = linelog.Open(l.path, good)
	return err
}

// read calls f for every line, and returns how many bytes the whole lines have.
func (l *Log) read(f func(line) error) (good int64, err error) {
	n := 0
	for data, err := range linelog.Lines(l.path) {
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return good, err
		}
		n++
		var one line
		if err := json.Unmarshal(data, &one); err != nil {
			return good, fmt.Errorf("%s is damaged in line %d: %w; delete it to go on without what it has", l.path, n, err)
		}
		if err := f(one); err != nil {
			return good, err
		}
		good += int64(len(data))
	}
	return good, nil
}

// Change is a change that was made.
type Change struct {
	workspace.Change        // Mode is what the file had before, 0 where it was not changed
	Unkept           string // it is too long for the log, and has no texts: the name of its file
}

// After returns the changes that were made after an event of the run, oldest first.
func (l *Log) After(at int64) ([]Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wanted := map[string][]byte{}
	var list []change
	if _, err := l.read(func(one line) error {
		if one.At > at {
			for _, c := range one.Changes {
				list = append(list, c)
				wanted[c.Before], wanted[c.After] = nil, nil
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	delete(wanted, "")
	if _, err := l.read(func(one line) error {
		if _, ok := wanted[one.Text]; !ok {
			return nil
		}
		z, err := gzip.NewReader(bytes.NewReader(one.Gzip))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(io.LimitReader(z, maxText+1))
		wanted[one.Text] = append([]byte{}, text...)
		return err
	}); err != nil {
		return nil, err
	}
	changes := make([]Change, len(list))
	for i, c := range list {
		ch := workspace.Change{Path: c.Path, From: c.From, BeforeLink: c.BeforeLink, AfterLink: c.AfterLink, Before: wanted[c.Before], After: wanted[c.After]}
		if ch.Before != nil && !ch.BeforeLink && (ch.After == nil || ch.AfterLink || c.Mode) {
			if ch.Mode = 0o644; c.Exec {
				ch.Mode = 0o755
			}
		}
		changes[i].Change = ch
		if c.Unkept {
			changes[i].Unkept = c.Path
		}
	}
	return changes, nil
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Noted is a view whose changes are told to Making before they are made.
type Noted struct {
	workspace.View
	Making func(workspace.Files, []workspace.Change) error
}

// Apply implements workspace.View.
func (n Noted) Apply(ctx context.Context, changes ...workspace.Change) error {
	if err := n.Making(n.View, changes); err != nil {
		return err
	}
	return n.View.Apply(ctx, changes...)
}

// Node implements what workspace.NodeOf asks for.
func (n Noted) Node(name string) (workspace.Node, error) { return workspace.NodeOf(n.View, name) }
