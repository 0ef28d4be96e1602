// Knowledge measures the project index: how well it answers questions, beside
// simpler ways to rank, and how fast it is.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sidecar-ls/sidecar-ls/pki/embed"
)

func main() {
	tree := flag.String("speed", "", "measure the speed over the files of this directory")
	set := flag.String("set", "", "run the query sets (*.jsonl) of this directory")
	repos := flag.String("repos", "", "where the repositories of the sets are; by default repos in the directory of the sets")
	baselines := flag.Bool("baselines", true, "run the simpler rankings too")
	cache := flag.String("cache", "", "learn again: where the indexes of the sets are kept between runs")
	learned := flag.String("learned", "", "the file that is to have what was learned")
	held := flag.Bool("held", true, "learn from some repositories for others, too, to see what can be hoped for")
	rounds := flag.Int("rounds", 0, "how long to search for the weights of the words, too")
	questions := flag.String("questions", "", "the file that is to have questions made from the commits and comments of the repositories; nothing is answered")
	var meant embed.Options
	flag.StringVar((*string)(&meant.Provider), "embeddings", "", "measure with the vectors of an endpoint, too: ollama or openai; its key is in EMBEDDINGS_KEY")
	flag.StringVar(&meant.URL, "url", "", "the endpoint's address, where it is not the usual one")
	flag.StringVar(&meant.Model, "model", "", "the endpoint's model, where it is not the usual one")
	weight := flag.Float64("weight", 0.25, "how much vectors count beside the words")
	flag.Parse()
	meant.Key = os.Getenv("EMBEDDINGS_KEY")
	if *questions != "" {
		if err := made(context.Background(), *questions, *repos, *cache); err != nil {
			fmt.Fprintln(os.Stderr, "knowledge:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*tree, *set, *repos, *cache, *learned, *rounds, *held, *baselines, meant, *weight); err != nil {
		fmt.Fprintln(os.Stderr, "knowledge:", err)
		os.Exit(1)
	}
}

func run(tree, set, repos, cache, learned string, rounds int, held, baselines bool, meant embed.Options, weight float64) error {
	if tree != "" {
		if err := speed(os.Stdout, tree); err != nil {
			return err
		}
	}
	if set == "" {
		return nil
	}
	if repos == "" {
		repos = filepath.Join(set, "repos")
	}
	ctx := context.Background()
	states, err := collect(set, repos)
	if err != nil {
		return err
	}
	if cache != "" {
		return tune(ctx, os.Stdout, states, cache, learned, held, rounds)
	}
	var m *meaning
	if meant.Provider != "" {
		if m, err = newMeaning(meant, weight); err != nil {
			return err
		}
	}
	return quality(ctx, os.Stdout, states, baselines, m)
}
