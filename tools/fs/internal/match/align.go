package match

// align lays the block over the lines [from, to) of t so that the fewest
// bytes differ. The block may begin and end anywhere in them; inside, lines
// may be missing on either side. A line that only the text has costs less than
// any other difference: a line left out by the writer must not push those
// behind it out of the region. It fails when no line has a counterpart.
func (b *block) align(t *Text, from, to int) (region, bool) {
	from, to = max(0, from), min(len(t.Lines), to)
	n, w := len(b.lines), to-from
	if w <= 0 || n == 0 {
		return region{}, false
	}
	keys := t.lineKeys()
	bares := make([]string, w)
	for i := range w {
		bares[i] = bare(t.Lines[from+i].Text)
	}
	const far = 1 << 29
	// cost[j][i]: the first j lines of the block against lines that end before i.
	cost := make([]int, (n+1)*(w+1))
	how := make([]byte, (n+1)*(w+1)) // 0 pair, 1 line of the block missing, 2 additional line of the text
	for j := 1; j <= n; j++ {
		row, prev := cost[j*(w+1):], cost[(j-1)*(w+1):]
		row[0], how[j*(w+1)] = prev[0]+lost(b.bare[j-1]), 1
		for i := 1; i <= w; i++ {
			best, step := prev[i]+lost(b.bare[j-1]), byte(1)
			if j < n {
				if c := row[i-1] + extra(bares[i-1]); c < best {
					best, step = c, 2
				}
			} else if c := row[i-1]; c < best { // after the last line the rest is free
				best, step = c, 2
			}
			pair := far
			switch {
			case b.keys[j-1] == keys[from+i-1]:
				pair = 0
			case drift(i-j, w-n, b.slack):
				pair = b.pair(j-1, bares[i-1], best-prev[i-1])
			}
			// On a tie the pair is taken.
			if c := prev[i-1] + pair; c <= best {
				best, step = c, 0
			}
			row[i], how[j*(w+1)+i] = best, step
		}
	}
	r := region{at: make([]int, n), first: -1, cost: cost[n*(w+1)+w]}
	for j, i := n, w; j > 0; {
		switch how[j*(w+1)+i] {
		case 0:
			j, i = j-1, i-1
			r.at[j] = from + i
			if r.last == 0 {
				r.last = from + i + 1
			}
			r.first = from + i
		case 1:
			j--
			r.at[j] = -1
		case 2:
			i--
		}
	}
	if r.first < 0 || b.total == 0 {
		return region{}, false
	}
	b.measure(&r, t, bares, from)
	return r, true
}

// measure counts in what a region differs. A line too much or too few is one
// slip however long it is: it counts as half a line.
func (b *block) measure(r *region, t *Text, bares []string, from int) {
	bytes := 0
	half := b.total/max(1, b.solid)/2 + 1
	for j, i := range r.at {
		switch {
		case i < 0 && b.bare[j] == "":
		case i < 0:
			bytes += min(half, len(b.bare[j]))
			r.lost, r.unequal = r.lost+1, r.unequal+1
		case b.keys[j] != t.keys[i]:
			bytes += distance(b.bare[j], bares[i-from])
			r.unequal++
		case len(b.bare[j]) >= 4:
			r.equal++
		}
	}
	n := r.additional(func(i int) bool { return t.keys[i] != 0 })
	r.unequal, r.extra = r.unequal+n, n
	r.dist = float64(bytes+n*half) / float64(b.total)
}

// additional counts the lines inside the region without a counterpart.
func (r region) additional(count func(line int) bool) int {
	n, next := 0, r.first
	for _, i := range r.at {
		if i < 0 {
			continue
		}
		for ; next < i; next++ {
			if count(next) {
				n++
			}
		}
		next = i + 1
	}
	return n
}

// drift reports whether a pair lies in the band that alignment may use.
func drift(d, room, slack int) bool { return d >= -slack && d <= max(room, 0)+slack }

// What a line costs in an alignment. A line that is left out of the block costs
// at most as much as one that differs, and that less than one that is not in
// the text.
const unequalLine = 9

func lost(bare string) int  { return len(bare) + 2*unequalLine }
func extra(bare string) int { return min(len(bare), 40)/8 + unequalLine - 6 }

// pair is the distance of a line of the block and a line of the text, or too
// much when they are not the same line with a slip, or further than limit.
func (b *block) pair(j int, text string, limit int) int {
	const far = 1 << 29
	x, y := len(b.bare[j]), len(text)
	longer := max(x, y)
	if longer == 0 {
		return 0
	}
	if d := x - y; max(d, -d)*5 > longer*2 || max(d, -d) > limit {
		return far
	}
	if b.work += x*y/64 + 1; b.work > maxWork {
		return far
	}
	d := distance(b.bare[j], text)
	if d*5 > longer*2 {
		return far
	}
	return d + unequalLine
}
