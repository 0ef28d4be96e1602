package tools

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

func drawn(t *testing.T, width, height int, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(b *bytes.Buffer, i image.Image) error { return png.Encode(b, i) }

// TestNewImage: a picture is what its head says; what is none, or too large, is
// refused.
func TestNewImage(t *testing.T) {
	for mime, encode := range map[string]func(*bytes.Buffer, image.Image) error{
		"image/png": asPNG, "image/jpeg": func(b *bytes.Buffer, i image.Image) error { return jpeg.Encode(b, i, nil) },
		"image/gif": func(b *bytes.Buffer, i image.Image) error { return gif.Encode(b, i, nil) },
	} {
		data := drawn(t, 8, 6, encode)
		i, err := NewImage(data)
		if err != nil || i.MIME != mime || i.Width != 8 || i.Height != 6 || i.Words() != "an image, 8×6" {
			t.Errorf("%s: %+v, %v", mime, i, err)
		}
		if _, err := NewImage(data[:8]); err == nil {
			t.Errorf("%s: the head alone is taken", mime)
		}
	}
	small := drawn(t, 8, 6, asPNG)
	if i, err := NewImage(append(bytes.Clone(small), make([]byte, MaxImageBytes-len(small))...)); err != nil || i.Width != 8 {
		t.Errorf("control: %v", err)
	}
	wide := bytes.Clone(small)
	copy(wide[16:], []byte{0, 1, 0, 0}) // 65536 pixels wide
	for name, data := range map[string][]byte{"nothing": nil, "text": []byte("hello"), "svg": []byte("<svg/>"), "wide": wide, "long": append(bytes.Clone(small), make([]byte, MaxImageBytes)...)} {
		if i, err := NewImage(data); err == nil {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

func TestBoundImages(t *testing.T) {
	one, err := NewImage(drawn(t, 8, 6, asPNG))
	if err != nil {
		t.Fatal(err)
	}
	large := Image{Data: append(bytes.Clone(one.Data), make([]byte, 3<<20)...)}
	for name, c := range map[string]struct {
		list       []Image
		kept, left int
	}{
		"none": {nil, 0, 0}, "four": {[]Image{one, one, one, one}, 4, 0}, "five": {[]Image{one, one, one, one, one}, 4, 1},
		"no picture": {[]Image{{MIME: "image/png", Data: []byte("x"), Width: 1, Height: 1}, one}, 1, 1}, "too much": {[]Image{large, large, large, one}, 3, 1},
	} {
		if kept, left := BoundImages(c.list); len(kept) != c.kept || left != c.left {
			t.Errorf("%s: %d kept, %d left", name, len(kept), left)
		}
	}
	if kept, _ := BoundImages([]Image{{MIME: "text/html", Data: one.Data, Width: 99}}); kept[0].MIME != "image/png" || kept[0].Width != 8 {
		t.Errorf("what it says is believed: %+v", kept)
	}
}
