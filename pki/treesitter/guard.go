package treesitter

import "bytes"

// survivable reports whether the scanner of a language can take src. Scanners
// are C; some keep what is open in a buffer of 1,024 bytes and abort the whole
// process, or write past its end, when a file opens more:
//
//   - kotlin aborts at 1,024 strings inside of each other's ${};
//   - ruby asserts that the word of a here-document has at most 255 bytes;
//   - bash and ruby miscount by a few bytes when open here-documents fill the
//     buffer to its last bytes.
//
// A run of zero bytes is lexed in time that grows with its square. Where < may open type arguments or compare, some parsers keep both readings
// of all that are open: 16,000 of them took ten seconds and 2 GB.
//
// The limits here are far below those and above what people write; they count
// what a file has at all, since what is open at once cannot be known without
// the scanner.
func survivable(lang string, src []byte) bool {
	const (
		maxWord   = 100 // bytes of one here-document's word
		maxWords  = 900 // bytes of all of them, with what the scanner adds
		maxNests  = 900
		maxAngles = 500
	)
	if bytes.IndexByte(src, 0) >= 0 {
		return false
	}
	switch lang {
	case "kotlin":
		return bytes.Count(src, []byte("${")) < maxNests && openAngles(src) < maxAngles
	case "ruby", "bash":
		total := 0
		for _, word := range hereWords(src) {
			if len(word) > maxWord {
				return false
			}
			total += len(word) + 7
		}
		return lang == "ruby" || total < maxWords
	case "cpp", "csharp", "java", "javascript", "rust", "swift", "tsx", "typescript":
		return openAngles(src) < maxAngles
	}
	return true
}

// openAngles returns the most < that are open at once. A statement's end and a
// block close them all.
func openAngles(src []byte) int {
	most, open := 0, 0
	for _, c := range src {
		switch c {
		case '<':
			open++
			most = max(most, open)
		case '>':
			open = max(0, open-1)
		case ';', '{', '}':
			open = 0
		}
	}
	return most
}

// hereWords returns what may be the words of here-documents: what follows <<.
func hereWords(src []byte) [][]byte {
	var words [][]byte
	for {
		i := bytes.Index(src, []byte("<<"))
		if i < 0 {
			return words
		}
		src = bytes.TrimLeft(src[i+2:], "<-~ \t\\")
		if len(src) == 0 {
			return words
		}
		var end int
		if q := src[0]; q == '"' || q == '\'' || q == '`' {
			if end = bytes.IndexByte(src[1:], q); end >= 0 {
				end++
			}
		} else {
			end = bytes.IndexAny(src, " \t\r\n;&|<>()")
		}
		if end < 0 {
			end = len(src)
		}
		words = append(words, src[:end])
	}
}
