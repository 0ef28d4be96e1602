package terms

// Stem cuts the endings of English words that matter between a question and a
// name: parsing, parsed, parses and parse are one. It is lighter than Porter's
// rules, since names of things should stay apart: what ends in er, ion or ment
// keeps it. word is in small letters and may be overwritten.
func Stem(word []byte) []byte {
	n := len(word)
	if n < 4 {
		return word
	}
	switch {
	case has(word, "sses"):
		n -= 2
	case has(word, "ies") && n > 4:
		word[n-3] = 'y'
		n -= 2
	case word[n-1] == 's' && word[n-2] != 's' && word[n-2] != 'u' && word[n-2] != 'i':
		n--
	}
	word = word[:n]
	switch {
	case has(word, "ing") && n >= 6 && vowel(word[:n-3]):
		word = undouble(word[:n-3])
	case has(word, "ied") && n > 4:
		word[n-3] = 'y'
		return word[:n-2]
	case has(word, "ed") && n >= 5 && word[n-3] != 'e' && vowel(word[:n-2]):
		word = undouble(word[:n-2])
	}
	if n = len(word); n >= 4 && word[n-1] == 'e' {
		word = word[:n-1]
	}
	return word
}

func has(word []byte, end string) bool {
	return len(word) >= len(end) && string(word[len(word)-len(end):]) == end
}

func vowel(word []byte) bool {
	for _, c := range word {
		switch c {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			return true
		}
	}
	return false
}

// undouble makes run of runn and stop of stopp, but leaves call and pass.
func undouble(word []byte) []byte {
	n := len(word)
	if n >= 4 && word[n-1] == word[n-2] {
		switch word[n-1] {
		case 'b', 'd', 'g', 'm', 'n', 'p', 'r', 't':
			return word[:n-1]
		}
	}
	return word
}
