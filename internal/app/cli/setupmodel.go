package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/models"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// modelClient is the name for setup that stands for our own agent's model.
const modelClient = "model"

// setUpModel looks for language models and puts one into the user's settings: its provider
// and address, and never a key.
func setUpModel(ctx context.Context, c *cli, words []string) error {
	s := c.setup
	if s.undo {
		return usagef("setup model has no --undo: `sidecar-ls setup model` chooses another model. To have none, take backend.profile and its row of backend.profiles out of %s", config.UserFile())
	}
	s.yes = false
	if s != (setupFlags{}) || len(words) > 2 {
		return usagef("setup model takes the name of a provider, or the address of a server, and the name of a model there; or nothing, to be asked")
	}
	if len(words) > 0 && strings.Contains(words[0], "://") {
		return putServer(ctx, c, words)
	}
	if len(words) > 0 && !slices.ContainsFunc(models.Places(os.Getenv), func(p models.Place) bool { return p.Name == words[0] }) {
		return unknownPlace(words[0])
	}
	places := models.Find(ctx, os.Getenv, models.LocalServers(os.Getenv))
	if len(places) == 0 && len(words) > 0 {
		return missingPlace(words[0], nil)
	}
	if len(places) == 0 {
		return fmt.Errorf("no model was found: none of %s is set, and no Ollama, LM Studio or llama.cpp answers on this machine. Set a key or start one of them, and run this again; sidecar-ls help own-model says how to name any other server", strings.Join(models.KeyNames(), ", "))
	}
	place, err := choosePlace(ctx, c.Out, places, words)
	if err != nil {
		return err
	}
	p := kept(place.Profile)
	if len(words) > 1 {
		p.Model = words[1]
	} else if p.Model, err = chooseModel(ctx, c.Err, place); err != nil {
		return err
	}
	return putModel(c, p)
}

// putServer takes a server by its address: one that speaks like OpenAI's.
func putServer(ctx context.Context, c *cli, words []string) error {
	at, err := url.Parse(words[0])
	if err != nil || at.Host == "" || at.User != nil || at.Scheme != "http" && at.Scheme != "https" {
		return usagef("%q is no address of a server: one begins with http:// or https://, and names no user, such as http://127.0.0.1:8000/v1", words[0])
	}
	place := models.Found{Title: at.Host, Profile: config.Backend{Name: at.Host, Provider: "openai", URL: strings.TrimRight(words[0], "/")}}
	place.Models, err = models.List(ctx, place.Profile, "")
	p := kept(place.Profile)
	switch {
	case len(words) > 1:
		p.Model = words[1]
		if err != nil {
			fmt.Fprintf(c.Err, "sidecar-ls: whether it has that model is not known: %v\n", err)
		}
	case err != nil:
		return fmt.Errorf("%w. Name its model, too; sidecar-ls help own-model says how to write a profile with another API or a key", err)
	default:
		if p.Model, err = chooseModel(ctx, c.Err, place); err != nil {
			return err
		}
	}
	return putModel(c, p)
}

// putModel writes the profile, and says so.
func putModel(c *cli, p config.Backend) error {
	if err := config.PutBackend(p); err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]string{"profile": p.Name, "provider": p.Provider, "url": p.URL, "model": p.Model, "keyEnv": p.KeyEnv, "file": config.UserFile()})
	}
	fmt.Fprintf(c.Out, "The model is now %s, by the profile %s in %s. Servers that run use it at once.\n", p.Model, p.Name, config.UserFile())
	if p.KeyEnv != "" {
		fmt.Fprintf(c.Out, "Its key stays in %s, which an editor has to be started with, too.\n", p.KeyEnv)
	}
	fmt.Fprintln(c.Out, `Try it: sidecar-ls agent run builtin "…"`)
	return nil
}

// unknownPlace lists the providers that there can be.
func unknownPlace(name string) error {
	var names, lines []string
	for _, p := range models.Places(os.Getenv) {
		names = append(names, p.Name)
		lines = append(lines, "\n  "+p.Name+": "+p.Title+", "+p.Takes)
	}
	return usagef("there is no provider %q%s. There are:%s\nAny other server is named by its address, such as http://127.0.0.1:8000/v1", name, didYouMean(name, names), strings.Join(lines, ""))
}

// missingPlace says what a place takes that is not here, and names those that are.
func missingPlace(name string, here []string) error {
	for _, p := range models.Places(os.Getenv) {
		if p.Name != name {
			continue
		}
		text := fmt.Sprintf("%s is not here: it takes %s", p.Title, p.Takes)
		if len(here) > 0 {
			text += "; here are " + strings.Join(here, ", ")
		}
		return errors.New(text)
	}
	return unknownPlace(name)
}

// kept is the profile of that name with what the user's settings say besides.
func kept(p config.Backend) config.Backend {
	src, err := config.UserSource()
	if err != nil {
		return p
	}
	set, _ := config.Load(src) // the command that opens the settings reports their faults
	for _, old := range set.Backends() {
		if old.Name == p.Name && old.URL == p.URL && old.Provider == p.Provider {
			old.KeyEnv, old.Model = cmp.Or(p.KeyEnv, old.KeyEnv), ""
			return old
		}
	}
	return p
}

// choosePlace is the place that is named, the only one, or the one that a person chooses.
func choosePlace(ctx context.Context, out io.Writer, places []models.Found, words []string) (models.Found, error) {
	var names, lines []string
	for _, f := range places {
		names = append(names, f.Profile.Name)
		line := f.Title + ", with the key in " + f.Profile.KeyEnv
		if f.Profile.KeyEnv == "" {
			line = fmt.Sprintf("%s at %s: %s", f.Title, f.Profile.URL, tools.Count(len(f.Models), "model"))
		}
		lines = append(lines, line)
	}
	if len(words) > 0 {
		i := slices.Index(names, words[0])
		if i < 0 {
			return models.Found{}, missingPlace(words[0], names)
		}
		return places[i], nil
	}
	if len(places) == 1 {
		fmt.Fprintln(out, lines[0])
		return places[0], nil
	}
	i, _, err := pick(ctx, "Which models?", lines, names, false)
	if err != nil {
		return models.Found{}, err
	}
	return places[i], nil
}

// mostModels is how many models are listed to choose from.
const mostModels = 40

// chooseModel asks for one of the models of a place.
func chooseModel(ctx context.Context, warn io.Writer, place models.Found) (string, error) {
	list := place.Models
	if place.Profile.KeyEnv != "" {
		if !canAsk() {
			return "", errNoModelNamed(place)
		}
		var err error
		if list, err = models.List(ctx, place.Profile, os.Getenv(place.Profile.KeyEnv)); err != nil {
			fmt.Fprintf(warn, "sidecar-ls: its models are not known: %v\n", err)
		}
	}
	shown := list[:min(len(list), mostModels)]
	text := "Which model?"
	if more := len(list) - len(shown); more > 0 {
		text = fmt.Sprintf("Which model? There are %d more.", more)
	}
	i, name, err := pick(ctx, text, shown, list, true)
	if errors.Is(err, errNoTerminal) {
		return "", errNoModelNamed(place)
	}
	if err == nil && i >= 0 {
		name = list[i]
	}
	return name, err
}

func errNoModelNamed(place models.Found) error {
	example := "NAME"
	if len(place.Models) > 0 {
		example = place.Models[0]
	}
	return fmt.Errorf("which model? There is no terminal to ask at; name it: sidecar-ls setup model %s %s", place.Profile.Name, example)
}

// pick asks a person for one of a list, by its number or its name. With free another name is
// taken, too; i is -1 then.
func pick(ctx context.Context, text string, shown, names []string, free bool) (i int, name string, err error) {
	field := "Number"
	if free {
		field = "Number, or a name"
	}
	for range 3 {
		tty, err := openTerminal()
		if err != nil {
			return -1, "", err
		}
		name, err = readFrom(ctx, tty, listed(text, shown)+field+": ")
		if err != nil {
			return -1, "", err
		}
		if i, ok := numbered(name, len(shown)); ok {
			return i, names[i], nil
		}
		if i := slices.Index(names, name); i >= 0 {
			return i, name, nil
		}
		if free && name != "" && strings.Trim(name, "0123456789") != "" {
			return -1, name, nil
		}
	}
	return -1, "", errors.New("nothing was chosen, so nothing was written")
}
