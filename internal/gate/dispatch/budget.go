package dispatch

import (
	"math"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// tokenBytes is how many bytes are counted as one token.
const tokenBytes = 4

// leastResult is how many bytes of a result there is always room for: the
// beginning of the text, its end and the cursor. A call whose session has not
// so much left is refused.
const leastResult = 160

// maxStructured bounds structured data, in times of what is shown as text.
const maxStructured = 4

// estimate is the number of tokens in that many bytes.
func estimate(bytes int) int64 { return int64(bytes+tokenBytes-1) / tokenBytes }

// reserve counts the call and holds what it needs at least of the session's
// budget. How long the result is shows at the end: hold takes the rest.
func (c *call) reserve() error {
	spent, err := c.session.Reserve(estimate(len(c.req.Arguments) + leastResult))
	if err != nil {
		return tools.Errorf(tools.BudgetExceeded, "%v", err)
	}
	c.spent = spent
	return nil
}

// hold takes the tokens of a result of so many bytes from the session's budget,
// and returns how many bytes it may have.
func (c *call) hold(bytes int) int {
	most := c.settingBytes()
	if c.spent == nil {
		return most
	}
	args := len(c.req.Arguments)
	held := c.spent.Hold(estimate(args + max(min(bytes, most), leastResult)))
	if want := min(bytes, most); bytesOf(held)-args >= want {
		return most
	}
	return bytesOf(held) - args
}

// settleBudget counts what the call used.
func (c *call) settleBudget() {
	if c.spent != nil {
		c.spent.Settle(estimate(len(c.req.Arguments) + len(c.res.Content)))
	}
}

// resultBytes bounds the content of the result, by what is left at this moment.
func (c *call) resultBytes() int {
	if c.spent == nil {
		return c.settingBytes()
	}
	return min(c.settingBytes(), max(bytesOf(c.spent.Left())-len(c.req.Arguments), 0))
}

// settingBytes is resultBytes without a budget.
func (c *call) settingBytes() int {
	if c.req.Whole {
		return math.MaxInt
	}
	if most := c.req.Most; most > 0 {
		return min(most, c.set.ResultBytes)
	}
	return c.set.ResultBytes
}

// structuredBytes bounds the structured data of the result.
func (c *call) structuredBytes() int {
	most := c.set.ResultBytes
	if c.req.Whole {
		most = math.MaxInt
	}
	if c.spent != nil {
		most = min(most, bytesOf(c.spent.Left()))
	}
	if most > math.MaxInt/maxStructured {
		return math.MaxInt
	}
	return most * maxStructured
}

func bytesOf(tokens int64) int {
	if tokens > math.MaxInt/tokenBytes {
		return math.MaxInt
	}
	return int(tokens) * tokenBytes
}

// charge takes a page of at most limit bytes from the budget of s. It returns
// how many bytes the page may have; settle is told how many it has.
func charge(s *session.Session, limit int) (most int, settle func(bytes int), err error) {
	if s == nil {
		return limit, func(int) {}, nil
	}
	spent, err := s.ReserveTokens(estimate(utf8.UTFMax))
	if err != nil {
		return 0, nil, tools.Errorf(tools.BudgetExceeded, "%v", err)
	}
	most = min(limit, bytesOf(spent.Hold(estimate(limit))))
	return most, func(bytes int) { spent.Settle(estimate(bytes)) }, nil
}
