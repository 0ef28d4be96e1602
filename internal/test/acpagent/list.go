package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
)

// earlier is what the ids of the conversations begin with that it has had.
const earlier = "earlier-"

// ListSessions has three conversations, one of them of another directory, on a page
// each, or is as hostile as ACPAGENT_LISTS says.
func (a *agent) ListSessions(ctx context.Context, p sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	if !a.in {
		return sdk.ListSessionsResponse{}, sdk.NewAuthRequired(nil)
	}
	page := 1
	if p.Cursor != nil {
		page, _ = strconv.Atoi(*p.Cursor)
	}
	one := sdk.SessionInfo{SessionId: sdk.SessionId(earlier + strconv.Itoa(page)), Cwd: *p.Cwd}
	r := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{one}, NextCursor: sdk.Ptr(strconv.Itoa(page + 1))}
	switch os.Getenv("ACPAGENT_LISTS") {
	case "endless": // pages that have nothing
		r.Sessions = []sdk.SessionInfo{}
	case "round":
		r.NextCursor = sdk.Ptr(strconv.Itoa(1 + page%3))
	case "many":
		r.Sessions = nil
		for i := range 1500 {
			one.SessionId = sdk.SessionId(fmt.Sprintf("%s%d-%d", earlier, page, i))
			one.UpdatedAt = sdk.Ptr(fmt.Sprintf("2026-01-%02dT%02d:%02d:00Z", 1+i/1440, i/60%24, i%60))
			r.Sessions = append(r.Sessions, one)
		}
	case "huge":
		r.Sessions[0].Title = sdk.Ptr(strings.Repeat("x", 100<<20))
	case "wrong":
		fmt.Println(`{"jsonrpc":"2.0","id":2,"result":{"sessions":[{"sessionId":7,"cwd":[]}],"nextCursor":{}}}`)
		<-ctx.Done()
	case "cursor":
		r.NextCursor = sdk.Ptr("a\x1b[2Jb")
	case "hang":
		fmt.Fprintln(os.Stderr, "it was asked")
		<-ctx.Done()
	case "die":
		fmt.Fprintln(os.Stderr, "its last words")
		os.Exit(3)
	case "writes":
		r.NextCursor = nil
		return r, within(*p.Cwd, "left.txt", "left\n")
	default:
		switch page {
		case 1:
			r.Sessions[0].Title, r.Sessions[0].UpdatedAt = sdk.Ptr("Fix the\n\x1b[31mtests\u202e"), sdk.Ptr("2026-01-02T03:04:05+01:00")
		case 2:
			r.Sessions[0].Cwd += "/elsewhere"
		default:
			r.Sessions = append(r.Sessions, sdk.SessionInfo{SessionId: "no\x07id", Cwd: *p.Cwd}, sdk.SessionInfo{SessionId: sdk.SessionId(strings.Repeat("i", 2000)), Cwd: *p.Cwd})
			r.Sessions[0].Title, r.Sessions[0].UpdatedAt = sdk.Ptr(strings.Repeat("é", 3000)), sdk.Ptr("2026-03-01T00:00:00Z")
			r.Sessions[1].UpdatedAt = sdk.Ptr("yesterday")
			r.NextCursor = nil
		}
	}
	return r, nil
}
