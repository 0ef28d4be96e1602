package manual

import (
	"fmt"
	"strings"
)

// Man is a page in the language of man, in section 1 or 7. summary is the line that
// apropos finds.
func Man(page, name, summary string, section int) string {
	var out strings.Builder
	fmt.Fprintf(&out, ".TH %s %d \"\" \"sidecar-ls\" \"sidecar-ls\"\n.ad l\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), section, name, roff(summary))
	to := func(text, target string) string {
		if strings.Contains(target, "://") {
			return text + " <" + target + ">"
		}
		return text
	}
	in := func(text string) string { return font(roff(inline(text, to, "\x01B$1\x01R", "\x01I$2\x01R"))) }
	for _, b := range parse(page) {
		switch b.kind {
		case heading:
			switch b.level {
			case 1:
				fmt.Fprintf(&out, ".SH DESCRIPTION\n")
			case 2:
				fmt.Fprintf(&out, ".SH %q\n", strings.ToUpper(roff(b.text)))
			default:
				fmt.Fprintf(&out, ".SS %q\n", roff(b.text))
			}
		case item:
			fmt.Fprintf(&out, ".IP \"%s\" 4\n%s\n", strings.ReplaceAll(b.mark, "•", `\(bu`), in(b.text))
		case code:
			fmt.Fprintf(&out, ".PP\n.RS 4\n.nf\n%s\n.fi\n.RE\n", roff(b.text))
		case table:
			manTable(&out, b.rows, in)
		default:
			fmt.Fprintf(&out, ".PP\n%s\n", in(b.text))
		}
	}
	return out.String()
}

// manTable writes each row as a term with what is said of it: tables of man have no room
// for sentences.
func manTable(out *strings.Builder, rows [][]string, in func(string) string) {
	head := rows[0]
	for _, row := range rows[1:] {
		fmt.Fprintf(out, ".TP\n%s\n", in(row[0]))
		for i, cell := range row[1:] {
			if cell == "" || cell == "–" {
				continue
			}
			name := ""
			if len(row) > 2 && i+1 < len(head) && head[i+1] != "" {
				name = head[i+1] + ": "
			}
			if i > 0 {
				fmt.Fprintln(out, ".br")
			}
			fmt.Fprintln(out, in(name+cell))
		}
	}
}

// roff escapes what means something to roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// font sets code and emphasis, once everything else is escaped.
func font(text string) string {
	text = span.ReplaceAllStringFunc(text, func(s string) string { return `\fB` + strings.Trim(s, "`") + `\fR` })
	return strings.ReplaceAll(text, "\x01", `\f`)
}
