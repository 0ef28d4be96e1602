package object

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sidecar-ls/sidecar-ls/internal/git/gitrepo/gitfile"
)

// Commit is what is read of a commit object.
type Commit struct {
	Hash    plumbing.Hash
	Tree    plumbing.Hash
	Parents []plumbing.Hash
	Date    int64  // of the committer, in seconds since 1970
	Raw     []byte // the object
}

// Commit reads a commit.
func (s *Store) Commit(hash plumbing.Hash) (*Commit, error) {
	data, err := s.ReadType(plumbing.CommitObject, hash)
	if err != nil {
		return nil, err
	}
	c, ok := parseCommit(data)
	if !ok {
		return nil, fmt.Errorf("object %s: %w: malformed commit", hash, gitfile.ErrCorrupt)
	}
	c.Hash = hash
	if cut, err := s.shallow(); err == nil && cut[hash] {
		c.Parents = nil
	}
	return c, nil
}

func parseCommit(data []byte) (*Commit, bool) {
	c := &Commit{Raw: data}
	rest, ok := cutHash(data, "tree ", &c.Tree)
	if !ok {
		return nil, false
	}
	for {
		var parent plumbing.Hash
		after, ok := cutHash(rest, "parent ", &parent)
		if !ok {
			break
		}
		c.Parents, rest = append(c.Parents, parent), after
	}
	if line, ok := header(data, "committer "); ok {
		c.Date = personOf(line).When.Unix()
	}
	return c, true
}

// cutHash reads a line of a word and the name of an object.
func cutHash(b []byte, word string, to *plumbing.Hash) (rest []byte, ok bool) {
	n := len(word) + 40
	if len(b) <= n || string(b[:len(word)]) != word || b[n] != '\n' {
		return b, false
	}
	*to, ok = ParseHash(string(b[len(word):n]))
	return b[n+1:], ok
}

// header returns the value of a header of a commit or tag.
func header(b []byte, word string) ([]byte, bool) {
	for len(b) > 0 && b[0] != '\n' {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		if value, ok := bytes.CutPrefix(line, []byte(word)); ok {
			return value, true
		}
		b = rest
	}
	return nil, false
}

// personOf reads "name <mail> seconds zone". What is missing is left out.
func personOf(line []byte) gitobject.Signature {
	var p gitobject.Signature
	open, end := bytes.IndexByte(line, '<'), bytes.LastIndexByte(line, '>')
	if open < 0 || end < open {
		p.Name = string(line)
		return p
	}
	p.Name, p.Email = strings.TrimSpace(string(line[:open])), string(line[open+1:end])
	seconds, zone, _ := strings.Cut(strings.TrimSpace(string(line[end+1:])), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return p
	}
	offset := 0
	if z, err := strconv.Atoi(zone); err == nil && len(zone) == 5 {
		offset = (z/100*60 + z%100) * 60
	}
	p.When = time.Unix(n, 0).In(time.FixedZone("", offset))
	return p
}

// Author returns who wrote the commit.
func (c *Commit) Author() gitobject.Signature {
	line, _ := header(c.Raw, "author ")
	p := personOf(line)
	p.Name, p.Email = c.text(p.Name), c.text(p.Email)
	return p
}

// Subject is the first paragraph of the message as one line, as git shows it.
func (c *Commit) Subject() string {
	_, message, _ := bytes.Cut(c.Raw, []byte("\n\n"))
	var lines []string
	for line := range bytes.Lines(message) {
		line = bytes.TrimRight(line, " \t\r\n\v\f")
		if len(line) > 0 {
			lines = append(lines, string(line))
		} else if len(lines) > 0 {
			break
		}
	}
	return c.text(strings.Join(lines, " "))
}

// Message is all that the commit says.
func (c *Commit) Message() string {
	_, message, _ := bytes.Cut(c.Raw, []byte("\n\n"))
	return c.text(string(message))
}

// text is s as UTF-8: commits name the encoding of their texts when it is
// another one, which is hardly ever anything but Latin 1.
func (c *Commit) text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// maxTags bounds how tags are of tags.
const maxTags = 5

// Peel follows tags to what they are of.
func (s *Store) Peel(hash plumbing.Hash) (plumbing.Hash, error) {
	for range maxTags {
		kind, data, err := s.Read(hash)
		if err != nil || kind != plumbing.TagObject {
			return hash, err
		}
		if _, ok := cutHash(data, "object ", &hash); !ok {
			return hash, fmt.Errorf("object %s: %w: malformed tag", hash, gitfile.ErrCorrupt)
		}
	}
	return hash, fmt.Errorf("object %s: %w: tags of tags without end", hash, gitfile.ErrCorrupt)
}

// maxShallow bounds the list of them, in bytes.
const maxShallow = 4 << 20

// shallow are the commits whose parents were not fetched.
func (s *Store) shallow() (map[plumbing.Hash]bool, error) {
	text, err := gitfile.ReadSmall(s.commonDir+"/shallow", maxShallow)
	if err != nil {
		return nil, err
	}
	cut := map[plumbing.Hash]bool{}
	for line := range strings.Lines(string(text)) {
		if hash, ok := ParseHash(strings.TrimSpace(line)); ok {
			cut[hash] = true
		}
	}
	return cut, nil
}
