package conversation

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/internal/text/picture"
)

// Image is a picture that an agent has shown. Its data is in a file of the run's.
type Image struct {
	ID     string `json:"image"`
	Mime   string `json:"mime"` // by its first bytes, whatever the agent calls it
	Bytes  int    `json:"bytes"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Alt    string `json:"alt,omitempty"`
}

// Bounds of pictures.
const (
	maxImage  = 5 << 20
	maxImages = 64 << 20 // bytes of all of a run
	maxAlt    = 200
)

// Errors about pictures.
var (
	ErrImageKind = errors.New("it is no PNG, JPEG, GIF or WebP image")
	ErrImageSize = errors.New("it is too large: at most 5 MB, and 16384 pixels a side")
	ErrImages    = errors.New("the run has as many images as it may: 64 MB")
	ErrNoImage   = errors.New("the run has no such image; its events name those that it has")
)

// suffixes are those of the files of pictures.
var suffixes = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}

var imageID = regexp.MustCompile(`^[0-9a-f]{32}\.(png|jpg|gif|webp)$`)

// images counts what a run keeps.
type images struct {
	mu    sync.Mutex
	known bool
	bytes int
}

const suffixImages = ".images"

func (s *Store) images(run string) string { return filepath.Join(s.opts.Dir, run+suffixImages) }

// Keep takes in a picture in base64.
func (r *Run) Keep(text, alt string) (Image, error) {
	if len(text) > base64.StdEncoding.EncodedLen(maxImage) {
		return Image{}, ErrImageSize
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return Image{}, fmt.Errorf("it is not in base64: %w", err)
	}
	mime, width, height, err := picture.Measure(data)
	switch {
	case errors.Is(err, picture.ErrSize):
		return Image{}, ErrImageSize
	case err != nil:
		return Image{}, ErrImageKind
	}
	sum := sha256.Sum256(data)
	i := Image{hex.EncodeToString(sum[:16]) + suffixes[mime], mime, len(data), width, height, alt[:min(len(alt), maxAlt)]}
	return i, r.images.put(r.store.images(r.id), i.ID, data)
}

// put writes a picture into the directory of the run, unless it is there.
func (i *images) put(dir, id string, data []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.known {
		if err := i.count(dir); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, id)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if i.bytes+len(data) > maxImages {
		return ErrImages
	}
	temp, err := os.CreateTemp(dir, ".image-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	i.bytes += len(data)
	return nil
}

// count adds up what is there. i.mu is held.
func (i *images) count(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	i.bytes = 0
	for _, e := range all {
		if info, err := e.Info(); err == nil {
			i.bytes += int(info.Size())
		}
	}
	i.known = true
	return nil
}

// Picture returns the file of a picture, its kind and its data.
func (r *Run) Picture(id string) (path, mime string, data []byte, err error) {
	if !imageID.MatchString(id) {
		return "", "", nil, fmt.Errorf("%w: %.100q", ErrNoImage, id)
	}
	path = filepath.Join(r.store.images(r.id), id)
	data, err = os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", "", nil, fmt.Errorf("%w: %q", ErrNoImage, id)
	}
	for kind, suffix := range suffixes {
		if filepath.Ext(id) == suffix {
			mime = kind
		}
	}
	return path, mime, data, err
}
