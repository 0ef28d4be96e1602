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

// bill is what a call takes of its session's budget, and what its result may have.
type bill struct {
	spent      *session.Reservation // nil until the call is counted
	arguments  int                  // bytes
	setting    int                  // bytes of the content, whatever is left of the budget
	structured int                  // likewise, before the structured data's own share
}

func newBill(r Request, set *Settings) bill {
	b := bill{arguments: len(r.Arguments), setting: set.ResultBytes, structured: set.ResultBytes}
	if r.Most > 0 {
		b.setting = min(r.Most, set.ResultBytes)
	}
	if r.Whole {
		b.setting, b.structured = math.MaxInt, math.MaxInt
	}
	return b
}

// reserve counts the call and holds what it needs at least of the session's
// budget. How long the result is shows at the end: hold takes the rest.
func (b *bill) reserve(s *session.Session) error {
	spent, err := s.Reserve(estimate(b.arguments + leastResult))
	if err != nil {
		return tools.Errorf(tools.BudgetExceeded, "%v", err)
	}
	b.spent = spent
	return nil
}

// hold takes the tokens of a result of so many bytes from the session's budget,
// and returns how many bytes it may have.
func (b *bill) hold(bytes int) int {
	if b.spent == nil {
		return b.setting
	}
	want := min(bytes, b.setting)
	held := b.spent.Hold(estimate(b.arguments + max(want, leastResult)))
	if bytesOf(held)-b.arguments >= want {
		return b.setting
	}
	return bytesOf(held) - b.arguments
}

// settle counts what the call used, with a result of so many bytes.
func (b *bill) settle(result int) {
	if b.spent != nil {
		b.spent.Settle(estimate(b.arguments + result))
	}
}

// resultBytes bounds the content of the result, by what is left at this moment.
func (b *bill) resultBytes() int {
	if b.spent == nil {
		return b.setting
	}
	return min(b.setting, max(bytesOf(b.spent.Left())-b.arguments, 0))
}

// structuredBytes bounds the structured data of the result.
func (b *bill) structuredBytes() int {
	most := b.structured
	if b.spent != nil {
		most = min(most, bytesOf(b.spent.Left()))
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
