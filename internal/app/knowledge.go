package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/redact"
	"github.com/sidecar-ls/sidecar-ls/internal/watch"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// knowledge is the project index of a core. It is made by the first question,
// and so is the watcher that keeps it up to date.
type knowledge struct {
	c        *core
	log      *slog.Logger
	resident bool   // the process stays: what changes is watched, and files are parsed
	told     func() // the status has changed; may be nil
	hide     *redact.Redactor

	mu     sync.Mutex
	index  *index.Index
	forks  []fork // of other trees, the last used one last
	closed bool
}

// guarded is what of a tree may be in an index.
func (k *knowledge) guarded(files workspace.Files) workspace.Files {
	return workspace.Guard(files, func(name string) bool { return k.c.settings.Dispatch().SensitiveOK(name) })
}

var errClosing = tools.Errorf(tools.Unavailable, "the server is closing")

var errNoKnowledge = tools.Errorf(tools.Unavailable, "the project index is switched off (sidecar.knowledge.enabled); use grep and search_files")

// open returns the index, or why there is none.
func (k *knowledge) open() (*index.Index, error) {
	if !k.c.settings.Now().Bool("knowledge.enabled") {
		return nil, errNoKnowledge
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return nil, errClosing
	case k.index == nil:
		o := index.Options{
			Files:    k.guarded(k.c.disk),
			Language: treesitter.Language,
			Hide:     func(text string) string { return k.c.known.hide.Text(text) },
			Store:    k.c.knowledgeStore(),
			MaxBytes: func() int64 { return int64(k.c.settings.Now().Int("knowledge.memoryMegabytes")) << 20 },
			Problem:  func(err error) { k.log.Warn("knowledge", "problem", err) },
		}
		if k.resident {
			o.Changes, o.Parse, o.Told, o.Meaning = (&following{watching: k.c.watching}).changes, k.parse, k.told, k.meaning()
			o.Share = func() int {
				if set := k.c.settings.Now(); set.Bool("knowledge.enabled") {
					return set.Int("knowledge.parsing.percent")
				}
				return 0
			}
			o.History = (&past{folders: k.c.disk.Folders(), options: k.c.repos.options, rest: 30 * time.Second, share: o.Share, atOnce: unitsAtOnce, store: o.Store, problem: o.Problem}).read
		}
		k.index = index.New(o)
	}
	return k.index, nil
}

// parse is what a parser says about a source.
func (k *knowledge) parse(ctx context.Context, lang string, src []byte) ([]pki.Symbol, error) {
	f, err := outliner{k.c.parsers}.parse(ctx, lang, src, false)
	return f.Symbols, err
}

// following asks a watcher what changed. The first call starts it: from then
// on nothing is missed.
type following struct {
	watching *watching

	mu   sync.Mutex
	feed *watch.Feed
}

func (f *following) changes(ctx context.Context) (names, dirs []string, lost bool, err error) {
	f.mu.Lock()
	if f.feed == nil {
		f.feed = f.watching.subscribe()
	}
	feed := f.feed
	f.mu.Unlock()
	if feed == nil {
		return nil, nil, true, watch.ErrClosed
	}
	b, err := feed.Sync(ctx)
	return b.Names, b.Dirs, b.Lost, err
}

// Status makes knowledge what the commands of the server ask.
func (k *knowledge) Status() (server.KnowledgeStatus, error) {
	x, err := k.open()
	if err != nil {
		return server.KnowledgeStatus{}, err
	}
	x.Start()
	s := x.Status()
	out := server.KnowledgeStatus{Files: s.Files, Symbols: s.Symbols, Ready: s.Ready, Skipped: s.Skipped, Generated: s.Generated, Bytes: s.Bytes, Looked: s.Looked, Parsed: s.Parsed, Parseable: s.Parseable, Error: s.Failed}
	if m := s.Meaning; m != nil {
		out.Embeddings = server.KnowledgeEmbeddings{State: m.State, Model: m.Model, Units: m.Units, Embedded: m.Embedded, Error: m.Err}
	}
	if !s.IndexedAt.IsZero() {
		out.IndexedAt = s.IndexedAt.UTC().Format(time.RFC3339)
	}
	return out, nil
}

// Rebuild forgets the index and begins anew.
func (k *knowledge) Rebuild() error {
	x, err := k.open()
	if err == nil {
		x.Rebuild()
	}
	return err
}

func (k *knowledge) close() error {
	k.mu.Lock()
	x, forks := k.index, k.forks
	k.closed = true
	k.mu.Unlock()
	var err error
	for _, f := range forks {
		err = errors.Join(err, f.close())
	}
	if x != nil {
		err = errors.Join(err, x.Close())
	}
	return err
}

// knowledgeVerbs are what can be done with the project index.
var knowledgeVerbs = map[string]func(context.Context, *cli) error{
	"search": searchKnowledge,
	"status": showKnowledge,
}

// knowledgeStatus asks what is in the index once all of it is there.
var knowledgeStatus = query[struct{}, server.KnowledgeStatus]{name: "knowledge status", answer: func(ctx context.Context, k *core, _ struct{}) (server.KnowledgeStatus, error) {
	if err := k.knowledge.wait(ctx); err != nil {
		return server.KnowledgeStatus{}, err
	}
	return k.knowledge.Status()
}}

// wait waits until every file was looked at.
func (k *knowledge) wait(ctx context.Context) error {
	x, err := k.open()
	if err != nil {
		return err
	}
	x.Start()
	select {
	case <-x.Ready():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func useKnowledge(ctx context.Context, c *cli) error {
	verb := "status"
	if len(c.args) > 0 {
		verb, c.args = c.args[0], c.args[1:]
	}
	f, ok := knowledgeVerbs[verb]
	switch {
	case !ok:
		return usagef("knowledge has no verb %q; it has search and status", verb)
	case verb == "search" && len(c.args) == 0:
		return usagef("knowledge search takes a question")
	case verb == "status" && len(c.args) > 0:
		return usagef("knowledge status takes no arguments, but got %q", c.args[0])
	}
	return f(ctx, c)
}

func searchKnowledge(ctx context.Context, c *cli) error {
	args, err := json.Marshal(map[string]any{"query": strings.Join(c.args, " "), "max_hits": c.max})
	if err != nil {
		return err
	}
	r := dispatch.Request{Name: "project_knowledge_search", Arguments: args}
	var status server.KnowledgeStatus
	if there, err := c.askThere(ctx, knowledgeStatus.name, struct{}{}, &status); err != nil {
		return err
	} else if there {
		return c.call(ctx, r, nil)
	}
	return c.call(ctx, r, func(k *core) error { return k.knowledge.wait(ctx) })
}

func showKnowledge(ctx context.Context, c *cli) error {
	s, err := ask(ctx, c, knowledgeStatus, struct{}{})
	if err != nil {
		return err
	}
	if c.json {
		return c.print(s)
	}
	fmt.Fprintf(c.Out, "%s, %s, %.1f MiB\n", tools.Count(s.Files, "file"), tools.Count(s.Symbols, "symbol"), float64(s.Bytes)/(1<<20))
	if s.Skipped > 0 {
		fmt.Fprintf(c.Out, "%s known by path alone: binary, minified, data or larger than %d KiB\n", tools.Count(s.Skipped, "file"), index.MaxSource>>10)
	}
	if s.Parseable > 0 {
		fmt.Fprintf(c.Out, "%d of %d source files are parsed; the symbols of the others come from their lines\n", s.Parsed, s.Parseable)
	}
	if s.Generated > 0 {
		fmt.Fprintf(c.Out, "%s generated: known by name, without the text\n", tools.Count(s.Generated, "file"))
	}
	return nil
}

// knowledgeStore keeps the index in the first root, if links allow that.
func (c *core) knowledgeStore() *index.Store {
	return &index.Store{Open: func(create bool) (*os.Root, error) {
		if create {
			if err := c.home.Prepare(); err != nil {
				return nil, err
			}
		}
		return c.home.Open(create, "cache")
	}}
}
