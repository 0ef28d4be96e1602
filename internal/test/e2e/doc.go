// Package e2e is what the end-to-end tests share: a server with an editor ([Rig]), the
// command line ([RunCLI], [Shell]), an agent in conversation ([Conversation]), worlds and
// MCP callers. The tests are the packages below it, one for each subject. The program of
// each can also act as the server ([Main]). Projects are made by [Project], [WorldProject]
// and [AgentProject]; [Runs] is `sidecar-ls run`.
package e2e
