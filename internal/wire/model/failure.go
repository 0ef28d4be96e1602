package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Cause says what went wrong, as far as that changes what to do about it.
type Cause string

// The causes.
const (
	Network  Cause = "network"  // the provider can't be reached
	Cut      Cause = "cut"      // the answer ended before its end
	Quiet    Cause = "quiet"    // nothing came for too long
	Garbled  Cause = "garbled"  // what came can't be read
	Busy     Cause = "busy"     // the provider has too much to do, or failed
	Limit    Cause = "limit"    // too many requests, or tokens, for now
	Credit   Cause = "credit"   // what was paid for is used up
	Key      Cause = "key"      // the key is missing, wrong or not allowed to do this
	Missing  Cause = "missing"  // there is no such model
	TooLong  Cause = "too long" // the conversation is longer than the model's window
	Rejected Cause = "rejected" // the provider does not understand the request
)

// Failure is all that a caller sees of an error.
type Failure struct {
	Cause   Cause
	Status  int           // of HTTP; 0: there was no answer
	Message string        // the provider's own words, or ours
	Again   bool          // the same request may go well later
	After   time.Duration // what the provider asked to wait
}

func (f *Failure) Error() string {
	text := f.Message
	if text == "" {
		text = "the provider did not say why"
	}
	if f.Status != 0 && f.Status != http.StatusOK {
		text = fmt.Sprintf("%s (status %d)", text, f.Status)
	}
	return advice[f.Cause] + ": " + text
}

// advice is what a person reads first.
var advice = map[Cause]string{
	Network:  "the model's provider can't be reached: look at the network and at the url of the profile",
	Cut:      "the model's answer ended in the middle",
	Quiet:    "the model's provider stopped sending",
	Garbled:  "the model's provider sent what can't be read",
	Busy:     "the model's provider is busy",
	Limit:    "the model's provider takes no more requests for now",
	Credit:   "the model's provider wants to be paid: look at the account",
	Key:      "there is no key that the model's provider takes: look at where the profile says that it is",
	Missing:  "the model's provider does not have this model: look at model of the profile",
	TooLong:  "the conversation is longer than the model takes",
	Rejected: "the model's provider does not take the request",
}

func failed(c Cause, message string) *Failure {
	return &Failure{Cause: c, Message: message, Again: c == Network || c == Cut || c == Quiet || c == Garbled || c == Busy}
}

// said is an error as providers write it: the three wires differ little.
type said struct {
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a word or a number
	Message string          `json:"message"`
}

func (s said) words() string { return strings.ToLower(s.Type + " " + string(s.Code) + " " + s.Message) }

// tooLong is how providers say that a conversation does not fit, each in its words.
var tooLong = []string{"context_length_exceeded", "prompt is too long", "maximum context length", "context window", "exceeds the context", "too many tokens", "input is too long", "exceed_context_size"}

// refusal is the failure of an error that a provider sent. status is that of HTTP,
// 200 within a stream.
func refusal(status int, s said, h http.Header) *Failure {
	f := &Failure{Status: status, Message: s.Message}
	words := s.words()
	has := func(any ...string) bool {
		for _, w := range any {
			if strings.Contains(words, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has(tooLong...) || status == http.StatusRequestEntityTooLarge:
		f.Cause = TooLong
	case has("insufficient_quota", "billing", "credit balance") || status == http.StatusPaymentRequired:
		f.Cause = Credit
	case status == http.StatusUnauthorized || status == http.StatusForbidden || has("authentication_error", "invalid_api_key", "permission_error"):
		f.Cause = Key
	case status == http.StatusTooManyRequests || has("rate_limit"):
		f.Cause, f.Again = Limit, true
	case status == http.StatusNotFound || has("not_found_error", "model_not_found"):
		f.Cause = Missing
	case status >= 500 || status == http.StatusRequestTimeout || status == http.StatusConflict || has("overloaded", "server_error", "api_error"):
		f.Cause, f.Again = Busy, true
	default:
		f.Cause = Rejected
	}
	f.After = after(h)
	return f
}

// after is how long the provider asks to wait; 0: it does not say.
func after(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 1e12) * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e9) * float64(time.Second))
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// FailureOf is the failure that an error of Ask is, or nil for one that is none, such
// as that of a context.
func FailureOf(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return nil
}
