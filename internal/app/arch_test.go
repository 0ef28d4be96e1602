package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/policy"
)

const module = "github.com/sidecar-ls/sidecar-ls"

// may says which packages of ours each package may import, tests aside: first rooms that
// keep to less than their wing, then the wings, then what stands beside them. The first row
// that fits holds. A pattern that ends in /... stands for a tree. An edge that is missing
// here is a decision: add it only with its reason.
var may = []struct {
	pkg     string
	imports []string
	why     string
}{
	// Rooms that keep to less than their wing.
	{"internal/sys/proctree", nil, "the floor: processes are started and ended; which, and what for, is not known here"},
	{"internal/sys/shells", []string{"internal/sys/lookup", "internal/sys/proctree"}, "the floor: a shell is found and asked; what may run is not known here"},
	{"internal/sys/keyring", []string{"internal/sys/lookup", "internal/sys/proctree"}, "the floor: secrets are asked for, whatever they are for"},
	{"internal/rules/policy", nil, "the floor; pure"},
	{"internal/rules/policy/shell", []string{"internal/rules/policy"}, "reading a command line decides nothing about tools"},
	{"internal/rules/lockfile", nil, "the floor: texts are read; which command may run is not known here"},
	{"internal/rules/hooks", nil, "the floor: defines events and reads the answers of hooks; it does not know who starts them or who asks"},
	{"internal/rules/steps", nil, "the floor; pure"},
	{"internal/rules/session", []string{"internal/rules/steps"}, "a session is state, not behaviour"},
	{"internal/git/gitrepo/gitfile", nil, "the floor of repositories: their files, and nothing of what is in them"},
	{"internal/git/gitrepo/gitconfig", []string{"internal/git/gitrepo/gitfile"}, "settings are read from files; whose repository they are of is not known here"},
	{"internal/git/gitrepo/object", []string{"internal/files/workspace", "internal/git/gitrepo/gitfile"}, "objects are read from files; no settings, no references"},
	{"internal/git/gitrepo/index", []string{"internal/files/workspace", "internal/git/gitrepo/gitfile", "internal/sys/osfile"}, "an index is a file; what it is compared with is not known here"},
	{"internal/git/gitrepo/gitcmd", []string{"internal/sys/lookup", "internal/git/gitrepo/gitfile", "internal/git/gitrepo/gitconfig", "internal/git/gitrepo/index", "internal/sys/proctree"},
		"the git command is run by one table; what for is its callers' to say"},
	{"internal/git/gitrepo/rename", []string{"internal/git/gitrepo/object"}, "files are paired by what they hold; where they are from is not known here"},
	{"internal/git/gitrepo/worktree", []string{"internal/files/workspace", "internal/git/gitrepo", "internal/git/gitrepo/..."}, "linked worktrees are made of a repository; what for is not known here"},
	{"internal/git/gitrepo", []string{"internal/sys/lookup", "internal/files/workspace", "internal/text/diff", "internal/git/gitrepo/..."},
		"repositories know the ignore rules and the names of secrets, and nothing above"},
	{"internal/files/inventory", []string{"internal/files/workspace"}, "names alone, by the rules of the floor"},
	{"internal/files/checkpoint", []string{"internal/text/diff", "internal/files/workspace", "internal/sys/linelog"}, "what was changed is noted and taken back in a view; who changes it, and when, is not known here"},
	{"internal/wire/rpc", []string{"internal/text/outline"}, "one connection for all protocols over JSON-RPC; none of them is known here"},
	{"internal/wire/lsp", []string{"internal/wire/rpc"}, "a protocol is its types and its words for errors; the connection is rpc's"},
	{"internal/wire/acp", []string{"internal/wire/rpc"}, "a protocol is its types and its words for errors; the connection is rpc's"},
	{"internal/wire/model", nil, "the floor: wires to language models; who asks, and about what, is not known here"},
	{"internal/wire/agenthook", []string{"internal/files/workspace"}, "what agents tell their hooks, in the words of this project; who decides is the caller's matter"},
	{"internal/extend/plugin", []string{"internal/config", "internal/files/watch", "tools"}, "plugins are found, trusted and copied; what becomes of what they bring is its host's"},
	{"internal/extend/trust", []string{"internal/config", "internal/text/diff", "internal/rules/hooks", "internal/skills"}, "what trusted folders said is kept and compared; who asks about a change, and what holds until then, is not known here"},
	{"internal/extend/mcp/source", []string{"internal/sys/lookup", "internal/sys/retry", "internal/sys/keyring", "internal/wire/model", "tools", "tools/editor", "internal/config", "internal/text/redact", "internal/files/workspace"},
		"servers bring tools; how they are started is not known here"},
	{"internal/gate/dispatch", []string{"internal/gate/effects", "internal/rules/hooks", "tools", "internal/files/workspace", "internal/rules/lockfile", "internal/rules/policy/...", "internal/text/redact", "internal/rules/session", "internal/rules/events", "internal/text/diff", "internal/rules/auditlog", "internal/sys/retry"},
		"the gate knows neither LSP nor the queue that changes may go to"},
	{"internal/gate/precheck", []string{"internal/files/workspace", "internal/langserver", "internal/rules/session", "internal/gate/dispatch", "internal/config", "internal/text/redact", "pendingedits"},
		"language servers are asked about pending edits; who shows the answer is not known here"},
	{"internal/gate/batchcommit", []string{"internal/git/gitrepo", "internal/files/workspace", "pendingedits"}, "the queue says what is to be committed; how that is done is git's"},
	{"internal/gate/always", []string{"internal/config", "internal/files/workspace", "internal/gate/live", "internal/rules/auditlog", "internal/rules/lockfile", "internal/rules/policy", "internal/rules/policy/shell", "internal/text/redact", "internal/rules/hosts"},
		"rules are proposed by what people answered before; who is asked about one is not known here"},
	{"internal/gate/shadowsetup", []string{"internal/config", "internal/files/workspace", "internal/gate/dispatch", "internal/gate/live", "internal/rules/session", "internal/text/redact", "shadow", "tools"},
		"a setup is read, and run through the gate; who wants the shadow, and who is asked, is not known here"},
	{"internal/gate/sessionview", []string{"internal/files/workspace", "pendingedits", "tools"}, "a session sees views; whose they are is not known here"},
	{"internal/box/sandbox/spec", nil, "the floor: what is asked for is a value; how it is held is not known here"},
	{"internal/box/sandbox/child", nil, "the floor: how a process is handed what it needs; what it does is not known here"},
	{"internal/box/sandbox/rights", []string{"internal/box/sandbox/child", "internal/box/sandbox/spec"}, "a process takes its own rights away, by a plan; who makes the plan is not known here"},
	{"internal/box/sandbox/mount", []string{"internal/box/sandbox/child", "internal/box/sandbox/spec"}, "overlays are made of directories; which ones, and for whom, is not known here"},
	{"internal/box/net", []string{"internal/box/sandbox/child", "internal/sys/netaddr"}, "a session has a localhost; what runs there, and how it is confined, is not known here"},
	{"internal/box/sandbox/keeper", []string{"internal/box/net", "internal/box/sandbox/child", "internal/box/sandbox/rights", "internal/box/sandbox/spec"}, "programs are started and their trees ended; how they are confined is their caller's matter"},
	{"internal/box/sandbox/mask", []string{"internal/box/sandbox/child", "internal/box/sandbox/mount", "internal/box/sandbox/spec"}, "what is seen is made of a Spec; what is run there is not known here"},
	{"internal/box/sandbox/probe", []string{"internal/sys/lookup", "internal/box/sandbox/child", "internal/box/sandbox/keeper", "internal/box/sandbox/mask", "internal/box/sandbox/rights", "internal/box/sandbox/spec"}, "levels are tried by commands; how one is confined is its caller's matter"},
	{"internal/box/sandbox", []string{"internal/sys/lookup", "internal/sys/proctree", "internal/box/net", "internal/box/sandbox/..."}, "the floor: it confines what it is given, and decides nothing"},
	{"internal/exec/worker", []string{"internal/sys/proctree", "internal/files/workspace", "pki", "pki/treesitter", "tools/web"}, "what runs in a process of its own is parsing and nothing else"},
	{"internal/agents/loop", []string{"internal/wire/model", "internal/agents/conversation", "internal/rules/steps", "internal/files/workspace", "internal/sys/linelog"},
		"the loop: a model is asked and its calls are made; what tools there are, and who decides on them, is its host's"},
	{"internal/agents/conversation", []string{"internal/text/picture", "internal/sys/filelock", "internal/sys/linelog", "internal/sys/osfile"}, "the floor: conversations and their journals; which agent, and how it is talked to, is its driver's"},
	{"internal/agents/acpdriver", []string{"internal/wire/acp", "internal/agents/conversation"}, "one protocol's words in those of a run; neither knows the other"},
	{"internal/agents/acpserver", []string{"internal/wire/acp", "internal/wire/rpc", "internal/agents/conversation"}, "a run in one protocol's words; whose run it is, and where it works, is not known here"},
	{"internal/agents/models", []string{"internal/sys/lookup", "internal/sys/keyring", "internal/config", "internal/wire/model", "internal/sys/retry", "tools", "tools/system"},
		"language models are found by their profiles; who asks them, and what, is not known here"},
	{"internal/agents/profile", []string{"internal/rules/hosts", "internal/sys/osfile", "internal/sys/userdirs", "internal/config"}, "what is known of agents' programs, as data"},
	{"internal/agents/adapter", []string{"internal/agents/profile", "internal/sys/lookup", "internal/sys/proctree", "internal/sys/userdirs"}, "programs are found and installed; what they are started for is not known here"},
	{"internal/agents/evals", []string{"internal/sys/lookup", "internal/sys/osfile"}, "tasks, and what came of them; how agents and commands are run is not known here"},
	{"internal/doors/handover", []string{"internal/sys/localsock"}, "passes streams from process to process; it does not read them"},
	{"internal/doors/peers", []string{"internal/sys/proctree"}, "the floor: who may decide is asked of the system, and of one table; what they decide is not known here"},
	{"internal/doors/attach", []string{"internal/doors/peers", "internal/sys/userdirs", "internal/sys/filelock", "internal/sys/localsock"},
		"the floor: processes find each other, and what they say is not known here"},
	{"internal/doors/ide", []string{"internal/doors/peers", "internal/text/diff", "internal/gate/dispatch", "internal/langserver", "internal/rules/policy", "internal/rules/session", "internal/files/workspace", "pendingedits", "tools", "internal/sys/osfile"},
		"an agent's own edits go through the gate and the queue; which editor shows them is not known here"},
	{"internal/doors/mcp/endpoint", []string{"internal/wire/agenthook", "internal/skills", "internal/gate/offered", "internal/gate/dispatch", "internal/rules/events", "internal/rules/session", "internal/doors/attach", "internal/doors/peers", "internal/config", "internal/text/redact", "tools", "tools/editor"},
		"an agent gets a session and the dispatcher, as every other caller"},
	{"internal/doors/setup", []string{"internal/sys/lookup", "internal/sys/userdirs", "internal/wire/agenthook", "editors", "internal/text/diff", "internal/sys/osfile", "internal/sys/proctree"},
		"clients are files to be changed; who asks the person, and what the server does, is not known here"},

	// The wings, from the floor up.
	{"internal/sys/...", []string{"internal/sys/..."}, "the floor: what systems do differently; what it is for is not known here"},
	{"internal/text/...", nil, "the floor: pure functions over text and bytes"},
	{"internal/files/...", []string{"internal/sys/...", "internal/text/...", "internal/files/..."}, "files are read and followed; who asks, and who may, is not known here"},
	{"internal/rules/...", []string{"internal/sys/..."}, "what may happen is decided and what did is kept; nothing is run here"},
	{"internal/config", []string{"internal/sys/...", "internal/rules/policy", "internal/rules/hosts"}, "the names of the modes are policy's, and how hosts are written is known in one place; nothing else above the floor"},
	{"internal/git/...", []string{"internal/sys/...", "internal/files/...", "internal/git/..."}, "repositories are read and written; which tool or agent wants it is not known here"},
	{"internal/wire/...", nil, "bytes become types and back; what is done about them is not known here"},
	{"internal/box/...", []string{"internal/sys/...", "internal/files/...", "internal/git/gitrepo/object", "internal/box/..."},
		"processes are held and what they write is kept; what each may see is not decided here"},
	{"internal/extend/...", []string{"internal/sys/...", "internal/text/...", "internal/rules/...", "internal/config", "internal/skills", "internal/extend/...", "tools", "tools/shell"},
		"what users bring is found, trusted and read; how it is confined, and who calls it, is not known here"},
	{"internal/gate/...", []string{"internal/sys/...", "internal/text/...", "internal/files/...", "internal/rules/...", "internal/config", "internal/skills", "internal/extend/trust", "internal/gate/...", "pendingedits", "tools", "tools/agents", "tools/system"},
		"the way of a call; it knows neither LSP nor how processes are confined"},
	{"internal/exec/...", []string{"internal/sys/...", "internal/files/...", "internal/rules/...", "internal/git/...", "internal/box/...", "internal/config", "internal/langserver", "internal/extend/mcp/source", "internal/gate/...", "internal/exec/...", "tools", "tools/shell"},
		"processes are started with what they may see; who wants them is not known here"},
	{"internal/doors/...", nil, "each door has a row of its own: whoever comes in gets a session and the gate, as every other caller"},
	{"internal/agents/...", []string{"internal/sys/...", "internal/text/...", "internal/files/...", "internal/rules/...", "internal/wire/...", "internal/skills", "internal/gate/...", "internal/exec/...", "internal/agents/...", "tools", "tools/agents"},
		"an agent is ours or a program, in a session, driven as a run; who asks for it is not known here"},
	{"internal/skills", []string{"internal/config", "internal/files/watch", "internal/files/workspace"}, "finds and reads skills; it does not know who uses them"},
	{"internal/langserver", []string{"internal/sys/lookup", "internal/wire/lsp", "internal/files/workspace", "internal/config", "internal/files/watch", "internal/files/textindex"},
		"language servers are asked about views; who asks, and how they are started, is not known here"},
	{"internal/app/serve", []string{"internal/gate/effects", "internal/gate/shadowsetup", "internal/sys/userdirs", "internal/agents/adapter", "server", "server/client", "server/commands", "internal/extend/trust", "internal/skills", "internal/gate/offered", "internal/files/checkpoint", "internal/wire/acp", "internal/agents/acpserver", "internal/agents/loop", "internal/agents", "internal/rules/policy", "internal/rules/session", "shadow", "tools", "tools/agents", "internal/exec/confine", "internal/doors/mcp/endpoint", "internal/agents/profile", "internal/exec/program", "internal/agents/conversation", "internal/app", "internal/doors/attach", "internal/doors/peers", "internal/agents/models", "internal/gate/live", "internal/gate/always", "internal/config", "internal/gate/dispatch", "internal/doors/ide", "internal/langserver", "internal/app/indexing", "internal/extend/mcp/source", "internal/text/redact", "internal/doors/setup", "internal/sys/version", "internal/files/workspace", "pendingedits", "pki", "tools/editor"},
		"an editor's client, as the server knows it"},
	{"internal/app/indexing", []string{"internal/files/workspace", "internal/files/watch", "internal/git/gitrepo", "internal/exec/worker", "internal/config", "internal/text/redact", "internal/sys/statedir", "pki/...", "tools", "tools/fs"},
		"the project index is brought what it is made of; who asks it is not known here"},
	{"internal/app/cli", []string{"..."}, "a sub-command may ask any part of the workspace"},
	{"internal/app", []string{"..."}, "the one place that builds everything"},
	{"internal/release", nil, "what is released is made from the outside: it runs compilers and packers, is a module of its own, and imports nothing of ours"},
	{"internal/test/...", []string{"..."}, "test code may look everywhere"},

	// The contract of a tool, its families, and the domain.
	{"cmd/sidecar-ls", []string{"internal/app/cli"}, "main is a wrapper, so that all behaviour can be imported and tested"},
	{"server/client", []string{"internal/wire/lsp", "internal/files/workspace", "internal/gate/dispatch"}, "the editor is asked and told; about what is not known here"},
	{"server/documents", []string{"server/client", "internal/wire/lsp", "internal/files/workspace", "internal/langserver", "internal/text/diff"}, "open texts are a view; what is read and changed in it is not known here"},
	{"server/review", []string{"server/client", "server/documents", "internal/wire/lsp", "internal/files/workspace", "internal/langserver", "internal/agents/conversation", "pendingedits", "tools"},
		"the queue as an editor shows it; other commands are not known here"},
	{"server/commands", []string{"internal/gate/effects", "internal/gate/shadowsetup", "internal/exec/ports", "server/client", "server/documents", "server/review", "internal/agents", "internal/agents/conversation", "internal/agents/loop", "internal/rules/hooks", "internal/rules/session", "internal/extend/plugin", "internal/extend/mcp/source", "internal/wire/lsp", "internal/gate/dispatch", "internal/gate/verify", "internal/files/workspace", "internal/sys/osfile", "tools", "pendingedits", "shadow"},
		"each command works on the part that it needs; it knows no tool by name and no policy"},
	{"server", []string{"server/...", "internal/extend/mcp/source", "internal/rules/steps", "internal/rules/events", "internal/wire/lsp", "internal/gate/dispatch", "internal/files/workspace", "internal/agents/conversation", "tools", "pki"},
		"the border to LSP translates; it knows no tool by name and no policy"},
	{"pendingedits/internal/wal", []string{"internal/sys/filelock", "internal/sys/osfile"}, "a log keeps bytes; what a record says is not known here"},
	{"pendingedits/internal/hunk", []string{"internal/text/diff"}, "pure functions over lines"},
	{"pendingedits", []string{"internal/files/workspace", "internal/text/diff", "internal/sys/filelock", "pendingedits/internal/..."},
		"the queue is a view; it knows neither editors nor sessions"},
	{"shadow", []string{"internal/sys/lookup", "internal/files/workspace", "internal/git/gitrepo", "internal/git/gitrepo/...", "internal/text/diff", "internal/sys/filelock", "internal/sys/osfile"},
		"a shadow is a working tree and a view; it knows neither sessions nor the queue"},
	{"tools/git", []string{"tools", "internal/files/workspace", "internal/git/gitrepo", "internal/git/gitrepo/..."},
		"arguments, words and shapes over gitrepo"},
	{"pki/terms", nil, "words and identifiers; pure"},
	{"pki/scan", []string{"pki"}, "a scanner knows sources and nothing of where they are from"},
	{"pki/segment", []string{"pki", "pki/scan", "pki/terms"}, "what is kept about files; it reads none"},
	{"pki/history", []string{"pki/terms"}, "what commits say; where they come from is no matter to it"},
	{"pki/touched", []string{"pki/scan", "pki/history", "internal/text/diff"}, "two texts are compared, wherever they are from"},
	{"pki/rank", []string{"pki", "pki/segment", "pki/history", "pki/terms"}, "an order is made of segments and what commits say of their files"},
	{"pki/imports", nil, "paths lead to paths, over whatever tree"},
	{"pki/embed", nil, "vectors come from an endpoint, whatever they are of"},
	{"pki/index", []string{"pki", "pki/scan", "pki/segment", "pki/history", "pki/rank", "pki/embed", "pki/imports", "pki/terms", "internal/files/workspace", "internal/sys/osfile"},
		"the index knows views, and neither parsers nor tools nor LSP"},
	{"pki/treesitter", []string{"pki", "pki/scan"}, "cgo stays in one package; a build without it reads lines"},
	{"pki/references", []string{"pki", "pki/imports", "internal/files/workspace"}, "references are found over a view, with whatever parser is at hand"},
	{"pki", nil, "the index knows no tool and no LSP"},
	{"tools/agents", []string{"tools", "internal/rules/steps", "internal/skills"}, "arguments and words; who works, and how, is the Team's"},
	{"tools", []string{"internal/files/workspace", "internal/text/picture"}, "the contract of a tool has files and pictures in it and nothing else"},
	{"tools/search/internal/...", nil, "pure functions over text"},
	{"tools/search", []string{"tools", "internal/files/workspace", "pki", "pki/references", "pki/index", "internal/files/textindex", "tools/search/internal/dfa"},
		"symbols are found by pki, the files to read by textindex; the tool has the arguments, the matching and the words"},
	{"tools/fs/internal/...", []string{"internal/text/diff", "tools/fs/internal/..."}, "pure functions over text"},
	{"tools/shell/internal/...", []string{"tools/shell/internal/..."}, "pure functions over text and the names of files"},
	{"tools/shell", []string{"internal/sys/lookup", "internal/sys/shells", "tools", "internal/files/workspace", "tools/shell/internal/..."},
		"commands are started by whoever confines them"},
	{"tools/editor", []string{"tools", "internal/files/workspace", "internal/langserver"}, "arguments, words and shapes over language servers"},
	{"tools/web", []string{"tools", "internal/files/workspace", "internal/sys/netaddr", "internal/sys/retry"}, "arguments, words and pages over HTTP"},
	{"tools/...", []string{"tools", "internal/files/workspace", "internal/text/diff", "tools/fs/internal/..."}, "a tool knows no sibling, no mode, no client, and writes nothing"},
	{"editors", nil, "plug-ins are files; who writes them where is not known here"},
	{"docs", []string{"editors", "internal/text/manual"}, "documents are files; who reads them where is not known here"},
	{"docs/man", []string{"docs", "internal/text/manual"}, "a tool that writes the documents in another form"},
	{"bench/...", []string{"..."}, "so may benchmarks"},
}

// only names imports that belong to one package, or to a few: from outside, and of ours
// where the rows above say "...".
var only = map[string]struct{ pkg, why string }{
	module + "/internal/wire/model":     {"internal/agents/loop internal/agents/models internal/extend/mcp/source", "a model is asked by the agent, or by an MCP server with its user's word, and found by its profile"},
	module + "/internal/wire/rpc":       {"internal/wire/lsp internal/wire/acp internal/agents/acpserver", "its users are protocols, and the side of one that has no room of its own"},
	"go.lsp.dev/protocol":               {"internal/wire/lsp", "wire types stay at the wire"},
	"go.lsp.dev/jsonrpc2":               {"internal/wire/rpc", "one way to read JSON-RPC"},
	"github.com/sergi/go-diff":          {"internal/text/diff", "one way to compare texts"},
	"github.com/smacker/go-tree-sitter": {"pki/treesitter", "its trees must never escape"},
	"github.com/google/jsonschema-go":   {"tools", "one way from struct to schema"},
	"github.com/go-git/go-git":          {"internal/git/gitrepo/... shadow internal/app/indexing", "one way into repositories; shadow and indexing use the types of its plumbing"},
	"mvdan.cc/sh":                       {"internal/rules/policy/shell internal/extend/trust", "one reader of command lines for what agents run; one for the files that hooks name, which knows their variables"},
	"github.com/JohannesKaufmann":       {"tools/web", "pages are read in one place"},
	"github.com/ledongthuc/pdf":         {"internal/exec/worker", "its process has limits, and nobody else has"},
	"github.com/tailscale/hujson":       {"internal/doors/setup", "files of others are changed in one place"},
	"github.com/pelletier/go-toml/v2":   {"internal/doors/setup internal/gate/shadowsetup internal/rules/lockfile", "files of others are changed in one place, their setups read in one, and lock files in one"},
	"github.com/shirou/gopsutil":        {"tools/system", "one view of the machine"},
	"github.com/modelcontextprotocol":   {"internal/doors/mcp/endpoint internal/extend/mcp/source internal/doors/ide", "the wire stays at the wire"},
	"github.com/coder/websocket":        {"internal/doors/ide", "the wire stays at the wire"},
	"github.com/fsnotify/fsnotify":      {"internal/files/watch", "one place that knows what events leave out"},
	"golang.org/x/sys/unix":             {"internal/files/workspace internal/box/net internal/box/sandbox/... internal/box/world internal/doors/attach internal/doors/peers internal/sys/osfile", "raw system calls stay below the view, in what systems do differently, where processes are confined, and where they say whose they are"},
	"github.com/Microsoft/go-winio":     {"internal/sys/localsock", "one way to reach another process"},
	"golang.org/x/text/encoding":        {"internal/sys/shells", "one way from what programs print to UTF-8"},
	"golang.org/x/net/bpf":              {"internal/box/sandbox/rights", "one filter of system calls"},
	"golang.org/x/net/html":             {"tools/web", "pages are read in one place"},
}

// TestImports keeps the import rules of ARCHITECTURE.md.
func TestImports(t *testing.T) {
	checked := 0
	used := map[string]bool{}       // packages and prefixes that some row is about
	granted := map[[2]string]bool{} // by row and pattern: an import needs it
	for pkg, imports := range importGraph(t) {
		rule := -1
		for i, m := range may {
			if matches(m.pkg, pkg) {
				used[m.pkg] = true
				rule = i
				break
			}
		}
		if rule < 0 {
			t.Errorf("%s has no rule: give it a row in this test and a line in ARCHITECTURE.md", pkg)
			continue
		}
		for _, imp := range imports {
			checked++
			if ours, ok := strings.CutPrefix(imp, module+"/"); ok {
				fits := false
				for _, p := range may[rule].imports {
					if matches(p, ours) {
						fits, granted[[2]string{may[rule].pkg, p}] = true, true
					}
				}
				if !fits {
					t.Errorf("%s imports %s: %s", pkg, ours, may[rule].why)
				}
			}
			for prefix, o := range only {
				if imp == prefix || strings.HasPrefix(imp, prefix+"/") {
					used[prefix] = true
				}
				inTest := strings.HasPrefix(pkg, "internal/test") || strings.HasPrefix(pkg, "bench")
				if (imp == prefix || strings.HasPrefix(imp, prefix+"/")) && !slices.ContainsFunc(strings.Fields(o.pkg), func(p string) bool { return matches(p, pkg) }) && !inTest {
					t.Errorf("%s imports %s, which belongs to %s: %s", pkg, imp, o.pkg, o.why)
				}
			}
		}
	}
	if checked < 50 {
		t.Fatalf("only %d imports were looked at", checked)
	}
	for _, m := range may {
		if !used[m.pkg] {
			t.Errorf("there is no package %s: take its row out", m.pkg)
		}
		for _, p := range m.imports {
			if !granted[[2]string{m.pkg, p}] && p != "..." {
				t.Errorf("%s imports nothing of %s: take it out of the row", m.pkg, p)
			}
		}
	}
	for prefix := range only {
		if !used[prefix] {
			t.Errorf("nothing imports %s: take its row out", prefix)
		}
	}
}

func matches(pattern, pkg string) bool {
	tree, isTree := strings.CutSuffix(pattern, "...")
	return pkg == pattern || isTree && strings.HasPrefix(pkg+"/", tree)
}

// state is the mutable package variables that there may be, with the reason why
// two servers in one process can share each.
var state = map[string]string{
	"internal/wire/rpc.framePool":         "buffers of messages that were written",
	"internal/git/gitrepo/object.readers": "readers of objects that were read",
	"pki/rank.describing":                 "a table, read by its address because a copy would cost more",
}

// TestNoState keeps init functions and mutable package variables out: two
// servers run in one process. A variable is mutable when something assigns to
// it, or to a part of it, or takes its address, or when it is a lock, a pool or
// an atomic value.
func TestNoState(t *testing.T) {
	type variable struct {
		name string // of the file
		sync bool
	}
	declared := map[string]map[string]variable{} // by package and name
	var files []*ast.File
	var of []string // the packages of files
	eachFile(t, func(pkg, name string, f *ast.File) {
		files, of = append(files, f), append(of, pkg)
		if declared[pkg] == nil {
			declared[pkg] = map[string]variable{}
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", name)
			}
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				for _, n := range v.Names {
					declared[pkg][n.Name] = variable{name, isSync(v)}
				}
			}
		}
	})
	if len(files) < 50 {
		t.Fatalf("only %d files were looked at", len(files))
	}
	found := map[string]string{}
	for pkg, names := range declared {
		for n, v := range names {
			if v.sync {
				found[pkg+"."+n] = v.name
			}
		}
	}
	for i, f := range files {
		pkg := of[i]
		changed := func(e ast.Expr) {
			id := root(e)
			if id == nil || id.Name == "_" {
				return
			}
			v, ok := declared[pkg][id.Name]
			if local := id.Obj != nil && id.Obj.Kind == ast.Var && !packageLevel(f, id.Obj); ok && !local {
				found[pkg+"."+id.Name] = v.name
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, l := range n.Lhs {
						changed(l)
					}
				}
			case *ast.IncDecStmt:
				changed(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					if _, ok := n.X.(*ast.Ident); ok {
						changed(n.X)
					}
				}
			}
			return true
		})
	}
	for v, file := range found {
		if pkg, _, _ := strings.Cut(v, "."); strings.HasPrefix(pkg, "bench") || strings.HasPrefix(pkg, "internal/test") {
			continue
		}
		if _, ok := state[v]; !ok {
			t.Errorf("%s: %s can change: two servers in one process would share it", file, v)
		}
	}
	for v := range state {
		if _, ok := found[v]; !ok {
			t.Errorf("%s is no mutable variable: take its row out", v)
		}
	}
}

// isSync reports whether a variable is a lock, a pool or an atomic value.
func isSync(v *ast.ValueSpec) bool {
	exprs := append([]ast.Expr{v.Type}, v.Values...)
	for _, e := range exprs {
		if lit, ok := e.(*ast.CompositeLit); ok {
			e = lit.Type
		}
		if index, ok := e.(*ast.IndexExpr); ok {
			e = index.X
		}
		if sel, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && (x.Name == "sync" || x.Name == "atomic") {
				return true
			}
		}
	}
	return false
}

// root is the variable that an expression is a part of, if it is one.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// packageLevel reports whether an object is declared outside of functions.
func packageLevel(f *ast.File, o *ast.Object) bool { //nolint:staticcheck // what a file alone can tell is enough here
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Pos() <= o.Pos() && o.Pos() < fn.End() {
			return false
		}
	}
	return true
}

// TestModesAreRows: a mode is a row of a table, so nothing outside of the table
// asks which one it is.
func TestModesAreRows(t *testing.T) {
	names := map[string]bool{}
	for _, m := range policy.Modes() {
		names[m.Name] = true
	}
	isName := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return false
		}
		text, err := strconv.Unquote(lit.Value)
		return err == nil && names[text]
	}
	isMode := func(e ast.Expr) bool {
		if call, ok := e.(*ast.CallExpr); ok {
			e = call.Fun
		}
		id, _ := e.(*ast.Ident)
		if sel, ok := e.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && sel.Sel.Name == "Name" && strings.Contains(strings.ToLower(x.Name), "mode") {
				return true // mode.Name
			}
			id = sel.Sel
		}
		return id != nil && strings.Contains(strings.ToLower(id.Name), "mode")
	}
	look := func(name string, f *ast.File, report func(at string)) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if (n.Op == token.EQL || n.Op == token.NEQ) && (isMode(n.X) && isName(n.Y) || isMode(n.Y) && isName(n.X)) {
					report(name)
				}
			case *ast.SwitchStmt:
				if n.Tag == nil || !isMode(n.Tag) {
					return true
				}
				for _, c := range n.Body.List {
					if slices.ContainsFunc(c.(*ast.CaseClause).List, isName) {
						report(name)
					}
				}
			}
			return true
		})
	}
	eachFile(t, func(pkg, name string, f *ast.File) {
		if strings.HasPrefix(pkg, "internal/test") || strings.HasPrefix(pkg, "bench") {
			return
		}
		look(name, f, func(at string) { t.Errorf("%s asks for a mode by its name: give the table of modes a column", at) })
	})
	for _, code := range []string{`m.Mode() == "review"`, `"plan" != mode`, `mode.Name == "audit"`} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		control := false
		look("x.go", f, func(string) { control = true })
		if !control {
			t.Errorf("the control %s is not found", code)
		}
	}
}

// TestPackageComments wants exactly one sentence of purpose per package.
func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	eachFile(t, func(pkg, name string, f *ast.File) {
		comments[pkg] += 0
		if f.Doc != nil && strings.HasPrefix(f.Doc.Text(), "Package "+f.Name.Name) || f.Doc != nil && f.Name.Name == "main" {
			comments[pkg]++
		}
	})
	for pkg, n := range comments {
		if n != 1 {
			t.Errorf("%s has %d package comments, want one", pkg, n)
		}
	}
}

// TestStdoutIsTheProtocols: only the command line may print.
func TestStdoutIsTheProtocols(t *testing.T) {
	eachFile(t, func(pkg, name string, f *ast.File) {
		if strings.HasPrefix(pkg, "internal/test") || strings.HasPrefix(pkg, "bench") || pkg == "cmd/sidecar-ls" || pkg == "internal/release" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && (x.Name == "os" && sel.Sel.Name == "Stdout" || x.Name == "fmt" && (sel.Sel.Name == "Println" || sel.Sel.Name == "Printf" || sel.Sel.Name == "Print")) {
				t.Errorf("%s uses %s.%s", name, x.Name, sel.Sel.Name)
			}
			return true
		})
	})
}

// importGraph gives the imports of every package, tests aside.
func importGraph(t *testing.T) map[string][]string {
	graph := map[string][]string{}
	eachFile(t, func(pkg, name string, f *ast.File) {
		graph[pkg] = slices.Clip(graph[pkg])
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			graph[pkg] = append(graph[pkg], imp)
		}
	})
	return graph
}
