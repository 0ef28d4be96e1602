package object

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// CommitsWithPrefix finds the commits whose hash begins with digits, at least four.
func (s *Store) CommitsWithPrefix(digits string) ([]plumbing.Hash, error) {
	if len(digits) < 4 || len(digits) > 40 || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, nil
	}
	dirs, packs, err := s.known(true)
	if err != nil {
		return nil, err
	}
	start, err := hex.DecodeString(digits[:2])
	if err != nil {
		return nil, err
	}
	all := map[plumbing.Hash]bool{}
	for _, p := range packs {
		names, _, err := p.names(start[0])
		if err != nil {
			return nil, err
		}
		even, _ := hex.DecodeString(digits[:len(digits)&^1])
		for ; len(names) > 0; names = names[20:] {
			if hash := plumbing.Hash(names); bytes.HasPrefix(names, even) && strings.HasPrefix(hash.String(), digits) {
				all[hash] = true
			}
		}
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(filepath.Join(dir, digits[:2]))
		if err != nil {
			continue // there are none
		}
		for _, e := range entries {
			if hash, ok := ParseHash(digits[:2] + e.Name()); ok && strings.HasPrefix(e.Name(), digits[2:]) {
				all[hash] = true
			}
		}
	}
	var commits []plumbing.Hash
	for hash := range all {
		if at, err := s.Peel(hash); err == nil {
			if _, err := s.Commit(at); err == nil {
				commits = append(commits, at)
			}
		}
	}
	return commits, nil
}
