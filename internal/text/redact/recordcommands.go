package redact

import (
	"path"
	"strings"
)

// pipelines hides what commands get that are done, in their order.
func (h *hider) pipelines(commands []*command, depth int) {
	input, written := 0, 0 // up to where all that is read, or written, is hidden
	for begin := 0; begin < len(commands); {
		end := begin + 1
		for end < len(commands) && commands[end].piped {
			end++
		}
		group := false
		for at := begin; at < end; at++ {
			c := commands[at]
			group = group || c.closes()
			if h.command(c, depth) {
				h.fed(commands[max(begin, min(input, at)):at+1], "secret")
				input = at + 1
			}
			if !h.writesSecrets(c) {
				continue
			}
			from := begin
			if group {
				from = 0
			}
			h.fed(commands[max(from, min(written, at)):at+1], "file")
			written = at + 1
		}
		begin = end
	}
}

// closes reports whether a command is the end of a group, whose output its files get.
func (c *command) closes() bool {
	if c.group || len(c.words) == 0 {
		return true
	}
	switch c.words[0].text {
	case "}", "done", "fi", "esac":
		return true
	}
	return false
}

// printers are programs whose words are what they print.
var printers = words("echo printf print Write-Output Write-Host")

// fed hides what the last of the commands gets from the others.
func (h *hider) fed(commands []*command, typ string) {
	for _, w := range commands[len(commands)-1].in {
		h.all(&w, typ)
	}
	for _, c := range commands {
		for _, w := range c.docs {
			h.all(&w, typ)
		}
		printing := false
		for i := range c.words {
			w := &c.words[i]
			switch {
			case printing && !w.option() && strings.Trim(strings.NewReplacer("%s", "", `\n`, "").Replace(w.text), " ") != "":
				h.all(w, typ)
			case printers[w.text]:
				printing = true
			}
		}
	}
}

// all hides a whole word.
func (h *hider) all(w *shellWord, typ string) {
	from, to := w.span(0, len(w.text))
	if w.at == nil {
		from, to = w.begin, w.end
	}
	if from >= to || typ != "file" && !secretValue("", h.texts[w.n][from:to], w.literal(0)) {
		return
	}
	h.found[w.n] = append(h.found[w.n], span{from, to, typ})
}

// value hides the end of a word, behind i.
func (h *hider) value(w *shellWord, i int, name string) {
	if i >= len(w.text) || !secretValue(name, w.text[i:], w.literal(i)) {
		return
	}
	from, to := w.span(i, len(w.text))
	h.found[w.n] = append(h.found[w.n], span{from, to, "secret"})
}

func (h *hider) secret(w *shellWord) bool {
	return h.secretFile != nil && w.text != "" && h.secretFile(strings.ReplaceAll(w.text, `\`, "/"))
}

// writesSecrets reports whether what a command prints, or reads, goes to a file that may hold secrets. A program
// that changes one by what its words say has these hidden at once.
func (h *hider) writesSecrets(c *command) bool {
	if h.secretFile == nil {
		return false
	}
	for i := range c.to {
		if h.secret(&c.to[i]) {
			return true
		}
	}
	for i := range c.words {
		w := &c.words[i]
		switch strings.TrimSuffix(path.Base(w.text), ".exe") {
		case "tee", "sponge", "dd", "Set-Content", "Add-Content", "Out-File":
			for k := range c.words[i+1:] {
				named := c.words[i+1+k]
				named.text = strings.TrimPrefix(named.text, "of=")
				if h.secret(&named) {
					if strings.HasSuffix(w.text, "-Content") {
						h.others(c.words[i+1:])
					}
					return true
				}
			}
		case "sed", "gsed", "perl", "ex", "ed":
			for k := range c.words[i+1:] {
				if h.secret(&c.words[i+1+k]) && h.changes(c.words[i+1:]) {
					h.others(c.words[i+1:])
					return true
				}
			}
		}
		if strings.ContainsAny(w.text, `'"`) && h.codeWrites(w.text) {
			h.all(w, "file")
		}
	}
	return false
}

// changes reports whether an editor of streams changes its file.
func (h *hider) changes(list []shellWord) bool {
	for i := range list {
		if t := list[i].text; strings.HasPrefix(t, "--in-place") || len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(t, 'i') > 0 {
			return true
		}
	}
	return false
}

// others hides words that are no options and no files.
func (h *hider) others(list []shellWord) {
	for i := range list {
		if w := &list[i]; !w.option() && !h.secret(w) {
			h.all(w, "file")
		}
	}
}

// codeWrites reports whether a program's text has the path of a file that may hold secrets, in quotes, and writes.
func (h *hider) codeWrites(code string) bool {
	if h.secretFile == nil || !strings.Contains(code, "rite") && !strings.Contains(code, "dump") && !strings.Contains(code, "'w") && !strings.Contains(code, `"w`) && !strings.Contains(code, "'a") &&
		!strings.Contains(code, `"a`) && !strings.Contains(code, "append") && !strings.Contains(code, "put") && !strings.Contains(code, "'>") && !strings.Contains(code, `">`) {
		return false
	}
	for i := 0; i < len(code); i++ {
		if q := code[i]; q == '\'' || q == '"' || q == '`' {
			k := i + 1
			for k < len(code) && (wordByte(code[k]) || strings.IndexByte("./~-\\:", code[k]) >= 0) {
				k++
			}
			if k < len(code) && code[k] == q && k > i+1 && h.secretFile(strings.ReplaceAll(code[i+1:k], `\`, "/")) {
				return true
			}
			i = k - 1
		}
	}
	return false
}

// command hides what the words of a command say, and reports whether what it reads is a secret.
func (h *hider) command(c *command, depth int) (input bool) {
	var places []place
	since := 0 // the word after the program's
	calmUntil := open
	for i := range c.words {
		w := &c.words[i]
		if _, found := programOf(w); found != nil && calmUntil == open && !comesBefore(places, w.text) {
			places, since = found, i+1
			for _, p := range found {
				switch p.what {
				case isProse:
					calmUntil = prose
				case isTest:
					calmUntil = quiet
				}
			}
			continue
		}
		how := calmUntil
		if i > 0 && how == open && proseOptions[c.words[i-1].text] {
			how = prose
		}
		if i > 0 && how == open && (c.words[i-1].text == "grep" || w.option() && strings.HasPrefix(w.text, "--") && proseOption(w.text)) {
			how = prose
		}
		if how != open {
			h.calm[w.n] = append(h.calm[w.n], calm{w.begin, w.end, how})
			if calmUntil != open {
				continue
			}
		}
		if how == open {
			h.assignment(w)
			if strings.IndexByte(w.text, ' ') > 0 {
				h.insides(w, depth)
			}
		}
		var next *shellWord
		if i+1 < len(c.words) {
			next = &c.words[i+1]
		}
		if i >= 2 && w.text == "password" && c.words[i-2].text == "login" && next != nil {
			h.value(next, 0, "password") // .netrc
		}
		input = h.generic(w, next) || input
	}
	for i := range places {
		p := &places[i]
		if rest, ok := p.begins(c.words[since:]); ok {
			input = h.place(p, rest, c.words[since:]) || input
		}
	}
	return input
}

// comesBefore reports whether a word is one of those that come before a place: as "set" of "secret set", not the program.
func comesBefore(places []place, word string) bool {
	for i := range places {
		for want := range strings.FieldsSeq(places[i].after) {
			if want == word {
				return true
			}
		}
	}
	return false
}

// insides reads the lines that a word has in quotes, or is.
func (h *hider) insides(w *shellWord, depth int) {
	if w.at == nil {
		h.inner(w.n, w.begin, w.end, depth)
		return
	}
	s := h.texts[w.n]
	for i := w.begin; i < w.end; i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'', '"':
			if end := quoteEnd(s, i, w.end); end > i {
				if mayBeLine(s[i+1 : end]) {
					h.inner(w.n, i+1, end, depth)
				}
				i = end
			}
		}
	}
}

// mayBeLine reports whether a text in quotes may be a line that hides something.
func mayBeLine(s string) bool {
	blank := strings.IndexByte(s, ' ')
	return blank >= 0 && (strings.IndexByte(s, '-') >= 0 || strings.IndexByte(s, '=') >= 0 || strings.IndexByte(s, '|') >= 0 || strings.IndexByte(s, '<') >= 0 || strings.IndexByte(s, '>') >= 0 || programs[s[:blank]] != nil)
}

func proseOption(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && proseOptions[name]
}

// assignment hides the value of a word that is NAME=value, or an option with one.
func (h *hider) assignment(w *shellWord) {
	eq := strings.IndexByte(w.text, '=')
	if eq <= 0 || eq > longestName || strings.IndexFunc(w.text[:eq], func(c rune) bool {
		return (c >= 128 || !wordByte(byte(c))) && !strings.ContainsRune("-.:/[]+'\"", c)
	}) >= 0 {
		return
	}
	name := strings.TrimRight(w.text[:eq], "+")
	for _, name := range indexed(name) {
		if secretName(strings.TrimLeft(name, "-")) {
			h.value(w, eq+1, name)
			return
		}
	}
}

// indexed are the names in name[index].
func indexed(name string) []string {
	begin := strings.IndexByte(name, '[')
	if begin <= 0 || name[len(name)-1] != ']' {
		return []string{name}
	}
	return []string{name[:begin], strings.Trim(name[begin+1:len(name)-1], `'"[]`)}
}

// generic hides the value of an option that says that it is a secret.
func (h *hider) generic(w, next *shellWord) (input bool) {
	if !w.option() {
		return false
	}
	name := strings.TrimLeft(w.text, "-")
	if name == "password-stdin" {
		return true
	}
	end := strings.IndexAny(name, "=:")
	if end > 0 {
		if name = name[:end]; secretName(name) || secretOptions[name] {
			h.value(w, strings.IndexAny(w.text, "=:")+1, name)
		}
		return false
	}
	if next == nil || next.option() && next.at == nil || strings.HasPrefix(name, "no-") || len(name) < 2 && w.text[1] != '-' || !secretName(name) && !secretOptions[name] {
		return false
	}
	if next.text == "=" { // and some write blanks around it
		return false
	}
	h.value(next, 0, name)
	return false
}

// begins reports whether the words that come before a place are there, and returns those after the last.
func (p *place) begins(list []shellWord) ([]shellWord, bool) {
	rest := list
	for want := range strings.FieldsSeq(p.after) {
		at := -1
		for i := range rest {
			t := rest[i].text
			if t == want || want[0] == '-' && len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.Contains(t[1:], want[1:]) {
				at = i
				break
			}
		}
		if at < 0 {
			return nil, false
		}
		rest = rest[at+1:]
	}
	return rest, true
}

// place hides what stands in a place; rest are the words after those that come before it.
func (h *hider) place(p *place, rest, all []shellWord) (input bool) {
	switch p.what {
	case isProse, isTest:
	case fromInput:
		if p.names == "" {
			return true
		}
		for i := range all {
			for name := range strings.FieldsSeq(p.names) {
				input = input || all[i].text == name
			}
		}
	case firstWord, lastOfTwo, lastWord, afterName, everyPair:
		h.positions(p.what, rest)
	default:
		for i := range rest {
			w := &rest[i]
			for name := range strings.FieldsSeq(p.names) {
				if p.what == restOfWord || p.what == glued {
					if strings.HasPrefix(w.text, name) && !strings.HasPrefix(w.text, "--") {
						h.value(w, len(name), "password")
					}
					continue
				}
				switch of, at := p.optionValue(w, rest[i+1:], name); {
				case of == nil:
				case p.what == ofOption:
					h.value(of, at, "password")
				default:
					sep := strings.IndexByte(of.text[at:], map[kind]byte{afterColon: ':', afterPercent: '%', afterComma: ',', afterEquals: '='}[p.what])
					if sep >= 0 {
						h.value(of, at+sep+1, "password")
					}
				}
			}
		}
	}
	return input
}

// optionValue is the word that has the value of the option name, when w is it, and where it begins there.
func (p *place) optionValue(w *shellWord, after []shellWord, name string) (*shellWord, int) {
	next := func() (*shellWord, int) {
		if len(after) == 0 || after[0].option() && after[0].at == nil && p.what == ofOption {
			return nil, 0
		}
		return &after[0], 0
	}
	switch rest, ok := strings.CutPrefix(w.text, name); {
	case ok && rest == "":
		return next()
	case ok && rest[0] == '=':
		return w, len(name) + 1
	case ok && len(name) == 2 && p.what != ofOption:
		return w, len(name)
	}
	if p.flags == "" || len(name) != 2 || !w.option() || w.text[1] == '-' {
		return nil, 0
	}
	for k := 1; k < len(w.text); k++ {
		switch {
		case w.text[k] == name[1] && k+1 == len(w.text):
			return next()
		case w.text[k] == name[1]:
			return w, k + 1
		case strings.IndexByte(p.flags, w.text[k]) < 0:
			return nil, 0
		}
	}
	return nil, 0
}

// positions hides words that are no options, by their place.
func (h *hider) positions(what kind, list []shellWord) {
	var plain []*shellWord
	for i := range list {
		if w := &list[i]; w.text != "" && !w.option() {
			plain = append(plain, w)
		}
	}
	switch last := len(plain) - 1; {
	case what == everyPair:
		for _, w := range plain {
			if at := strings.IndexByte(w.text, '='); at > 0 {
				h.value(w, at+1, "password")
			}
		}
	case what == afterName:
		for i, w := range plain[:max(last, 0)] {
			if secretName(strings.TrimPrefix(w.text, "--")) {
				h.value(plain[i+1], 0, w.text)
				return
			}
		}
	case last < 0:
	case what == firstWord:
		h.value(plain[0], 0, "password")
	case what == lastOfTwo && last >= 1, what == lastWord && strings.IndexByte(plain[last].text, '=') < 0:
		h.value(plain[last], 0, "password")
	}
}
