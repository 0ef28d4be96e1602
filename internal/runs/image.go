package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // pictures that are taken
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"os"
	"path/filepath"
	"regexp"
	"sync"
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
	maxSide   = 16 << 10 // of a picture, in pixels: a small file can be a large one
	maxPixels = 64 << 20
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

// imageKinds are the pictures that are taken, by their names in package image.
var imageKinds = map[string]struct{ mime, suffix string }{
	"png": {"image/png", ".png"}, "jpeg": {"image/jpeg", ".jpg"}, "gif": {"image/gif", ".gif"}, "webp": {"image/webp", ".webp"},
}

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
	kind, width, height, err := measure(data)
	if err != nil {
		return Image{}, err
	}
	sum := sha256.Sum256(data)
	i := Image{hex.EncodeToString(sum[:16]) + imageKinds[kind].suffix, imageKinds[kind].mime, len(data), width, height, alt[:min(len(alt), maxAlt)]}
	return i, r.write(i.ID, data)
}

// measure looks at the head of a picture.
func measure(data []byte) (kind string, width, height int, err error) {
	if width, height, ok := webp(data); ok {
		kind = "webp"
		return kind, width, height, sized(width, height)
	}
	c, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if _, ok := imageKinds[kind]; err != nil || !ok {
		return "", 0, 0, ErrImageKind
	}
	return kind, c.Width, c.Height, sized(c.Width, c.Height)
}

func sized(width, height int) error {
	if width < 1 || height < 1 || width > maxSide || height > maxSide || width*height > maxPixels {
		return ErrImageSize
	}
	return nil
}

// webp reads the size of a WebP picture, which package image doesn't know, from the
// head of each of its three forms.
func webp(data []byte) (width, height int, ok bool) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0, false
	}
	b := func(at int) int { return int(data[at]) }
	switch string(data[12:16]) {
	case "VP8 ":
		return (b(26) | b(27)<<8) & 0x3fff, (b(28) | b(29)<<8) & 0x3fff, true
	case "VP8L":
		bits := b(21) | b(22)<<8 | b(23)<<16 | b(24)<<24
		return bits&0x3fff + 1, bits>>14&0x3fff + 1, true
	case "VP8X":
		return (b(24) | b(25)<<8 | b(26)<<16) + 1, (b(27) | b(28)<<8 | b(29)<<16) + 1, true
	}
	return 0, 0, false
}

// write puts a picture into the run's directory, unless it is there.
func (r *Run) write(id string, data []byte) error {
	dir := r.store.images(r.id)
	r.images.mu.Lock()
	defer r.images.mu.Unlock()
	if !r.images.known {
		if err := r.images.count(dir); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, id)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if r.images.bytes+len(data) > maxImages {
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
	r.images.bytes += len(data)
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
	for _, kind := range imageKinds {
		if filepath.Ext(id) == kind.suffix {
			mime = kind.mime
		}
	}
	return path, mime, data, err
}
