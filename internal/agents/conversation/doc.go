// Package conversation keeps conversations with agents: what was said and done, as an
// append-only journal that survives the process, the prompts that wait, the
// questions that are open. Which agent it is, and how it is talked to, is its
// Driver's business.
//
// run.end says that the agent has stopped, and why; the conversation goes on
// with the next prompt until the run's state is ended. A directory belongs to
// one Store at a time: the caller sees to that.
package conversation
