package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// useSkill is the name of the tool by which an agent gets a skill.
const useSkill = "skill"

// Skill is a skill that the agent can get.
type Skill struct{ Name, Description string }

// maxSkills bounds what the instructions tell of skills, in bytes.
const maxSkills = 1500

const others = "- others, without room for what they do: "

// SkillLines are the skills as the instructions tell of them: in full if there is room,
// else with the first sentence of each, else with names alone at the end.
func (f Facts) SkillLines() string {
	line := func(s Skill, does string) string {
		if does == "" {
			return "- " + s.Name + "\n"
		}
		return "- " + s.Name + ": " + does + "\n"
	}
	var full, short strings.Builder
	for _, s := range f.Skills {
		full.WriteString(line(s, s.Description))
	}
	if full.Len() <= maxSkills {
		return full.String()
	}
	const forNames = 400 // what those without room may take
	left := 0
	for _, s := range f.Skills {
		left += len(s.Name) + len(", ")
	}
	var names []string
	for _, s := range f.Skills {
		left -= len(s.Name) + len(", ")
		does, _, _ := strings.Cut(s.Description, ". ")
		if does = strings.TrimSuffix(does, "."); len(does) > 160 {
			does = strings.ToValidUTF8(does[:160], "") + "…"
		}
		if one := line(s, does); len(names) == 0 && short.Len()+len(one)+min(left, forNames)+len(others) <= maxSkills {
			short.WriteString(one)
		} else {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return short.String()
	}
	short.WriteString(others)
	for i, name := range names {
		if short.Len()+len(name) > maxSkills-20 {
			fmt.Fprintf(&short, "and %d more", len(names)-i)
			break
		}
		short.WriteString(name)
		if i < len(names)-1 {
			short.WriteString(", ")
		}
	}
	return short.String() + "\n"
}

// skillsThrough are the names of the skills that were got through an item, whose text a
// summary does not keep.
func (t *transcript) skillsThrough(through int) (names []string) {
	for k := range t.live {
		i := &t.live[k]
		if i.Kind != Answered || i.N > through {
			continue
		}
		for _, place := range i.Answer.calls() {
			var in struct{ Name string }
			b := &i.Answer.Blocks[place]
			if r, ok := t.results[callKey(i.N, place)]; b.Name != useSkill || !ok || r.Failed || json.Unmarshal([]byte(b.Args), &in) != nil {
				continue
			}
			if in.Name != "" && !slices.Contains(names, in.Name) {
				names = append(names, in.Name)
			}
		}
	}
	return names
}
