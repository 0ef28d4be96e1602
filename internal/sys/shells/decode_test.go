package shells

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// inPage is a text in a code page.
func inPage(t *testing.T, page uint32, text string) string {
	t.Helper()
	s, err := pages(page).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inUTF16(text string) string {
	b := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// TestDecode: whatever the chunks are, the text is the same.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		page       uint32
		said, want string
	}{
		{850, "plain\r\n", "plain\r\n"},
		{850, inPage(t, 850, "Größe: ½\r\nÄnderung"), "Größe: ½\r\nÄnderung"},
		{437, inPage(t, 437, "│ façade ├──"), "│ façade ├──"},
		{866, inPage(t, 866, "Привет\n"), "Привет\n"},
		{1252, inPage(t, 1252, "“ä” €\n"), "“ä” €\n"},
		{932, inPage(t, 932, "表示 ソフト\nテスト"), "表示 ソフト\nテスト"}, // their second bytes are those of \
		{936, inPage(t, 936, "中文，测试\n结束"), "中文，测试\n结束"},
		{949, inPage(t, 949, "한국어 시험\n"), "한국어 시험\n"},
		{950, inPage(t, 950, "繁體中文 功\n"), "繁體中文 功\n"},
		{54936, inPage(t, 54936, "中文🙂\n"), "中文🙂\n"},
		{850, "UTF-8 größer 日本 🙂\n", "UTF-8 größer 日本 🙂\n"},
		{850, "größer\n" + inPage(t, 850, "größer\n") + "größer", "größer\ngrößer\ngrößer"}, // two programs
		{932, inPage(t, 932, "表示\n") + "größer\nplain\n" + inPage(t, 932, "表"), "表示\ngrößer\nplain\n表"},
		{850, inUTF16("UTF-16 größer 🙂\r\nplain"), "UTF-16 größer 🙂\r\nplain"},
		{0, inUTF16("größer"), "größer"},
		{850, "\xEF\xBB\xBFgrößer", "größer"},
		{850, "\xEF", "´"}, {850, "\xEF\n", "´\n"}, {850, "\xFF", "\u00a0"}, {850, "\xC3\n", "├\n"}, // no mark, and no UTF-8
		{932, "\x95", "\uFFFD"}, {932, "a\x95\nb", "a\uFFFD\nb"}, // half a character
		{0, "\xE4\n", "\xE4\n"}, {65001, "\xE4\n", "\xE4\n"}, {720, "\xE4\n", "\xE4\n"}, // no table: it stays
		{850, "", ""}, {850, "\x00\x01\n", "\x00\x01\n"},
	} {
		for _, size := range []int{1, 2, 3, 5, 1000} {
			var b bytes.Buffer
			d := Decode(&b, c.page)
			for rest := []byte(c.said); len(rest) > 0; {
				n := min(size, len(rest))
				if wrote, err := d.Write(rest[:n]); wrote != n || err != nil {
					t.Fatalf("%d, %v", wrote, err)
				}
				rest = rest[n:]
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != c.want {
				t.Errorf("page %d in chunks of %d: %q, want %q", c.page, size, got, c.want)
			}
		}
	}
}

// TestDecodeAtOnce: what is known comes without waiting for the end of a line.
func TestDecodeAtOnce(t *testing.T) {
	var b bytes.Buffer
	d := Decode(&b, 932)
	said := inPage(t, 932, "表示: ")
	for _, step := range []struct{ write, want string }{
		{"50 % ", "50 % "}, {"gr\xC3", "gr"}, {"\xB6\xC3\x9F", "öß"}, {"\n" + said[:3], "\n表"}, {said[3:], "示: "},
	} {
		b.Reset()
		if _, err := d.Write([]byte(step.write)); err != nil || b.String() != step.want {
			t.Errorf("%q: %q, %v, want %q", step.write, b.String(), err, step.want)
		}
	}
}

// Whatever is printed, nothing is lost that is UTF-8, and long lines are whole.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("größer\n\xE4"), uint8(3))
	f.Add([]byte(strings.Repeat("表", 5000)), uint8(7))
	f.Fuzz(func(t *testing.T, said []byte, size uint8) {
		for _, page := range []uint32{850, 932, 936, 0} {
			var whole, parts bytes.Buffer
			d := Decode(&whole, page)
			_, _ = d.Write(said)
			_ = d.Close()
			d = Decode(&parts, page)
			for rest := said; len(rest) > 0; {
				n := min(int(size)+1, len(rest))
				_, _ = d.Write(rest[:n])
				rest = rest[n:]
			}
			_ = d.Close()
			marked := bytes.HasPrefix(said, markOfUTF16) || bytes.HasPrefix(said, markOfUTF8)
			if utf8.Valid(said) && !marked && whole.String() != string(said) {
				t.Errorf("%d: %q became %q", page, said, whole.String())
			}
			if page == 850 && !utf8.Valid(whole.Bytes()) {
				t.Errorf("%q became %q", said, whole.String())
			}
			if utf8.Valid(said) && parts.String() != whole.String() {
				t.Errorf("%d: %q, in parts %q", page, whole.String(), parts.String())
			}
		}
	})
}
