package clients

import "testing"

// ACPX is acpx, a client of the Agent Client Protocol for the command line; the test is
// skipped without it. It is not among what setup.sh installs:
//
//	npm install --ignore-scripts --prefix DIR acpx@0.19.1
//	SIDECAR_AGENTS=DIR go test ./internal/test/e2e/acp -run TestACPX
func ACPX(t testing.TB) string { return find(t, "acpx", ".bin/acpx") }

// ACPSDK is the module of the protocol's own SDK for TypeScript, which an adapter brings;
// the test is skipped without it.
func ACPSDK(t testing.TB) string {
	return find(t, "the SDK of the Agent Client Protocol", "@agentclientprotocol/sdk/dist/v1/stable/acp.js")
}
