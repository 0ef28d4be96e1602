package server

import (
	"context"
	"errors"
)

// SkillList is what a session knows how to do.
type SkillList struct {
	Skills   []Skill  `json:"skills"`
	Problems []string `json:"problems,omitempty"` // skills that are left out, and why
}

// Skill is a skill as people choose it.
type Skill struct {
	Name          string   `json:"name"`
	Description   string   `json:"description"`
	Origin        string   `json:"origin"`
	Kit           bool     `json:"kit,omitempty"`
	Missing       string   `json:"missing,omitempty"` // why it can't be used
	Tools         []string `json:"tools,omitempty"`   // that it needs
	Steps         []string `json:"steps,omitempty"`   // of a kit
	AllowedTools  []string `json:"allowedTools,omitempty"`
	Compatibility string   `json:"compatibility,omitempty"`
	License       string   `json:"license,omitempty"`
	Warnings      []string `json:"warnings,omitempty"`
}

type skillsArgs struct {
	Session string `json:"session,omitempty"`
}

func (s *Server) listSkills(ctx context.Context, a skillsArgs) (SkillList, error) {
	list := s.current().Skills
	if list == nil {
		return SkillList{}, errors.New("there are no skills: no folder is open in the editor")
	}
	if _, err := s.session(a.Session); err != nil {
		return SkillList{}, err
	}
	return list(ctx, a.Session)
}
