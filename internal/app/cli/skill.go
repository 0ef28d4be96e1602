package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/server"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// skillCommand lists the skills, or shows one.
func skillCommand(ctx context.Context, c *cli) error {
	if len(c.args) == 0 {
		return usagef("skill takes list, or show and the name of a skill")
	}
	switch verb, rest := c.args[0], c.args[1:]; {
	case verb == "list" && len(rest) == 0:
		return c.listSkills(ctx)
	case verb == "show" && len(rest) == 1:
		return c.showSkill(ctx, rest[0])
	case verb == "list":
		return usagef("skill list takes nothing, but got %q", rest[0])
	case verb == "show":
		return usagef("skill show takes the name of a skill; sidecar-ls skill list has them")
	}
	return usagef("skill takes list or show, not %q", c.args[0])
}

// What is asked about skills.
var (
	skillList = query[struct{}, server.SkillList]{name: "skill list", answer: func(ctx context.Context, w *app.Workspace, _ struct{}) (server.SkillList, error) {
		return serve.SkillList(ctx, w, session.Default)
	}}
	skillShow = query[string, skillShown]{name: "skill show", answer: answerSkill}
)

type skillShown struct {
	server.Skill
	Body  string   `json:"body"`
	Files []string `json:"files,omitempty"`
}

func answerSkill(ctx context.Context, w *app.Workspace, name string) (skillShown, error) {
	found, err := serve.Skills(ctx, w, session.Default)
	if err != nil {
		return skillShown{}, err
	}
	s, ok := found.Find(name)
	if !ok {
		text := fmt.Sprintf("there is no skill %q", name)
		if near := tools.Near(name, found.Names(), 3); len(near) > 0 {
			return skillShown{}, fmt.Errorf("%s; did you mean %s?", text, strings.Join(near, ", "))
		}
		return skillShown{}, fmt.Errorf("%s; sidecar-ls skill list has them", text)
	}
	if s.Project && s.Missing != "" {
		return skillShown{}, fmt.Errorf("the skill %s is not shown: %s", s.Name, s.Missing)
	}
	list, err := serve.SkillList(ctx, w, session.Default)
	if err != nil {
		return skillShown{}, err
	}
	out := skillShown{}
	for _, one := range list.Skills {
		if one.Name == s.Name {
			out.Skill = one
		}
	}
	body, cut := s.Body()
	out.Body = w.Client.Hide.Shown(body)
	if cut {
		out.Body += "\n(The rest is left out: it is too long.)"
	}
	out.Files, _ = s.Files()
	return out, nil
}

func (c *cli) listSkills(ctx context.Context) error {
	list, err := ask(ctx, c, skillList, struct{}{})
	if err != nil {
		return err
	}
	if c.json {
		return c.print(list)
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	for _, s := range list.Skills {
		does, _, _ := strings.Cut(s.Description, "\n")
		kind := "skill"
		if s.Kit {
			kind = "kit"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.Name, kind, s.Origin, clipped(does, 100))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range list.Skills {
		if s.Missing != "" {
			fmt.Fprintf(c.Out, "%s can't be used: %s.\n", s.Name, s.Missing)
		}
		for _, w := range s.Warnings {
			fmt.Fprintf(c.Out, "%s: %s.\n", s.Name, w)
		}
	}
	for _, p := range list.Problems {
		fmt.Fprintln(c.Out, p+".")
	}
	return nil
}

// clipped is a text of at most so many characters.
func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func (c *cli) showSkill(ctx context.Context, name string) error {
	s, err := ask(ctx, c, skillShow, name)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(s)
	}
	fmt.Fprintf(c.Out, "%s (%s): %s\n", s.Name, s.Origin, s.Description)
	for _, line := range []struct{ what, text string }{
		{"It can't be used", s.Missing}, {"Tools that it needs", strings.Join(s.Tools, ", ")}, {"Files", strings.Join(s.Files, ", ")},
		{"Made for", s.Compatibility}, {"License", s.License}, {"Warnings", strings.Join(s.Warnings, "; ")},
	} {
		if line.text != "" {
			fmt.Fprintf(c.Out, "%s: %s\n", line.what, line.text)
		}
	}
	_, err = fmt.Fprintf(c.Out, "\n%s\n", s.Body)
	return err
}

// skillCandidates offers a verb, and skills to show.
func skillCandidates(ctx context.Context, c *cli, done []string, begun string) []candidate {
	if len(done) == 0 {
		return verbs("list", "show")(ctx, c, done, begun)
	}
	if done[0] != "show" || len(done) > 1 {
		return nil
	}
	list, err := ask(ctx, c, skillList, struct{}{})
	if err != nil {
		return nil
	}
	var out []candidate
	for _, s := range list.Skills {
		out = append(out, candidate{s.Name, s.Description})
	}
	return out
}
