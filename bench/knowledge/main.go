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
	cache := flag.String("cache", "", "learn again: where the indexes of the sets are kept between runs")
	learned := flag.String("learned", "", "the file that is to have what was learned")
	held := flag.Bool("held", true, "learn from some repositories for others, too, to see what can be hoped for")
	rounds := flag.Int("rounds", 0, "how long to search for the weights of the words, too")
	questions := flag.String("questions", "", "the file that is to have questions made from the commits and comments of the repositories; nothing is answered")
	flag.Parse()
	if *questions != "" {
		if err := made(context.Background(), *questions, *repos, *cache); err != nil {
			fmt.Fprintln(os.Stderr, "knowledge:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*tree, *set, *repos, *cache, *learned, *rounds, *held, *baselines); err != nil {
		fmt.Fprintln(os.Stderr, "knowledge:", err)
		os.Exit(1)
	}
}

func run(tree, set, repos, cache, learned string, rounds int, held, baselines bool) error {
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
	return quality(ctx, os.Stdout, states, baselines)
}
