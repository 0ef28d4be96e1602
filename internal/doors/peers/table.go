package peers

import "strings"

// need is who may do something.
type need int

const (
	person need = iota // what is not in the table needs a person, too
	anyone             // who calls tools, too
)

// table is who may do what: each command of the command line, or a verb of it in the
// place of the command, and each query that command lines put to a server. A test
// compares the two with it.
//
// Callers get what calling tools takes, and what only reads what a tool would show.
// They serve no editor: whoever is an editor answers questions and has settings.
var table = map[string]need{
	"serve": person,
	"acp":   person, // its client answers questions
	"mcp":   anyone, "mcp sign-in": person,

	"call":  anyone,
	"tools": anyone, "tools list": anyone, "tools show": anyone,
	"skill": anyone, "skill list": anyone, "skill show": anyone,
	"knowledge": anyone, "knowledge status": anyone,
	"policy": anyone, "policy explain": anyone, "policy suggest": person, "policy add": person,

	"review": person, "review list": person, "review diff": person, "review history": person,
	"review accept": person, "review reject": person, "review undo": person, "review redo": person, "review verify": person,
	"review output list": person, "review output accept": person, "review output drop": person, "review output build": person,
	"shadow": person, "shadow create": person, "shadow setup": person, "shadow plan": person, "shadow take": person, "shadow fill": person, "shadow list": person, "shadow diff": person, "shadow merge": person, "shadow discard": person,

	"run": person, "agent": person, // the mode, the profile and the answers are chosen there

	"port": person, "port list": person, "port may": person, "port open": person, "port close": person, // pages of a session's run in the person's browser

	"trust":  person,
	"mode":   person,
	"plugin": person, "plugin list": person, "plugin set": person, "plugin reload": person,
	"hook": person, "hook list": person, "hook test": person,
	"hook permit": anyone, "hook claude": anyone, "hook codex": anyone, "hook gemini": anyone, // the policy decides there, as for a call
	"setup": person, "uninstall": person,
	"audit": person, "audit list": person, "audit verify": person, "audit effects": person,

	"doctor": anyone, "completion": anyone,
}

// required is the row of a name, or else that of the command that it begins with.
func required(name string) need {
	if n, ok := table[name]; ok {
		return n
	}
	command, _, _ := strings.Cut(name, " ")
	return table[command]
}

// Known reports whether something has a row of its own.
func Known(name string) bool {
	_, ok := table[name]
	return ok
}
