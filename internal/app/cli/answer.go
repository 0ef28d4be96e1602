package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/doors/peers"
	"github.com/sidecar-ls/sidecar-ls/internal/sys/version"
)

// queries are all that command lines can ask; package peers says who may. What agents
// say over MCP goes to the dispatcher.
func queries() []served {
	return []served{
		reviewList, reviewDiff, reviewAccept, reviewReject, reviewVerify, reviewUndo, reviewRedo, reviewHistory,
		outputList, outputAccept, outputDrop, outputBuild, portList, portMay, portOpen, portClose,
		shadowCreate, shadowSetUp, shadowPlan, shadowTake, shadowFill, shadowList, shadowDiff, shadowMerge, shadowDiscard,
		knowledgeStatus, policyExplain, policySuggest, policyAdd, hookList, hookTest, hookPermit, mcpSignIn, pluginList, pluginSet, pluginReload, auditList, auditEffects, auditVerify, toolList, toolManual, skillList, skillShow,
	}
}

// AnswerPerson answers a command line: one query, if who asks may put it.
func AnswerPerson(ctx context.Context, c *app.Client, a *serve.Agents, p peers.Peer) {
	answerPerson(ctx, c, a, p, func() func() { return func() {} })
}

// answerPerson is AnswerPerson for a process that would end meanwhile: begun is called
// when a query has work done in this process that is lost with it, and what it returns
// when that is over.
func answerPerson(ctx context.Context, c *app.Client, a *serve.Agents, p peers.Peer, begun func() (over func())) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn := p.Conn
	in := json.NewDecoder(io.LimitReader(conn, maxRequest))
	var q queryRequest
	if in.Decode(&q) != nil {
		return
	}
	if err := p.May(q.Query); err != nil {
		_ = reply(conn, nil, hidden(c, err))
		return
	}
	if q.works() {
		defer begun()()
	}
	switch q.Query {
	case runQuery:
		answer, err := hostFor(ctx, c, conn, q.Args)
		_ = reply(conn, answer, hidden(c, err))
		return
	case agentQuery:
		answerAgent(ctx, c, a, in, conn, q.Args)
		return
	case acpQuery:
		answerACP(ctx, c, a, conn, q.Args)
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, conn) // until whoever asks has gone
		cancel()
	}()
	answer, err := answerQuery(ctx, c, q)
	_ = reply(conn, answer, hidden(c, err))
}

// hidden is err without secrets.
func hidden(c *app.Client, err error) error {
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, peers.ErrNoPerson):
		return err
	case errors.As(err, &usage):
		return &usageError{c.Hide.Text(err.Error())}
	}
	return errors.New(c.Hide.Text(err.Error()))
}

// reply sends an answer, or why there is none.
func reply(conn net.Conn, answer any, err error) error {
	var t queryReply
	if err == nil {
		t.Answer, err = encode(answer)
	}
	if err != nil {
		var usage *usageError
		t = queryReply{Error: err.Error(), Usage: errors.As(err, &usage), Refused: errors.Is(err, peers.ErrNoPerson)}
	}
	data, err := encode(t)
	if err == nil {
		_, err = conn.Write(data)
	}
	return err
}

// maxRequest bounds a query, in bytes.
const maxRequest = 64 << 20

// answerQuery does what a command line asks.
func answerQuery(ctx context.Context, c *app.Client, q queryRequest) (any, error) {
	for _, s := range queries() {
		name, decides := s.called()
		if name != q.Query {
			continue
		}
		c.Log().Info("a command line", "asks", name)
		answer, err := s.serve(ctx, c.Workspace(), q.Args)
		if err == nil && decides {
			c.Warn(fmt.Sprintf("`sidecar-ls %s` was run in a shell.", name))
		}
		return answer, err
	}
	return nil, fmt.Errorf("the sidecar-ls of process %d is %s, which does not know %q; use the same version", os.Getpid(), version.String(), q.Query)
}
