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
	"github.com/sidecar-ls/sidecar-ls/internal/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/version"
)

// queries are all that command lines can ask. Agents can't: what they say goes to
// the dispatcher.
func queries() []served {
	return []served{
		reviewList, reviewDiff, reviewAccept, reviewReject, reviewVerify, reviewUndo, reviewRedo, reviewHistory,
		outputList, outputAccept, outputDrop,
		shadowCreate, shadowFill, shadowList, shadowDiff, shadowMerge, shadowDiscard,
		knowledgeStatus, policyExplain, hookList, hookTest, hookPermit, mcpSignIn, pluginList, pluginSay, auditList, auditVerify, toolList, toolManual, skillList, skillShow,
	}
}

// AnswerPerson answers a command line: one query. own: this process has started
// the program that asks.
func AnswerPerson(ctx context.Context, c *app.Client, a *serve.Agents, conn net.Conn, own bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in := json.NewDecoder(io.LimitReader(conn, maxRequest))
	var q queryRequest
	if in.Decode(&q) != nil {
		return
	}
	switch {
	case own:
	case q.Query == runQuery:
		answer, err := hostFor(ctx, c, conn, q.Args)
		_ = reply(conn, answer, hidden(c, err))
		return
	case q.Query == agentQuery:
		answerAgent(ctx, c, a, in, conn, q.Args)
		return
	case q.Query == acpQuery:
		answerACP(ctx, c, a, conn, q.Args)
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, conn) // until whoever asks has gone
		cancel()
	}()
	answer, err := answerQuery(ctx, c, q, own)
	_ = reply(conn, answer, hidden(c, err))
}

// hidden is err without secrets.
func hidden(c *app.Client, err error) error {
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, errNoPerson):
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
		t = queryReply{Error: err.Error(), Usage: errors.As(err, &usage), Refused: errors.Is(err, errNoPerson)}
	}
	data, err := encode(t)
	if err == nil {
		_, err = conn.Write(data)
	}
	return err
}

// maxRequest bounds a query, in bytes.
const maxRequest = 64 << 20

// errNoPerson refuses programs that this process has started: they work for an
// agent, if for anybody, and decide nothing.
var errNoPerson = errors.New("the server answers people, and this was started by the server itself; run it in a terminal of your own")

// answerQuery does what a command line asks.
func answerQuery(ctx context.Context, c *app.Client, q queryRequest, own bool) (any, error) {
	if own {
		return nil, errNoPerson
	}
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
