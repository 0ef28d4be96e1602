package conversation

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// pictured is a picture as an encoder writes it.
func pictured(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Gray{0}, color.Gray{255}})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func aPNG(t *testing.T) []byte {
	return pictured(t, func(b *bytes.Buffer, i image.Image) error { return png.Encode(b, i) })
}

// sizedPNG is the head of a PNG that says it is so large.
func sizedPNG(t *testing.T, width, height uint32) []byte {
	data := aPNG(t)
	binary.BigEndian.PutUint32(data[16:], width)
	binary.BigEndian.PutUint32(data[20:], height)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

func riff(chunk string, rest ...byte) []byte {
	return append([]byte("RIFF\x20\x00\x00\x00WEBP"+chunk+"\x14\x00\x00\x00"), append(rest, make([]byte, 20)...)...)
}

func in64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func TestImagesAreKept(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	r, err := s.Start(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	for mime, data := range map[string][]byte{
		"image/png":  aPNG(t),
		"image/jpeg": pictured(t, func(b *bytes.Buffer, i image.Image) error { return jpeg.Encode(b, i, nil) }),
		"image/gif":  pictured(t, func(b *bytes.Buffer, i image.Image) error { return gif.Encode(b, i, nil) }),
		"image/webp": riff("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 3, 0, 2, 0),
	} {
		i, err := r.Keep(in64(data), "a.png")
		if err != nil || i.Mime != mime || i.Width != 3 || i.Height != 2 || i.Bytes != len(data) || i.Alt != "a.png" {
			t.Errorf("%s is kept as %+v, %v", mime, i, err)
			continue
		}
		path, kind, got, err := r.Picture(i.ID)
		if err != nil || kind != mime || !bytes.Equal(got, data) || filepath.Dir(path) != filepath.Join(dir, r.ID()+".images") {
			t.Errorf("%s is read from %s as %s, %d bytes, %v", mime, path, kind, len(got), err)
		}
	}
	for form, data := range map[string][]byte{
		"lossless": riff("VP8L", 0x2f, 2, 0x40, 0, 0),
		"extended": riff("VP8X", 0, 0, 0, 0, 2, 0, 0, 1, 0, 0),
	} {
		if i, err := r.Keep(in64(data), ""); err != nil || i.Width != 3 || i.Height != 2 {
			t.Errorf("%s WebP is kept as %+v, %v", form, i, err)
		}
	}
	if info, err := os.Stat(s.images(r.ID())); err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("its directory is %v, %v", info.Mode(), err)
	}
}

// TestImagesThatAreNone: what an agent calls a picture and is none, or too much, leaves nothing.
func TestImagesThatAreNone(t *testing.T) {
	s := openStore(t, Options{Dir: t.TempDir()})
	r, err := s.Start(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	good := aPNG(t)
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"SVG":            {in64([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)), ErrImageKind},
		"HTML":           {in64([]byte("<html><script>1</script></html>")), ErrImageKind},
		"nothing":        {"", ErrImageKind},
		"a torn head":    {in64(good[:20]), ErrImageKind},
		"no WebP":        {in64(riff("ALPH")), ErrImageKind},
		"a BMP":          {in64(append([]byte("BM"), make([]byte, 60)...)), ErrImageKind},
		"100 MB":         {strings.Repeat("A", 100<<20), ErrImageSize},
		"just too large": {in64(append(bytes.Clone(good), make([]byte, maxImage)...)), ErrImageSize},
		"wide":           {in64(sizedPNG(t, 1<<20, 1)), ErrImageSize},
		"a bomb":         {in64(sizedPNG(t, 16000, 16000)), ErrImageSize},
		"a wide WebP":    {in64(riff("VP8X", 0, 0, 0, 0, 0xff, 0xff, 0xff, 1, 0, 0)), ErrImageSize},
	} {
		if i, err := r.Keep(c.text, ""); !errors.Is(err, c.want) {
			t.Errorf("%s is kept as %+v, %v", name, i, err)
		}
	}
	if i, err := r.Keep("no base64!", ""); err == nil {
		t.Errorf("what is not base64 is kept as %+v", i)
	}
	if _, err := os.Stat(s.images(r.ID())); !os.IsNotExist(err) {
		t.Errorf("there is a directory: %v", err)
	}
	if _, err := r.Keep(in64(sizedPNG(t, 8000, 8000)), ""); err != nil {
		t.Errorf("a large one: %v", err)
	}
	for _, id := range []string{"", "../x.png", "/etc/passwd", strings.Repeat("0", 32) + ".png", strings.Repeat("0", 32) + ".svg", strings.Repeat("0", 32) + ".png/../x"} {
		if path, _, _, err := r.Picture(id); !errors.Is(err, ErrNoImage) {
			t.Errorf("%q is %s, %v", id, path, err)
		}
	}
}

// TestImagesAreBounded: a run has so many and no more, counted anew after a restart, and
// they go with it.
func TestImagesAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	r, err := s.Start(Spec{})
	if err != nil {
		t.Fatal(err)
	}
	one := aPNG(t)
	full := func(n byte) string { return in64(append(bytes.Clone(one), bytes.Repeat([]byte{n}, 4<<20)...)) }
	n := byte(0)
	for ; n < 15; n++ {
		if _, err := r.Keep(full(n), ""); err != nil {
			t.Fatalf("number %d: %v", n, err)
		}
	}
	if _, err := r.Keep(full(0), ""); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, Options{Dir: dir, MaxKept: 1})
	if r, err = s.Get(r.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Keep(full(n), ""); !errors.Is(err, ErrImages) {
		t.Errorf("one too many: %v", err)
	}
	small, err := r.Keep(in64(one), "")
	if err != nil {
		t.Errorf("a small one: %v", err)
	}
	if _, _, data, err := r.Picture(small.ID); err != nil || !bytes.Equal(data, one) {
		t.Errorf("it is %d bytes, %v", len(data), err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := r.Picture(small.ID); err != nil {
		t.Errorf("of a run that has ended: %v", err)
	}
	for range 2 {
		later, err := s.Start(Spec{})
		if err != nil {
			t.Fatal(err)
		}
		if err := later.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.prune()
	if _, err := os.Stat(s.images(r.ID())); !os.IsNotExist(err) {
		t.Errorf("of a run that is gone: %v", err)
	}
}
