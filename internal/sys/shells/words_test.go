package shells

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
)

// hard are words that mean something to some shell.
var hard = []string{
	"", " ", "a b", "it's", `say "hi"`, `a"b`, `"`, `""`, `\`, `a\`, `a b\`, `a\\"b c\`, "$HOME", "$(calc)", "${x}", "`id`", "a;b", "a&b", "a&&b", "a|b", "a>b", "%PATH%", "!x!", "^",
	"grün", "größer als ß", "日本", "‘a’ ‚b‛ “c”", "'", "''", "-x", "--", "-run=^(A|B)$", "-a.b", "-a:b", "--%", "@x", "#x", "~", "a,b", "(x)", "{x}", "[a]*", "?", "1", "1kb", "0x1", "if", "a\tb", "a\nb", " ", "a b",
	"./...", "src/a b.go", `C:\Program Files\x`, "-Dtest=*#adds", "é", "🙂",
}

// TestWordsOfBash: bash itself hands a program the words that were meant.
func TestWordsOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		needs.Skip(t, needs.Bash, "there is no bash")
	}
	line, err := Bash.Command(append([]string{"printf", `%s\0`}, hard...)...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), bash, "--noprofile", "--norc", "-c", line).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, hard) {
		t.Errorf("%q, %v\n got %q\nwant %q", line, err, got, hard)
	}
	for _, w := range hard {
		out, err := exec.CommandContext(t.Context(), bash, "--noprofile", "--norc", "-c", Bash.Set("A="+w)+`printf %s "$A"; env -u A true`).Output()
		if string(out) != w || err != nil {
			t.Errorf("%q is %q, %v", w, out, err)
		}
	}
}

func TestWordsOfPowerShell(t *testing.T) {
	look := func(program string) (string, error) {
		switch program {
		case "pytest":
			return `C:\pyenv\shims\pytest.BAT`, nil
		case "go":
			return `C:\Go\bin\go.exe`, nil
		}
		return "", exec.ErrNotFound
	}
	for _, c := range []struct {
		old   bool
		words []string
		want  string // after "!": a part of why it can't be
	}{
		{true, []string{"go", "test", "-json", "./..."}, "go test -json ./..."},
		{true, []string{"go", "test", "-run=^(A|B)$", "./a b"}, "go test '-run=^(A|B)$' './a b'"},
		{true, []string{"go", "x", "it's", "‘x’", ""}, `go x 'it''s' '‘‘x’’' '""'`},
		{false, []string{"go", "x", "", `a "b" c\`}, `go x '' 'a "b" c\'`},
		{true, []string{"go", "x", `a"b\`}, `go x 'a\"b\'`},
		{true, []string{"go", "x", `a b\`}, `go x '"a b\\"'`},
		{true, []string{"go", "x", `say "hi"`}, `!use PowerShell 7.3 or bash (the setting sidecar.commands.shell)`},
		{true, []string{"go", "--", "-a.b", "1kb", "@x", "#x"}, "go '--' '-a.b' '1kb' '@x' '#x'"},
		{true, []string{"./gradlew.bat", "test", "--tests", "a&calc"}, `./gradlew.bat test --tests '"a&calc"'`},
		{true, []string{"../a b/mvnw.cmd", `x y\`}, `& '../a b/mvnw.cmd' '"x y\\"'`},
		{false, []string{"npm.cmd", "test", "--", "-t", "(x) | y"}, `npm.cmd test '"--"' -t '"(x) | y"'`},
		{false, []string{"npm.cmd", "%PATH%"}, "!would not reach the batch file"},
		{false, []string{"npm.cmd", `a"b`}, "!would not reach the batch file"},
		{false, []string{"npm.cmd", "a\nb"}, "!would not reach the batch file"},
		{false, []string{"pytest", "-k", "a^b"}, `pytest.bat -k '"a^b"'`},
		{false, []string{"1x"}, "& '1x'"},
		{false, []string{"-x"}, "& '-x'"},
	} {
		got, err := Shell{PowerShell: true, Old: c.old, look: look}.Command(c.words...)
		if why, refused := strings.CutPrefix(c.want, "!"); refused {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%q: %s, %v", c.words, got, err)
			}
		} else if got != c.want || err != nil {
			t.Errorf("%q:\n got %s, %v\nwant %s", c.words, got, err, c.want)
		}
	}
	if got := (Shell{PowerShell: true}).Set("A=it's", "B=="); got != "$env:A = 'it''s'; $env:B = '='; " {
		t.Error(got)
	}
}

// read reads a line of commands' words as PowerShell does by its documentation
// (about_Quoting_Rules, about_Parsing): words between single quotes, and words without any
// that have nothing which it would expand.
func read(t *testing.T, line string) (words []string) {
	t.Helper()
	isQuote := func(r rune) bool { return strings.ContainsRune("'‘’‚‛", r) }
	rs := []rune(line)
	for i := 0; i < len(rs); i++ {
		switch {
		case rs[i] == ' ':
		case isQuote(rs[i]):
			word := ""
			for i++; ; i++ {
				if i >= len(rs) {
					t.Fatalf("%q does not end a quote", line)
				}
				if isQuote(rs[i]) {
					if i+1 >= len(rs) || !isQuote(rs[i+1]) {
						break
					}
					i++
				}
				word += string(rs[i])
			}
			if i+1 < len(rs) && rs[i+1] != ' ' {
				t.Fatalf("%q goes on behind a quote", line)
			}
			words = append(words, word)
		default:
			end := i
			for end < len(rs) && rs[end] != ' ' {
				end++
			}
			word := string(rs[i:end])
			if word != "&" && (strings.Trim(word, letters+"_-./") != "" || strings.HasPrefix(word, "-") && strings.ContainsAny(word, "./") || word == "--") {
				t.Fatalf("%q: PowerShell may change %q", line, word)
			}
			words, i = append(words, word), end-1
		}
	}
	return words
}

// passed is the command line that PowerShell makes of words, old or for a batch file.
func passed(words []string) string {
	var line []string
	for _, w := range words {
		quotes, slash, blank := 0, false, false
		for _, r := range w {
			if r == '"' && !slash {
				quotes++
			} else if isBlank(r) && quotes%2 == 0 {
				blank = true
			}
			slash = r == '\\'
		}
		switch {
		case w == "":
		case blank: // without a word about a backslash at the end, where versions differ
			line = append(line, `"`+w+`"`)
		default:
			line = append(line, w)
		}
	}
	return strings.Join(line, " ")
}

// argvOf reads a command line as Windows' programs do.
func argvOf(line string) (argv []string) {
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		var b strings.Builder
		quoted, slashes, i := false, 0, 0
	word:
		for ; i < len(line); i++ {
			c := line[i]
			if c == '\\' {
				slashes++
				continue
			}
			if c == '"' {
				b.WriteString(strings.Repeat(`\`, slashes/2))
				if slashes%2 == 1 {
					b.WriteByte(c)
				} else {
					quoted = !quoted
				}
				slashes = 0
				continue
			}
			b.WriteString(strings.Repeat(`\`, slashes))
			slashes = 0
			if (c == ' ' || c == '\t') && !quoted {
				break word
			}
			b.WriteByte(c)
		}
		b.WriteString(strings.Repeat(`\`, slashes))
		argv, line = append(argv, b.String()), line[i:]
	}
	return argv
}

// roundTrip follows a word through PowerShell to a program. PowerShell itself is not
// there: what it does is written down above by its documentation and its source.
func roundTrip(t *testing.T, word string) {
	t.Helper()
	for _, c := range []struct {
		old     bool
		program string
	}{{true, "go"}, {false, "go"}, {true, "x.cmd"}, {false, "x.cmd"}} {
		sh := Shell{PowerShell: true, Old: c.old, look: func(string) (string, error) { return "", exec.ErrNotFound }}
		line, err := sh.Command(c.program, "first", word, "last")
		batch := isBatch(c.program)
		if err != nil {
			if !strings.Contains(word, `"`) && (!batch || !strings.ContainsAny(word, "%!\r\n")) {
				t.Errorf("%q, %s: %v", word, c.program, err)
			}
			continue
		}
		words := read(t, line)[1:]
		if !c.old && !batch { // it escapes them itself
			if want := []string{"first", word, "last"}; !slices.Equal(words, want) {
				t.Errorf("%q: %s: %q", word, line, words)
			}
			continue
		}
		command := passed(words)
		if batch {
			quoted := false
			for _, r := range command {
				quoted = quoted != (r == '"')
				if !quoted && strings.ContainsRune("&|<>^()@;,=", r) || strings.ContainsRune("%!\r\n", r) {
					t.Errorf("%q: cmd.exe obeys something of %s", word, command)
				}
			}
		}
		got := argvOf(command)
		if parsed := real(t, command); parsed != nil {
			got = parsed
		}
		if want := []string{"first", word, "last"}; !slices.Equal(got, want) {
			t.Errorf("%q: %s: %s: %q", word, line, command, got)
		}
	}
}

func TestWordsReachPrograms(t *testing.T) {
	for _, w := range hard {
		roundTrip(t, w)
	}
}

func FuzzWords(f *testing.F) {
	for _, w := range hard {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if utf8.ValidString(word) && !strings.ContainsRune(word, 0) {
			roundTrip(t, word)
		}
	})
}
