package extend

import (
	"os"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/shell"
)

// customPrefix begins the names of tools from the settings.
const customPrefix = "custom_"

// fromSettings is where they are from, as lists of tools say.
func fromSettings() tools.Source {
	return tools.Source{Kind: tools.SourcePlugin, Path: "sidecar.tools.custom"}
}

// loadTools makes the tools that the settings name. One that can't be made falls alone.
func (x *Extensions) loadTools(set *config.Settings) {
	var list []*tools.Tool
	var problems []string
	for _, c := range set.CustomTools() {
		t, err := shell.NewCustom(x.o.Shell, shell.Custom{
			Name: customPrefix + c.Name, Description: c.Description, Command: c.Command, Input: c.Input, Read: c.Access == "read",
			Timeout: time.Duration(c.Timeout) * time.Second, Env: x.environment(c), Source: fromSettings(),
		})
		if err != nil {
			problems = append(problems, "sidecar.tools.custom: "+err.Error())
			continue
		}
		list = append(list, t)
	}
	if err := x.o.Registry.Replace(tools.User, func(t *tools.Tool) bool { return t.Source == fromSettings() }, list...); err != nil {
		problems = append(problems, "sidecar.tools.custom: "+err.Error())
	}
	x.problems(problems)
}

// environment is what a tool gets of the server's environment. Its values may be
// secrets, so they are masked from then on.
func (x *Extensions) environment(c config.CustomTool) (env []string) {
	if len(c.Env) == 0 {
		return nil
	}
	var values []string
	for _, name := range c.Env {
		if v, ok := os.LookupEnv(name); ok {
			env, values = append(env, name+"="+v), append(values, v)
		}
	}
	x.o.Hide.Know("custom tool "+c.Name, values)
	return env
}
