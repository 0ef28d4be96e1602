package redact

import (
	"encoding/base64"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"
)

// whole is a Redactor that goes over every text in one go, and divided one that
// divides even short texts.
func whole(known ...string) *Redactor {
	r := New(known...)
	r.part = 1 << 40
	return r
}

func divided(size int, known ...string) *Redactor {
	r := New(known...)
	r.part = size
	return r
}

// severalCores makes sure that texts are divided.
func severalCores(t testing.TB) {
	before := runtime.GOMAXPROCS(0)
	if before == 1 {
		runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	}
}

const known = "house-of-the-house"

// crowded is a text of secrets side by side, in all contexts, with pieces of
// them and of text in between.
func crowded(r *rand.Rand) string {
	joints := []string{"\n", " ", "", ",", "/", "=", "\n\n", "\\\n", `","`, "-", "\x1b[31m", "%20"}
	fill := []string{"words of text", "token", "password: ", "https://u:", "-----BEGIN ", "ABCDEFGHIJKLMNOPQRSTUVWX", "0123456789abcdef0123456789", known, "secret = ", "@", "===", Marker + "known]"}
	var b strings.Builder
	for range 6 + r.IntN(10) {
		switch r.IntN(4) {
		case 0:
			b.WriteString(fill[r.IntN(len(fill))])
		default:
			m := made[r.IntN(len(made))]
			text, secret := drawn(r, m.text)
			if r.IntN(3) == 0 {
				text = secret
			}
			if r.IntN(3) == 0 {
				text = contexts[r.IntN(len(contexts))].put(text, secret)
			}
			if n := r.IntN(4); n == 0 {
				text = text[r.IntN(len(text)):]
			} else if n == 1 {
				text = text[:r.IntN(len(text))]
			}
			b.WriteString(text)
		}
		b.WriteString(joints[r.IntN(len(joints))])
	}
	return b.String()
}

// Wherever a text is divided, the same comes out.
func TestPartsFindWhatTheWholeFinds(t *testing.T) {
	severalCores(t)
	random := rand.New(rand.NewPCG(3, 4))
	one := whole(known)
	changed := 0
	texts := 150
	if testing.Short() {
		texts = 20
	}
	for range texts {
		text := crowded(random)
		want := one.Text(text)
		if want != text {
			changed++
		}
		for _, size := range []int{1, 7, 30, 64, 200, 1000} {
			if size*fewParts > len(text) {
				continue
			}
			if got := divided(size, known).Text(text); got != want {
				t.Fatalf("in parts of %d bytes, %q became\n%q, want\n%q", size, text, got, want)
			}
		}
	}
	if changed*2 < texts {
		t.Errorf("only %d of %d texts have a secret", changed, texts)
	}
}

// What begins in one part has a say in the next.
func TestPartsMeet(t *testing.T) {
	severalCores(t)
	random := rand.New(rand.NewPCG(11, 12))
	hex := draw(random, `[0-9]{8}[a-f0-9]{24}`)
	token := draw(random, `ghp_[A-Za-z0-9]{36}`)
	coded := base64.RawStdEncoding.EncodeToString([]byte("the token " + token + " is in here"))
	one := whole(known)
	for _, text := range []string{
		"dapi" + hex + "-us1 and a mailchimp key in it",
		"of " + hex + "-us1 there is one: " + hex + "-us2",
		token + " and " + draw(random, `[A-Za-z0-9/]{41}`) + coded + " that has garbage before it",
		coded + "\n" + coded + "\n" + token + "\n" + token,
		known + known[5:] + known + " " + token + token,
		"-----BEGIN PRIVATE KEY-----\n" + draw(random, `([A-Za-z0-9/]{64}\n){9}`) + "-----END PRIVATE KEY-----\npassword=" + hex,
	} {
		want := one.Text(text)
		if want == text {
			t.Errorf("%q has no secret", text)
		}
		for size := 1; size*fewParts <= len(text); size++ {
			if got := divided(size, known).Text(text); got != want {
				t.Errorf("in parts of %d bytes, %q became\n%q, want\n%q", size, text, got, want)
			}
		}
	}
}

// A crash is the caller's, who can catch it, wherever it happens.
func TestPartsCrash(t *testing.T) {
	severalCores(t)
	r := divided(10)
	defer func() {
		if p := recover(); p != "crash" {
			t.Errorf("recovered %v", p)
		}
	}()
	others, closed := make(chan bool), atomic.Bool{}
	r.inParts(strings.Repeat("x", 40), 0, func(from, to, last int) ([]span, int) {
		switch from {
		case 0:
			<-others
		case 10:
			if !closed.Swap(true) {
				close(others)
			}
			panic("crash")
		}
		return nil, 0
	})
	t.Error("no crash came through")
}

// A long text is divided without being asked.
func TestLongTextInParts(t *testing.T) {
	severalCores(t)
	random := rand.New(rand.NewPCG(5, 6))
	one, several := whole(), New()
	filler := strings.Repeat("a line that is there to be passed over\n", partBytes/39+1)
	var b strings.Builder
	for b.Len() < (fewParts+2)*partBytes {
		b.WriteString(filler[:partBytes-b.Len()%partBytes-random.IntN(40)]) // so that the secret lies on a border
		secret, _ := drawn(random, made[random.IntN(len(made))].text)
		b.WriteString(secret)
	}
	text := b.String()
	want := one.Text(text)
	if got := several.Text(text); got != want {
		t.Error("in parts, something else is found")
	}
	if n := strings.Count(want, Marker); n < fewParts {
		t.Errorf("only %d secrets found", n)
	}
}

func FuzzParts(f *testing.F) {
	severalCores(f)
	random := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		f.Add(crowded(random), 20)
	}
	one := whole(known)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 1 || size*fewParts > len(text) || len(text) > 4096 {
			return
		}
		if got, want := divided(size, known).Text(text), one.Text(text); got != want {
			t.Errorf("in parts of %d bytes, %q became\n%q, want\n%q", size, text, got, want)
		}
	})
}

// The search for what reads differently skips no place.
func TestBreaks(t *testing.T) {
	for c := rune(0); c <= utf8.MaxRune; c++ {
		text := "0123456789 of plain text before it, " + string(c) + "0a"
		if n, _ := breakAt(text, 36); (n > 0) != (newBreaks(text).next(0) == 36) {
			t.Fatalf("%U: it is %d bytes long and next is %d", c, n, newBreaks(text).next(0))
		}
	}
	random := rand.New(rand.NewPCG(9, 10))
	kinds := []string{"%41", "%", "\\", "\\\n", "\x00", "\x1b[1m", "\u200b", "é", "漢", "a", "words of text that are long enough", "\xe2", "\xc2\xad", "\n"}
	found := 0
	for range 2000 {
		var b strings.Builder
		for range random.IntN(30) {
			b.WriteString(kinds[random.IntN(len(kinds))])
		}
		text := b.String()
		cuts := newBreaks(text)
		for i := range len(text) + 1 {
			want := i
			for want < len(text) {
				if n, _ := breakAt(text, want); n > 0 {
					break
				}
				want++
			}
			if got := cuts.next(i); got != want {
				t.Fatalf("%q: the next after %d is %d, want %d", text, i, got, want)
			}
			found++
		}
	}
	if found == 0 {
		t.Error("nothing was tried")
	}
}
