// Package picture measures pictures by their heads: PNG, JPEG, GIF and WebP.
// Nothing of one is decoded but that.
package picture

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
)

// Bounds of a picture, in pixels: a small file can be a large one.
const (
	MaxSide   = 16 << 10
	maxPixels = 64 << 20
)

// Errors about pictures.
var (
	ErrKind = errors.New("it is no PNG, JPEG, GIF or WebP image")
	ErrSize = errors.New("it has too many pixels: at most 16384 a side, and 64 million")
)

// Measure returns the kind and the size of a picture.
func Measure(data []byte) (mime string, width, height int, err error) {
	if width, height, ok := webp(data); ok {
		return "image/webp", width, height, sized(width, height)
	}
	for _, kind := range []struct {
		magic, mime string
		head        func(data []byte) (image.Config, error)
	}{
		{"\x89PNG\r\n\x1a\n", "image/png", func(data []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(data)) }},
		{"\xff\xd8", "image/jpeg", func(data []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(data)) }},
		{"GIF8", "image/gif", func(data []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(data)) }},
	} {
		if !bytes.HasPrefix(data, []byte(kind.magic)) {
			continue
		}
		c, err := kind.head(data)
		if err != nil {
			return "", 0, 0, ErrKind
		}
		return kind.mime, c.Width, c.Height, sized(c.Width, c.Height)
	}
	return "", 0, 0, ErrKind
}

func sized(width, height int) error {
	if width < 1 || height < 1 || width > MaxSide || height > MaxSide || width*height > maxPixels {
		return ErrSize
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
