package commands

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/agents"
	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
)

type listRunsArgs struct {
	All bool `json:"all,omitempty"`
}

// runInfo is a run as it is listed. Pending is the number of its files that wait for
// review, Queued that of the prompts that it has not heard.
type runInfo struct {
	conversation.Info
	Children []string `json:"children"`
	Pending  int      `json:"pending"`
	Queued   int      `json:"queued"`
}

type runList struct {
	Runs []runInfo `json:"runs"`
}

func listRuns(_ context.Context, d *Deps, a listRunsArgs) (runList, error) {
	m, err := manager(d)
	if err != nil {
		return runList{}, err
	}
	infos := m.Runs(a.All)
	pending := map[string]int{}
	if q, err := queue(d); err == nil {
		for _, i := range infos {
			pending[i.Session] = len(q.Store.List(i.Session).Edits)
		}
	}
	children := map[string][]string{}
	for _, i := range infos {
		children[i.Parent] = append(children[i.Parent], i.Run)
	}
	out := runList{Runs: []runInfo{}}
	for _, i := range infos {
		its := children[i.Run]
		if its == nil {
			its = []string{}
		}
		out.Runs = append(out.Runs, runInfo{Info: i, Children: its, Pending: pending[i.Session], Queued: i.Pending})
	}
	return out, nil
}

type runHistoryArgs struct {
	Run    string `json:"run"`
	Since  int64  `json:"since,omitempty"`
	Before int64  `json:"before,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

type runHistory struct {
	Events []conversation.Event `json:"events"`
	Next   int64                `json:"next"`
}

// maxEvents bounds a page of a run's history.
const maxEvents = 1000

func historyOfRun(_ context.Context, m *agents.Manager, a runHistoryArgs) (runHistory, error) {
	r, err := run(m, a.Run)
	if err != nil {
		return runHistory{}, err
	}
	limit := a.Limit
	if limit <= 0 || limit > maxEvents {
		limit = maxEvents
	}
	events, next, err := r.History(a.Since, a.Before, limit)
	if events == nil {
		events = []conversation.Event{}
	}
	return runHistory{events, next}, err
}
