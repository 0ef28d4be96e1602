package commands

import (
	"context"
	"errors"
)

type skillsArgs struct {
	Session string `json:"session,omitempty"`
}

func listSkills(ctx context.Context, d *Deps, a skillsArgs) (SkillList, error) {
	if d.Reports == nil {
		return SkillList{}, errors.New("there are no skills: no folder is open in the editor")
	}
	st, err := sessions(d)
	if err == nil {
		_, err = sessionOf(st, a.Session)
	}
	if err != nil {
		return SkillList{}, err
	}
	return d.Reports.Skills(ctx, a.Session)
}
