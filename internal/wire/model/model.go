// Package model talks to language models. A conversation is neutral here: messages of
// blocks, whoever they came from. What a provider alone understands, such as a
// signature, is kept raw beside a block and goes back to the same provider as it came.
package model

import "encoding/json"

// Role says whose a message is.
type Role string

// The roles.
const (
	User      Role = "user" // a person's words, and the results of calls
	Assistant Role = "assistant"
)

// Message is what one side says at once.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// Kind says what a block is.
type Kind string

// The kinds.
const (
	Text      Kind = "text"
	Reasoning Kind = "reasoning"
	Call      Kind = "call"
	Result    Kind = "result"
	Image     Kind = "image"
	Other     Kind = "other" // what only its provider knows: there is nothing but Raw
)

// Block is a part of a message.
type Block struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"` // of Text, Reasoning and Result

	ID   string `json:"id,omitempty"`   // of a Call, and of the Call that a Result is of
	Name string `json:"name,omitempty"` // of the tool that a Call calls

	// Args are the arguments of a Call, exactly as the model wrote them. Whoever runs
	// calls must check Readable: what was cut off is not a call with fewer arguments.
	Args   string  `json:"args,omitempty"`
	Failed bool    `json:"failed,omitempty"` // of a Result: the call went wrong
	Images []Block `json:"images,omitempty"` // of a Result

	Media string `json:"media,omitempty"` // of an Image, such as image/png
	Data  []byte `json:"data,omitempty"`  // of an Image

	Raw *Raw `json:"raw,omitempty"`
}

// Raw is what a provider sent beside what is understood here.
type Raw struct {
	From string          `json:"from"` // whose it is: Profile.from
	Data json.RawMessage `json:"data"`
}

// Readable reports whether the arguments of a call are a JSON object.
func (b Block) Readable() bool {
	var object map[string]json.RawMessage
	return json.Unmarshal([]byte(b.Args), &object) == nil && object != nil
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of the arguments, a JSON Schema of type object
}

// Request is what a model is asked.
type Request struct {
	System    string
	Tools     []Tool // in the order that they always have, so that caches stay valid
	ToolText  string // the tools in words, for a model that writes its calls as text
	NoCalls   bool   // the answer may have none; the tools stay, because caches begin with them
	Messages  []Message
	MaxTokens int    // of the answer; 0: what the profile says
	Effort    string // low, medium or high: how long to think; "": the model's default
	Sent      *Sent  // of the conversation; nil: nothing is kept
}

// Answer is what a model said, whole.
type Answer struct {
	Blocks []Block
	Stop   Stop
	Usage  Usage
	Lost   Usage  // of tries that failed before it; an error comes with it too
	Model  string // the one that answered, as it calls itself
}

// Stop says why an answer ends.
type Stop string

// The ends.
const (
	Done    Stop = "done"
	Calls   Stop = "calls"   // it waits for the results of its calls
	Length  Stop = "length"  // the answer was cut off
	Refused Stop = "refused" // the model, or a filter of its provider, would not
)

// Usage is what an answer took, in tokens. Cached ones are not part of Input.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"` // with Reasoning
	Reasoning  int64 `json:"reasoning,omitempty"`
	CacheRead  int64 `json:"cacheRead,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
}

// Plus is what two answers took.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.Reasoning + v.Reasoning, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// Piece is a part of an answer as it comes.
type Piece struct {
	Kind Kind   // Text, Reasoning or Call
	Text string // more of it; of a Call, more of its arguments
	ID   string // of a Call
	Name string // of a Call

	// Again says that all pieces before this one are void: the answer begins anew.
	Again *Failure
}
