package own_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	told "github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/realmodel"
)

// act is a part of a story: what the model does, where the test plays it, or what the
// person does.
type act struct {
	model  func(k *e2e.Talks)
	person func(c *e2e.Conversation)
}

// story is a task from its prompt to its end, which any model can be given that is good
// enough: how it comes about is up to the model, but not what comes of it.
type story struct {
	name, mode string
	prompt     string // a single line, by which the turns of a played model are told apart
	files      map[string]string
	acts       []act
	seen       map[string]string // what tools see at the end; "": no such file
	disk       map[string]string // what the disk has that the files above are not
}

// turnOf is a turn of a model that is played, of the agent whose task says a word.
func turnOf(word string, calls ...clients.Called) act {
	return act{model: func(k *e2e.Talks) {
		if turn := k.Of(word); len(calls) > 0 {
			turn.CallAllOwn(calls...)
		} else {
			turn.End()
		}
	}}
}

func uses(tool string, args e2e.Object) clients.Called { return clients.Called{Tool: tool, Args: args} }

// answers waits for a question and answers it.
func answers(pick func(q told.Event) string) act {
	return act{person: func(c *e2e.Conversation) { q := c.Asked(); c.Reply(q, pick(q)) }}
}

func says(text string) act {
	return act{person: func(c *e2e.Conversation) { c.Tell(text, nil) }}
}

func ends(times int) act {
	return act{person: func(c *e2e.Conversation) {
		c.T.Helper()
		if reason, why, said := c.Stopped(times); reason != told.Done {
			c.T.Fatalf("it ended by %s (%s) and says %s", reason, why, said)
		}
	}}
}

var stories = []story{{
	name: "an edit is reviewed", mode: "review",
	prompt: "There is a spelling mistake in colours.txt. Correct it there, and change nothing else.",
	files:  map[string]string{"colours.txt": "red\ngrean\nblue\n", "other.txt": "grean\n"},
	acts: []act{
		turnOf("spelling mistake", uses("read_file", e2e.Object{"path": "colours.txt"})),
		turnOf("spelling mistake", uses("write_file", e2e.Object{"path": "colours.txt", "content": "red\ngreen\nblue\n"})),
		turnOf("spelling mistake"), ends(1),
	},
	seen: map[string]string{"colours.txt": "red\ngreen\nblue\n", "other.txt": "grean\n"},
}, {
	name: "an edit is made", mode: "autonomous",
	prompt: "There is a spelling mistake in colours.txt. Correct it there, and change nothing else.",
	files:  map[string]string{"colours.txt": "red\ngrean\nblue\n", "other.txt": "grean\n"},
	acts: []act{
		turnOf("spelling mistake", uses("edit_file", e2e.Object{"path": "colours.txt", "edits": []e2e.Object{{"search": "grean", "replace": "green"}}})),
		turnOf("spelling mistake"), ends(1),
	},
	seen: map[string]string{"colours.txt": "red\ngreen\nblue\n"},
	disk: map[string]string{"colours.txt": "red\ngreen\nblue\n"},
}, {
	name: "files are made, moved and deleted", mode: "review",
	prompt: "Delete old.txt, rename here.txt to there.txt, and write a file new.txt with the single line: new",
	files:  map[string]string{"old.txt": "old\n", "here.txt": "here\n"},
	acts: []act{
		turnOf("Delete old.txt", uses("delete_file", e2e.Object{"path": "old.txt"}), uses("move_file", e2e.Object{"from": "here.txt", "to": "there.txt"}), uses("write_file", e2e.Object{"path": "new.txt", "content": "new\n"})),
		turnOf("Delete old.txt"), ends(1),
	},
	seen: map[string]string{"old.txt": "", "here.txt": "", "there.txt": "here\n", "new.txt": "new\n"},
}, {
	name: "a command sees what is pending", mode: "review",
	prompt: "First change the word in word.txt to: second. Then run the command: sh shout.sh",
	files:  map[string]string{"word.txt": "first\n", "shout.sh": "tr a-z A-Z < word.txt > shouted.txt\n"},
	acts: []act{
		turnOf("sh shout.sh", uses("write_file", e2e.Object{"path": "word.txt", "content": "second\n"})),
		turnOf("sh shout.sh", uses("run_command", e2e.Object{"command": "sh shout.sh"})),
		turnOf("sh shout.sh"), ends(1),
	},
	seen: map[string]string{"word.txt": "second\n", "shouted.txt": "SECOND\n"},
}, {
	name: "the user is asked", mode: "review",
	prompt: "Ask me with the tool ask_user which colour I like, and write nothing but my answer into the file colour.txt.",
	files:  map[string]string{"other.txt": "x\n"},
	acts: []act{
		turnOf("which colour I like", uses("ask_user", e2e.Object{"question": "Which colour do you like?"})),
		answers(func(told.Event) string { return "ochre" }),
		turnOf("which colour I like", uses("write_file", e2e.Object{"path": "colour.txt", "content": "ochre\n"})),
		turnOf("which colour I like"), ends(1),
	},
	seen: map[string]string{"colour.txt": "ochre\n"},
}, {
	name: "a plan is approved", mode: "plan",
	prompt: "Write a file answer.txt with the single line: 42",
	files:  map[string]string{"other.txt": "x\n"},
	acts: []act{
		turnOf("Write a file answer.txt", uses("write_file", e2e.Object{"path": "answer.txt", "content": "too soon\n"})), // which is refused
		turnOf("Write a file answer.txt", uses("propose_plan", e2e.Object{"plan": "I write it."})),
		answers(func(told.Event) string { return "approve_review" }),
		turnOf("Write a file answer.txt", uses("write_file", e2e.Object{"path": "answer.txt", "content": "42\n"})),
		turnOf("Write a file answer.txt"), ends(1),
	},
	seen: map[string]string{"answer.txt": "42\n"},
}, {
	name: "two sub-agents work", mode: "review",
	prompt: "Call the tool spawn_agent twice at once, with the task to write the single line: left, into left.txt, and with the task to write the single line: right, into right.txt.",
	files:  map[string]string{"other.txt": "x\n"},
	acts: []act{
		turnOf("spawn_agent twice", uses("spawn_agent", e2e.Object{"task": "leftmost: write left into left.txt"}), uses("spawn_agent", e2e.Object{"task": "rightmost: write right into right.txt"})),
		turnOf("leftmost", uses("write_file", e2e.Object{"path": "left.txt", "content": "left\n"})),
		turnOf("rightmost", uses("write_file", e2e.Object{"path": "right.txt", "content": "right\n"})),
		turnOf("leftmost"), turnOf("rightmost"),
		turnOf("spawn_agent twice"), ends(1),
	},
	seen: map[string]string{"left.txt": "left\n", "right.txt": "right\n"},
}, {
	name: "what was rejected is heard of", mode: "review",
	prompt: "Write the single line: yes, into answer.txt. I may reject that and say why; then do what I say.",
	files:  map[string]string{"other.txt": "x\n"},
	acts: []act{
		turnOf("into answer.txt", uses("write_file", e2e.Object{"path": "answer.txt", "content": "yes\n"})),
		turnOf("into answer.txt"), ends(1),
		{person: func(c *e2e.Conversation) {
			e2e.Command[struct{}](c.Rig, "sidecar.review.reject", e2e.Object{"uris": []string{e2e.URI(c.Rig, "answer.txt")}, "reason": "it has to say: no"})
			c.Tell("I rejected it. Write it anew as my reason says.", nil)
		}},
		turnOf("it has to say: no", uses("write_file", e2e.Object{"path": "answer.txt", "content": "no\n"})),
		turnOf("it has to say: no"), ends(2),
	},
	seen: map[string]string{"answer.txt": "no\n"},
}, {
	name: "a prompt is rewound", mode: "review",
	prompt: "Write the single line: one, into a.txt.",
	files:  map[string]string{"other.txt": "x\n"},
	acts: []act{
		turnOf("into a.txt", uses("write_file", e2e.Object{"path": "a.txt", "content": "one\n"})),
		turnOf("into a.txt"), ends(1),
		says("Now write the single line: two, into a.txt and into b.txt."),
		turnOf("and into b.txt", uses("write_file", e2e.Object{"path": "a.txt", "content": "two\n"}), uses("write_file", e2e.Object{"path": "b.txt", "content": "two\n"})),
		turnOf("and into b.txt"), ends(2),
		{person: func(c *e2e.Conversation) {
			for _, e := range c.History() {
				if e.Kind == told.RunEnd {
					c.Rewinds(e.Seq, "both")
					return
				}
			}
		}},
	},
	seen: map[string]string{"a.txt": "one\n", "b.txt": ""},
}}

// TestStories plays each story with a model of the test's, or has a real one do it, if
// there is one.
func TestStories(t *testing.T) {
	for _, s := range stories {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			k := &e2e.Talks{T: t}
			var dir string
			if profile := realmodel.Named(t); profile != nil {
				t.Setenv("XDG_STATE_HOME", t.TempDir())
				dir = e2e.WorldProject(t, "overlay", s.files, e2e.Object{"backend.profiles": []e2e.Object{profile}, "backend.profile": realmodel.Name})
			} else {
				dir, k.Model = e2e.Played(t, s.files)
			}
			e2e.Committed(t, dir)
			r := e2e.WorldIn(t, dir)
			c := r.Agent(s.prompt, e2e.Object{"agent": "builtin", "mode": s.mode})
			for _, a := range s.acts {
				if a.person != nil {
					a.person(c)
				} else if k.Model != nil {
					a.model(k)
				}
			}
			r.Seen(s.seen)
			disk := maps.Clone(s.files)
			maps.Copy(disk, s.disk)
			for name, want := range disk {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
					t.Errorf("the disk has %q in %s, %v; want %q", got, name, err, want)
				}
			}
			if t.Failed() {
				for _, e := range c.History() {
					t.Logf("%d %s %s %s %+v", e.Seq, e.Kind, e.Role, e.Text, e.Call)
				}
			}
		})
	}
}
