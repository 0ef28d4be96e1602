package always

import (
	"encoding/json"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/auditlog"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/hosts"
)

// A rule with Host is no command rule: it adds the host to those that commands reach unasked.

func checkHost(r Rule) error {
	if r.Rest != "" && r.Rest != known || r.Packages != "" {
		return fmt.Errorf("a host has neither rest nor packages")
	}
	_, err := hosts.Parse(r.Host)
	return err
}

// Reaches is the host of a rule, as the setting sandbox.network has it.
func (r Rule) Reaches() hosts.Host {
	h, err := hosts.Parse(r.Host)
	if err != nil {
		return hosts.Host{}
	}
	h.In = r.In
	return h
}

// hostFigures are what a rule about a host would have done.
func (h history) hostFigures(rule Rule) Figures {
	f := Figures{Rule: rule, Of: len(h.questions), Days: h.days, Cut: h.cut, Widest: "any program of a session to send to " + rule.Host + " what it sees"}
	for _, q := range h.questions {
		switch {
		case q.host != rule.Host:
		case q.denied:
			f.DeniedMatches++
		default:
			f.Saves++
		}
	}
	return f
}

func hostWords(f Figures) string {
	text := fmt.Sprintf("It allows %s. In the last %s you were asked about it %d times", f.Widest, count(f.Days, "day"), f.Saves+f.DeniedMatches)
	if f.DeniedMatches > 0 {
		text += fmt.Sprintf(", and said no %d times", f.DeniedMatches)
	}
	return text + "."
}

// hostOf is the host that a question was about.
func hostOf(r auditlog.Record) string {
	var in struct {
		Host string `json:"host"`
	}
	if r.Tool != "reach_host" || json.Unmarshal(r.Arguments, &in) != nil {
		return ""
	}
	return in.Host
}
