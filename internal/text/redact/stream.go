package redact

import "strings"

// Stream hides secrets in a text that comes in pieces, such as a command's
// output. However the pieces are cut, the same comes out: the text is judged
// in parts that only depend on what it says. A part is a line, with the lines
// that may belong to a secret in it: a private key up to its end, a line whose
// end is escaped, lines of nothing but a token or base64. A line too long for
// that is cut where no secret is. It is not safe for concurrent use.
type Stream struct {
	text func(string) string
	held string
	seen int // bytes of held that are whole lines and belong to one part

	key    int    // where a private key begins in held, counted from 1; 0 for none
	keyEnd string // what ends it
}

// How many bytes of a part are held back at most: of a line, and of lines that
// belong together.
const (
	streamLine  = 64 << 10
	streamLines = 128 << 10
)

// NewStream returns a Stream that hides what text does, Redactor.Text or the
// like.
func NewStream(text func(string) string) *Stream { return &Stream{text: text} }

// Write takes the next piece and returns what may be shown.
func (s *Stream) Write(piece string) string {
	s.held += piece
	var out strings.Builder
	for {
		n := s.part()
		if n == 0 {
			return out.String()
		}
		out.WriteString(s.text(s.held[:n]))
		s.held, s.seen = s.held[n:], 0
		s.key = 0
	}
}

// Close returns what was held back.
func (s *Stream) Close() string {
	rest := s.held
	s.held, s.seen, s.key = "", 0, 0
	return s.text(rest)
}

// part is the length of the first part of what is held, or 0 while its end is
// not there.
func (s *Stream) part() int {
	for {
		nl := strings.IndexByte(s.held[s.seen:], '\n')
		switch {
		case nl < 0 && len(s.held)-s.seen < streamLine:
			return 0
		case nl < 0 || nl >= streamLine:
			if s.seen > 0 {
				return s.seen // the lines before the long one
			}
			return s.cut()
		}
		next := s.seen + nl + 1
		line := strings.TrimRight(s.held[s.seen:next], "\r\n")
		if next >= streamLines {
			return next
		}
		if !s.open(line, next) {
			if !tokenLine(line) {
				return next
			}
			// Whether the token goes on is seen by the next line.
			if rest := s.held[next:]; strings.IndexByte(rest, '\n') < 0 && len(rest) < streamLine {
				return 0
			} else if !tokenStart(rest) {
				return next
			}
		}
		s.seen = next
	}
}

// open reports whether the line, which ends at n, must go on: in the middle of
// a private key or behind an escaped end of a line.
func (s *Stream) open(line string, n int) bool {
	for _, key := range [...]struct{ begin, end string }{{"-----BEGIN", "-----END"}, {"PuTTY-User-Key-File-", "Private-MAC:"}} {
		if at := strings.LastIndex(line, key.begin); at >= 0 && (key.begin[0] == 'P' || strings.Contains(line[at:], "PRIVATE")) {
			s.key, s.keyEnd = s.seen+at+1, key.end
			line = line[at:]
		}
	}
	if s.key > 0 && (strings.Contains(line, s.keyEnd) || n-s.key > maxKey) {
		s.key = 0
	}
	return s.key > 0 || strings.HasSuffix(line, "\\") || strings.HasSuffix(line, ">-")
}

// wide is the length in bytes of a line that may have been broken at a width.
const wide = 60

// tokenLine reports whether a line ends with what may be the beginning of a
// token, and tokenStart whether one begins with the rest.
func tokenLine(line string) bool {
	if len(line) >= wide {
		last := line[strings.LastIndexAny(line, " \t")+1:]
		return len(last) >= 4 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz.,:;!?)") != ""
	}
	i := len(line)
	for i > 0 && tokenByte(line[i-1]) {
		i--
	}
	return len(line)-i >= 8 && !ordinary(line[i:])
}

func tokenStart(line string) bool {
	const enough = 200 // bytes
	line = strings.TrimLeft(line[:min(len(line), enough)], " \t+-")
	end := tokenEnd(line, 0)
	return end >= 4 && !ordinary(line[:end]) || goesOn(line, 0)
}

// cut is where a line that is too long is cut: at the last blank or comma
// before which and behind which the text reads as it does in one.
func (s *Stream) cut() int {
	const tries = 8
	line := s.held[:min(len(s.held), streamLine)]
	whole := ""
	at := len(line) - len(line)/4
	for range tries {
		n := strings.LastIndexAny(line[:at], " ,;&\t")
		if n < len(line)/2 {
			break
		}
		if whole == "" {
			whole = s.text(line)
		}
		if s.text(line[:n])+s.text(line[n:]) == whole {
			return n
		}
		at = n
	}
	return len(line)
}

// Pause returns the whole lines that are held back only because a token at their end might
// go on. It is for a reader of an output that has come to rest. A line without its end, and
// one in the middle of a secret, stay held.
func (s *Stream) Pause() string {
	rest := s.held[s.seen:]
	nl := strings.IndexByte(rest, '\n')
	if nl < 0 || tokenStart(rest[nl+1:]) {
		return ""
	}
	n := s.seen + nl + 1
	out := s.text(s.held[:n])
	s.held, s.seen, s.key = s.held[n:], 0, 0
	return out
}
