// Package loop is an agent of our own: it asks a language model what to do next, does
// it through the gate, and tells what came of it, until the model is done.
//
// Its journal comes first. What is in it is all that a request to the model is made of,
// so that the end of the process loses at most what was being said, and no call is
// answered twice or not at all.
package loop
