// Knowledge measures the project index: how well it answers questions, beside
// simpler ways to rank, and how fast it is.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	tree := flag.String("speed", "", "measure the speed over the files of this directory")
	set := flag.String("set", "", "run the query sets (*.jsonl) of this directory")
	repos := flag.String("repos", "", "where the repositories of the sets are; by default repos in the directory of the sets")
	baselines := flag.Bool("baselines", true, "run the simpler rankings too")
	cache := flag.String("cache", "", "find weights anew: where the indexes of the sets are kept between runs")
	rounds := flag.Int("rounds", 0, "how long to search for the weights of the words, too")
	flag.Parse()
	if err := run(*tree, *set, *repos, *cache, *rounds, *baselines); err != nil {
		fmt.Fprintln(os.Stderr, "knowledge:", err)
		os.Exit(1)
	}
}

func run(tree, set, repos, cache string, rounds int, baselines bool) error {
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
		return tune(ctx, os.Stdout, states, cache, rounds)
	}
	return quality(ctx, os.Stdout, states, baselines)
}
