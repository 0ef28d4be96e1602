package object

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

var _ storer.EncodedObjectStorer = (*Store)(nil)

// ErrReadOnly says that objects are only read here: git writes them.
var ErrReadOnly = errors.New("objects are only read here")

// EncodedObject reads an object. It fails with ErrMissing if
// there is none, or one of another type.
func (s *Store) EncodedObject(want plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	kind, data, err := s.Read(hash)
	if errors.Is(err, ErrMissing) && !s.partial() {
		return nil, ErrMissing // go-git compares, and doesn't unwrap
	}
	if err != nil {
		return nil, err
	}
	if want != plumbing.AnyObject && kind != want {
		return nil, ErrMissing
	}
	o := plumbing.MemoryObject{}
	o.SetType(kind)
	_, err = o.Write(data)
	return &o, err
}

// HasEncodedObject fails with ErrMissing if there is no such
// object.
func (s *Store) HasEncodedObject(hash plumbing.Hash) error {
	_, err := s.EncodedObjectSize(hash)
	return err
}

// EncodedObjectSize is the size of an object in bytes.
func (s *Store) EncodedObjectSize(hash plumbing.Hash) (int64, error) {
	_, data, err := s.Read(hash)
	return int64(len(data)), err
}

// IterEncodedObjects goes over all objects of a type, each once, in no order.
func (s *Store) IterEncodedObjects(want plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	all, err := s.hashes()
	if err != nil {
		return nil, err
	}
	if want == plumbing.AnyObject {
		return storer.NewEncodedObjectLookupIter(s, want, all), nil
	}
	var found []plumbing.Hash
	for _, hash := range all {
		kind, _, err := s.Read(hash)
		if err != nil {
			return nil, err
		}
		if kind == want {
			found = append(found, hash)
		}
	}
	return storer.NewEncodedObjectLookupIter(s, want, found), nil
}

// hashes lists the objects of the repository and of its alternates.
func (s *Store) hashes() ([]plumbing.Hash, error) {
	dirs, packs, err := s.known(true)
	if err != nil {
		return nil, err
	}
	seen := map[plumbing.Hash]bool{}
	var list []plumbing.Hash
	add := func(hash plumbing.Hash) {
		if !seen[hash] {
			seen[hash] = true
			list = append(list, hash)
		}
	}
	for first := range 256 {
		for _, p := range packs {
			names, _, err := p.names(byte(first))
			if err != nil {
				return nil, err
			}
			for ; len(names) > 0; names = names[20:] {
				add(plumbing.Hash(names))
			}
		}
		prefix := plumbing.Hash{byte(first)}.String()[:2]
		for _, dir := range dirs {
			entries, err := os.ReadDir(filepath.Join(dir, prefix))
			if err != nil {
				continue // there are none
			}
			for _, e := range entries {
				if hash, ok := ParseHash(prefix + e.Name()); ok {
					add(hash)
				}
			}
		}
	}
	return list, nil
}

// NewEncodedObject returns an object that is only in memory.
func (s *Store) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

// SetEncodedObject fails with ErrReadOnly.
func (s *Store) SetEncodedObject(plumbing.EncodedObject) (plumbing.Hash, error) {
	return plumbing.ZeroHash, ErrReadOnly
}

// AddAlternate fails with ErrReadOnly.
func (s *Store) AddAlternate(string) error { return ErrReadOnly }
