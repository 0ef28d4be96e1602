package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/pendingedits"
)

// Agents drives agents.
type Agents interface {
	List() ([]AgentInfo, error)
	// Earlier are the conversations that an agent had in the workspace, the newest first.
	Earlier(ctx context.Context, agent, cursor string, consent bool) (AgentSessions, error)
	Begin(AgentBegin) (*conversation.Run, error)
	Ready(context.Context, *conversation.Run) error // waits for the agent of a run; one that fails is ended
	Get(id string) (*conversation.Run, error)
	Wake(*conversation.Run) error // gives a run of an earlier process its agent again
	Choose(ctx context.Context, r *conversation.Run, mode, model string) error
	Stop(r *conversation.Run, call string) error // ends the command of a call alone
	ModeSet(session, mode string)                // a session works in another mode
	Fork(ctx context.Context, r *conversation.Run, at int64) (*conversation.Run, error)
	Rewind(ctx context.Context, r *conversation.Run, at int64, what string) error
	Budget(r *conversation.Run, b AgentBudget) error
	Compact(ctx context.Context, r *conversation.Run) error
	Summary(r *conversation.Run, at int, text string) error // "" takes it away
	Runs(all bool) ([]conversation.Info, error)
	Has(session string) bool // whether a session is that of a run that has not ended
	// Request returns the request after which a pending change of these sessions was made.
	Request(sessions []string, hunk string) (run string, r conversation.Request, ok bool)
	// Asked are the open questions of agents that work.
	Asked() []conversation.Event
	// Subscribe calls f for every event of every run from now on.
	Subscribe(f func(conversation.Event)) (cancel func())
}

// AgentInfo is an agent as people choose it.
type AgentInfo struct {
	Name      string        `json:"name"`
	Title     string        `json:"title"`
	Kind      string        `json:"kind"` // builtin, acp, or program, which can't be driven
	Available bool          `json:"available"`
	Version   string        `json:"version,omitempty"`
	Why       string        `json:"why,omitempty"` // it is not available, or not driven
	Modes     []AgentChoice `json:"modes,omitempty"`
	Models    []AgentChoice `json:"models,omitempty"`
	Can       []string      `json:"can"`
	Sees      []string      `json:"sees"` // of the user's
	Consented bool          `json:"consented"`
	SignIn    []AgentSignIn `json:"signIn,omitempty"`
}

// AgentChoice is a mode or a model of an agent's own.
type AgentChoice struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

// AgentSignIn is a way to sign in to an agent's service.
type AgentSignIn struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// AgentSessions is a part of an agent's own list of its conversations.
type AgentSessions struct {
	Sessions []AgentSession `json:"sessions"`
	Next     string         `json:"next,omitempty"` // the cursor of the next part
}

// AgentSession is a conversation that an agent had, by the agent's own name of it.
type AgentSession struct {
	ID        string     `json:"id"`
	Title     string     `json:"title,omitempty"`
	UpdatedAt *time.Time `json:"updatedAt,omitempty"`
	Run       string     `json:"run,omitempty"` // that has it, if one is open
}

// AgentBegin is a run to be begun.
type AgentBegin struct {
	Agent, Session, Mode, Shadow, Model, Title, Resume string

	Tokens, Calls *int64      // the session's budget; nil: as the settings say
	Budget        AgentBudget // of our own agent
	Consent       bool        // the person allows what the agent sees
}

var errNoAgents = errors.New("agents are not available: no folder is open in the editor")

func (s *Server) agents() (Agents, error) {
	if a := s.current().Agents; a != nil {
		return a, nil
	}
	return nil, errNoAgents
}

// run is one that may be one of an earlier process.
func (s *Server) run(id string) (*conversation.Run, error) {
	a, err := s.agents()
	if err != nil {
		return nil, err
	}
	r, err := a.Get(id)
	if err != nil {
		return nil, invalidParams("run: %v; sidecar.agent.runs lists them", err)
	}
	return r, nil
}

type agentList struct {
	Agents []AgentInfo `json:"agents"`
}

func (s *Server) listAgents(context.Context, none) (agentList, error) {
	a, err := s.agents()
	if err != nil {
		return agentList{}, err
	}
	list, err := a.List()
	return agentList{list}, err
}

type agentSessionsArgs struct {
	Agent   string `json:"agent"`
	Cursor  string `json:"cursor,omitempty"`
	Consent bool   `json:"consent,omitempty"`
}

// sessionsOfAgent lists what an agent remembers, also of what was not a run.
func (s *Server) sessionsOfAgent(ctx context.Context, a agentSessionsArgs) (AgentSessions, error) {
	m, err := s.agents()
	if err != nil {
		return AgentSessions{}, err
	}
	return m.Earlier(ctx, a.Agent, a.Cursor, a.Consent)
}

type agentRunArgs struct {
	Prompt      string                    `json:"prompt,omitempty"`
	Agent       string                    `json:"agent,omitempty"`
	Session     string                    `json:"session,omitempty"`
	Mode        string                    `json:"mode,omitempty"`
	Shadow      string                    `json:"shadow,omitempty"`
	Model       string                    `json:"model,omitempty"`
	Attachments []conversation.Attachment `json:"attachments,omitempty"`
	Budget      agentBudgetArgs           `json:"budget,omitzero"`
	Consent     bool                      `json:"consent,omitempty"`
	Resume      string                    `json:"resume,omitempty"` // an id of sidecar.agent.sessions
}

type runResult struct {
	Run string `json:"run"`
}

func (s *Server) runAgent(ctx context.Context, a agentRunArgs) (runResult, error) {
	m, err := s.agents()
	if err == nil {
		err = a.Budget.check()
	}
	if err != nil {
		return runResult{}, err
	}
	r, err := m.Begin(AgentBegin{Agent: a.Agent, Session: a.Session, Mode: a.Mode, Shadow: a.Shadow, Model: a.Model, Title: conversation.TitleOf(a.Prompt), Tokens: a.Budget.Tokens, Calls: a.Budget.Calls, Budget: a.Budget.budget(), Consent: a.Consent, Resume: a.Resume})
	if err != nil {
		return runResult{}, sessionError(err)
	}
	if a.Resume != "" { // what was said is in the run before what is said now
		if err := m.Ready(ctx, r); err != nil {
			return runResult{}, err
		}
	}
	if a.Prompt != "" || len(a.Attachments) > 0 {
		if _, err := r.Prompt(conversation.Item{Text: a.Prompt, Attachments: a.Attachments}, conversation.Queue); err != nil {
			return runResult{}, errors.Join(err, r.Close())
		}
	}
	return runResult{r.ID()}, nil
}

type promptArgs struct {
	Run         string                    `json:"run"`
	Text        string                    `json:"text"`
	Attachments []conversation.Attachment `json:"attachments,omitempty"`
	When        string                    `json:"when,omitempty"`
	StartIfIdle *bool                     `json:"startIfIdle,omitempty"`
}

type itemResult struct {
	Item string `json:"item"`
}

func (s *Server) promptAgent(_ context.Context, a promptArgs) (itemResult, error) {
	item := conversation.Item{Text: a.Text, Attachments: a.Attachments, Hold: a.StartIfIdle != nil && !*a.StartIfIdle}
	return s.prompt(a.Run, item, a.When)
}

type steerArgs struct {
	Run  string `json:"run"`
	Text string `json:"text"`
	Kind string `json:"kind,omitempty"` // nudge, which is the default, or interrupt
}

func (s *Server) steerAgent(_ context.Context, a steerArgs) (itemResult, error) {
	when := map[string]string{"": conversation.Steer, "nudge": conversation.Steer, "interrupt": conversation.Interrupt}[a.Kind]
	if when == "" {
		return itemResult{}, invalidParams("kind: nudge or interrupt is expected")
	}
	return s.prompt(a.Run, conversation.Item{Text: a.Text}, when)
}

// prompt has a run hear something; one of an earlier process gets its agent again.
func (s *Server) prompt(id string, item conversation.Item, when string) (itemResult, error) {
	r, err := s.awake(id)
	if err != nil {
		return itemResult{}, err
	}
	made, err := r.Prompt(item, when)
	if err != nil {
		return itemResult{}, invalidParams("%v", err)
	}
	return itemResult{made}, nil
}

func (s *Server) awake(id string) (*conversation.Run, error) {
	r, err := s.run(id)
	if err != nil {
		return nil, err
	}
	a, err := s.agents()
	if err == nil {
		err = a.Wake(r)
	}
	return r, err
}

type itemArgs struct {
	Run  string `json:"run"`
	Item string `json:"item"`
}

type editItemArgs struct {
	Run  string `json:"run"`
	Item string `json:"item"`
	Text string `json:"text"`
}

func (s *Server) editPrompt(_ context.Context, a editItemArgs) (none, error) {
	return s.withRun(a.Run, func(r *conversation.Run) error { return r.Edit(a.Item, a.Text) })
}

func (s *Server) withdrawPrompt(_ context.Context, a itemArgs) (none, error) {
	return s.withRun(a.Run, func(r *conversation.Run) error { return r.Withdraw(a.Item) })
}

type answerRunArgs struct {
	Run      string `json:"run"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// byEditor is who answers by command.
const byEditor = "editor"

func (s *Server) answerAgent(_ context.Context, a answerRunArgs) (none, error) {
	return s.withRun(a.Run, func(r *conversation.Run) error {
		if m, err := s.agents(); err == nil {
			if err := m.Wake(r); err != nil {
				return err
			}
		}
		return s.answerRun(r, a.Question, a.Answer)
	})
}

func (s *Server) withRun(id string, f func(*conversation.Run) error) (none, error) {
	r, err := s.run(id)
	if err != nil {
		return none{}, err
	}
	if err := f(r); err != nil {
		return none{}, invalidParams("%v", err)
	}
	return none{}, nil
}

type runArgs struct {
	Run string `json:"run"`
}

type stateResult struct {
	State conversation.State `json:"state"`
}

func (s *Server) cancelAgent(_ context.Context, a runArgs) (stateResult, error) {
	return s.stateOf(a, (*conversation.Run).Cancel)
}

func (s *Server) pauseAgent(_ context.Context, a runArgs) (stateResult, error) {
	return s.stateOf(a, (*conversation.Run).Pause)
}

func (s *Server) resumeAgent(_ context.Context, a runArgs) (stateResult, error) {
	r, err := s.awake(a.Run)
	if err != nil {
		return stateResult{}, err
	}
	return stateResult{r.Resume()}, nil
}

func (s *Server) closeAgent(_ context.Context, a runArgs) (stateResult, error) {
	r, err := s.run(a.Run)
	if err != nil {
		return stateResult{}, err
	}
	return stateResult{conversation.Ended}, r.Close()
}

func (s *Server) stateOf(a runArgs, f func(*conversation.Run) conversation.State) (stateResult, error) {
	r, err := s.run(a.Run)
	if err != nil {
		return stateResult{}, err
	}
	return stateResult{f(r)}, nil
}

type forkArgs struct {
	Run  string `json:"run"`
	At   int64  `json:"at,omitempty"`
	What string `json:"what,omitempty"` // "conversation", which is also what none means
}

// forkAgent begins a run that knows what was said in another one.
func (s *Server) forkAgent(ctx context.Context, a forkArgs) (runResult, error) {
	if a.What != "" && a.What != "conversation" {
		return runResult{}, invalidParams("only a conversation is forked: a fork works on the files as they are now; leave what out")
	}
	r, err := s.run(a.Run)
	if err != nil {
		return runResult{}, err
	}
	m, err := s.agents()
	if err != nil {
		return runResult{}, err
	}
	fork, err := m.Fork(ctx, r, a.At)
	if err != nil {
		return runResult{}, invalidParams("%v", err)
	}
	return runResult{fork.ID()}, nil
}

type rewindArgs struct {
	Run  string `json:"run"`
	At   int64  `json:"at"`
	What string `json:"what,omitempty"`
}

// rewindAgent has an agent forget what was said after an event, or takes back what it
// changed since, or both.
func (s *Server) rewindAgent(ctx context.Context, a rewindArgs) (runResult, error) {
	a.What = cmp.Or(a.What, "conversation")
	if !slices.Contains([]string{"conversation", "files", "both"}, a.What) {
		return runResult{}, invalidParams("what: %q is none of conversation, files and both", a.What)
	}
	r, m, err := s.runOf(a.Run)
	if err != nil {
		return runResult{}, err
	}
	if err := m.Rewind(ctx, r, a.At, a.What); err != nil {
		return runResult{}, invalidParams("%v", err)
	}
	return runResult{r.ID()}, nil
}

// madeAfter is the request after which a pending change was made.
type madeAfter struct {
	Run    string `json:"run"`
	Seq    int64  `json:"seq"`
	Number int    `json:"number"`
	Text   string `json:"text"`
}

func (s *Server) messageOf(h pendingedits.Hunk) *madeAfter {
	a := s.current().Agents
	if a == nil {
		return nil
	}
	run, r, ok := a.Request(h.Sessions, h.ID)
	if !ok {
		return nil
	}
	return &madeAfter{run, r.Seq, r.Number, r.Text}
}

// agentEvent is an event of a run as a client is told it.
type agentEvent struct {
	Type    string `json:"type"`
	Session string `json:"session"`
	conversation.Event
}

// tellAgent tells the client an event of a run. A client that takes no events is
// asked what an agent asks.
func (s *Server) tellAgent(a Agents, e conversation.Event) {
	s.followTranscript(a, e)
	if s.client.can.sidecar.Events {
		session := ""
		if r, err := a.Get(e.Run); err == nil {
			session = r.Info().Session
		}
		s.client.notify(s.base, "sidecar/event", agentEvent{"agent", session, e})
		return
	}
	if e.Kind == conversation.Asked {
		go s.askForAgent(a, e)
	}
}

// askAgain asks, of a client that takes no events, what an earlier client has not
// answered.
func (s *Server) askAgain(a Agents) {
	if s.client.can.sidecar.Events {
		return // it shows what is open when it looks at the run
	}
	for _, e := range a.Asked() {
		go s.askForAgent(a, e)
	}
}

// askForAgent shows an agent's question as a message, if it has answers to choose.
func (s *Server) askForAgent(a Agents, e conversation.Event) {
	if len(e.Options) == 0 || e.Irrecoverable { // a click is not enough for what can't be undone
		return
	}
	var labels []string
	for _, o := range e.Options {
		labels = append(labels, visible(o.Label))
	}
	if path := s.documentOf(e); path != "" {
		if _, err := s.showDocument(s.base, path, nil); err != nil {
			s.log.Warn("the document of a question is not shown", "error", err)
		}
	}
	answer, err := (&People{s.base, s.client}).choose(s.base, visible(e.Text), labels)
	if err != nil {
		return
	}
	for _, o := range e.Options {
		if r, err := a.Get(e.Run); err == nil && visible(o.Label) == answer {
			_ = s.answerRun(r, e.Question, o.ID) // somebody else may have answered
			return
		}
	}
}

// visible is a program's text without what would hide some of it from a person:
// control characters, and those that turn its direction or show as nothing.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return '\uFFFD'
		}
		return r
	}, text)
}
