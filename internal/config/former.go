package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// former is a setting of an earlier version. Whoever sets one reads in the report what
// to do. Where its meaning survives, its value holds under the name that it has now.
type former struct {
	key  string
	typ  Type   // of its value, for editors, which send only what they know
	file bool   // the user's file alone could set it
	now  string // the setting that it is, or is a part of, now; "": nothing reads it
	say  string // what to do in its place; "": it has another name, and that is all

	// carry makes of its value one of the setting now, of which have holds so far. ok
	// is false where that stays. nil: the value is the same.
	carry func(p *parser, have any, old jsontext.Value) (want any, ok bool)

	// adds: it holds also where the same source sets now. Else that alone holds.
	adds bool
}

// formers are all of them: a setting that goes or is renamed leaves a row here.
var formers = []former{
	{key: "result.maxChars", typ: Integer, now: "result.maxBytes"},
	{
		key: "review.saveOnAccept", typ: Boolean, now: "edits.save", carry: saveOnAccept,
		say: "true is its value `onAccept`, false is `auto`",
	},
	{key: "hooksEnabled", typ: Boolean, now: "hooks", say: "`false` there runs none", carry: hooksEnabled, adds: true},
	{
		key: "tools.strictSchemas", typ: Boolean,
		say: "whoever lists tools asks for strict schemas: `strict` of `sidecar.tools.list`, and `--strict` of `sidecar-ls tools` and `sidecar-ls mcp`",
	},
	{
		key: "web.search.keyHeader", typ: String, file: true, now: "web.search.key", carry: keyHeader, adds: true,
		say: "write the header and a colon before the key, as in `X-API-Key: …`",
	},
	{key: "diagnostics.editWaitMs", typ: Integer, say: "an edit waits 1.5 seconds at most for what it broke; what is found later comes with the next result"},
	{key: "knowledge.parsing.percent", typ: Integer, say: "a quarter of one processor parses; `sidecar.knowledge.enabled` = false switches the index off"},
	{key: "knowledge.memoryMegabytes", typ: Integer, say: "the index takes 1 GiB of memory at most"},
	{key: "knowledge.embeddings.maxUnits", typ: Integer, file: true, say: "20,000 functions, types and sections get vectors at most"},
	{
		key: "knowledge.embeddings.keyVariable", typ: String, file: true, now: "knowledge.embeddings.key", carry: keyVariable,
		say: "`${env:NAME}` there is the variable NAME",
	},
	{key: "retry.waitMs", typ: Integer, say: "the first wait is 1.5 seconds; `sidecar.retry.attempts` = 1 turns retries off"},
	{key: "shadow.keep", typ: Integer, say: "2 directories of discarded shadow workspaces are kept"},
	{key: "shadow.maxFiles", typ: Integer, say: "`sidecar.shadow.maxMegabytes` bounds the files too"},
	{key: "undo.maxMegabytes", typ: Integer, say: "64 MiB of text are kept; `sidecar.undo.days` bounds how long"},
	{
		key: "commands.output", typ: String, file: true,
		say: "where edits wait for review, output is held too (`sidecar-ls review output`); where they are applied, it goes to the workspace",
	},
}

// formerly returns the row of a key of an earlier version, or nil.
func formerly(key string) *former {
	if i := slices.IndexFunc(formers, func(f former) bool { return f.key == key }); i >= 0 {
		return &formers[i]
	}
	return nil
}

// message says what became of it, to whoever sets it.
func (f *former) message() string {
	switch {
	case f.now == "":
		return "is no setting any more: " + f.say
	case f.say == "":
		return fmt.Sprintf("is called %s.%s now; the old name still works", prefix, f.now)
	}
	return fmt.Sprintf("is part of %s.%s now: %s; the old name still works", prefix, f.now, f.say)
}

// set keeps what a source says by an old name.
func (f *former) set(d *document, e entry) {
	if f.now == "" {
		d.report(f.key, e.line, "%s", f.message())
		return
	}
	d.rename(f, e.line)
	e.former = f
	said := d.formerly[f.now]
	if i := slices.IndexFunc(said, func(o entry) bool { return o.former == f }); i >= 0 {
		d.report(f.key, e.line, "is set twice; line %d holds", said[i].line)
		return
	}
	d.formerly[f.now] = append(said, e)
}

// said is what a source says about a row, in the order in which it is laid: by the
// setting's own name, then by old ones.
func (d *document) said(row *Setting) []entry {
	var all []entry
	e, named := d.entries[row.Key]
	if named {
		all = append(all, e)
	}
	for _, old := range d.formerly[row.Key] {
		if !named || old.former.adds {
			all = append(all, old)
		}
	}
	return all
}

// key is the name by which a source sets a row.
func (e *entry) key(row *Setting) string {
	if e.former != nil {
		return e.former.key
	}
	return row.Key
}

// parse makes the value of a row, of which have holds so far.
func (e *entry) parse(p *parser, have any) (any, bool) {
	if e.former != nil && e.former.carry != nil {
		return e.former.carry(p, have, e.value)
	}
	return kinds[p.row.Type].parse(p, e.value)
}

// saveOnAccept is a value of edits.save. Whoever says never there means it.
func saveOnAccept(p *parser, have any, old jsontext.Value) (any, bool) {
	switch on, ok := p.boolean(old); {
	case ok && on == true && have == "auto":
		return "onAccept", true
	case ok && on == false && have == "onAccept":
		return "auto", true
	}
	return nil, false
}

// hooksEnabled switches hooks off, as false in their place does.
func hooksEnabled(p *parser, _ any, old jsontext.Value) (any, bool) {
	on, ok := p.boolean(old)
	return noHooks, ok && on == false
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]{1,100}$`)

// keyHeader goes before the key, if that has none.
func keyHeader(p *parser, have any, old jsontext.Value) (any, bool) {
	name, ok := p.text("it", old)
	switch key := have.(string); {
	case !ok:
		return nil, false
	case !headerName.MatchString(name):
		p.wrong("must be the name of an HTTP header, not %s", shown(old))
		return nil, false
	default:
		return name + ": " + key, key != "" && !strings.Contains(key, ": ")
	}
}

// keyVariable is the key as the variable that has it.
func keyVariable(p *parser, have any, old jsontext.Value) (any, bool) {
	name, ok := p.text("it", old)
	if ok && strings.ContainsAny(name, "{}=\x00") {
		p.wrong("must be the name of a variable, not %s", shown(old))
		return nil, false
	}
	return "${env:" + name + "}", ok && name != "" && have == ""
}
