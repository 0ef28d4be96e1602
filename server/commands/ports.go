package commands

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/exec/ports"
	"github.com/sidecar-ls/sidecar-ls/internal/gate/dispatch"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/session"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// Ports are those that programs of sessions listen on: *ports.Ports.
type Ports interface {
	List(session string) []ports.Port
	May(session string, port int) error
	Open(session string, port int) (url string, err error)
	Close(session string, port int) (url string, err error)
	Follow(ctx context.Context, changed func([]ports.Port))
}

func portsOf(d *Deps) (Ports, error) {
	return part(d.Ports, errors.New("there are no ports: no folder is open in the editor"))
}

type listPortsArgs struct {
	Session string `json:"session,omitempty"` // "" is all
}

// PortList are ports of sessions.
type PortList struct {
	Ports []ports.Port `json:"ports"`
}

func listPorts(_ context.Context, p Ports, a listPortsArgs) (PortList, error) {
	return PortList{p.List(a.Session)}, nil
}

// FollowPorts has told hear of the ports of all sessions when they are others, until ctx ends.
func FollowPorts(ctx context.Context, p Ports, told func(PortList)) {
	p.Follow(ctx, func(list []ports.Port) { told(PortList{list}) })
}

type portArgs struct {
	Session string `json:"session,omitempty"` // "" is the default one
	Port    int    `json:"port"`
}

// PortURL is the address of a port in a browser.
type PortURL struct {
	URL string `json:"url"`
}

// openPort opens a port once a person has agreed; no tool comes here.
func openPort(ctx context.Context, d *Deps, a portArgs) (PortURL, error) {
	p, err := portsOf(d)
	if err != nil {
		return PortURL{}, err
	}
	a.Session = cmp.Or(a.Session, session.Default)
	if err := p.May(a.Session, a.Port); err != nil {
		return PortURL{}, client.InvalidParams("port: %v", err)
	}
	title := fmt.Sprintf("Open port %d of the session %s in your browser?", a.Port, a.Session)
	data, err := json.Marshal(a)
	if err != nil {
		return PortURL{}, err
	}
	hash := sha256.Sum256([]byte(title))
	answer, err := d.Approvals.Approve(ctx, dispatch.Ask{
		ID: rand.Text(), Session: session.Default, AgentPath: []string{}, Tool: "sidecar.session.openPort", Title: title, Body: ports.Warning, Detail: ports.Warning,
		Arguments: data, Effects: dispatch.EffectList{Access: tools.Exec}, Hash: hex.EncodeToString(hash[:]),
	})
	switch {
	case err != nil:
		return PortURL{}, err
	case !answer.Allow:
		return PortURL{}, lsp.Errorf(lsp.RequestFailed, "the port was not opened: %s", cmp.Or(answer.Reason, "the user did not allow it"))
	}
	url, err := p.Open(a.Session, a.Port)
	if err != nil {
		return PortURL{}, lsp.Errorf(lsp.RequestFailed, "%v", err)
	}
	return PortURL{url}, nil
}

func closePort(_ context.Context, p Ports, a portArgs) (PortURL, error) {
	url, err := p.Close(cmp.Or(a.Session, session.Default), a.Port)
	if err != nil {
		return PortURL{}, client.InvalidParams("port: %v", err)
	}
	return PortURL{url}, nil
}
