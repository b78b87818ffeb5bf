package cli_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// someClients are the clients of a script: "new", "same", "different", "foreign", with a foreign
// entry, "broken", which cannot be read, "full", which cannot be written, and "dead", with a server
// that does not start. Those with a first letter before e are installed.
type someClients struct{ w *world }

func (c someClients) List() []cli.Client {
	var all []cli.Client
	for _, id := range []string{"broken", "dead", "different", "foreign", "full", "new", "same"} {
		all = append(all, cli.Client{ID: id, Name: strings.ToUpper(id), File: "/home/ann/" + id, Installed: id < "e" && !c.w.noClients})
	}
	return all
}

func (c someClients) LastChanged() string { return c.w.changed }

func (c someClients) Leftovers() []cli.Leftover { return nil }

func (c someClients) Purge(cli.Leftover) error { return nil }

func (c someClients) Plan(act, client, profile string) (*cli.ClientPlan, error) {
	if client == "broken" {
		return nil, aai.Errorf(aai.InvalidParams, "/home/ann/broken: line 1, column 2: expected JSON")
	}
	p := &cli.ClientPlan{
		ID: client, Name: strings.ToUpper(client), File: "/home/ann/" + client, Change: "add", After: "Start it anew.",
		Diff: fmt.Sprintf("--- %s\n+++ %s\n@@ -1 +1 @@\n+%s %s\n", client, client, act, profile), Notes: []string{"a note of " + client},
	}
	switch {
	case client == cli.ShellExtension: // it is not installed
		p.Change, p.Notes = "nothing", nil
	case client == "same":
		p.Change = "nothing"
	case client == "different":
		p.Change = "replace"
	case client == "foreign":
		p.Change, p.NeedsConfirmation = "replace", true
	case act == cli.ClientUninstall:
		p.Change = "remove"
	case act == cli.ClientRollback:
		p.Change = "restore"
	}
	p.Apply = func(context.Context) error {
		if client == "full" {
			return aai.Errorf(aai.AutomationFailed, "/home/ann/full cannot be written: the disk is full")
		}
		c.w.changed = client
		return nil
	}
	p.Probe = func(context.Context) (cli.ProbeResult, error) {
		if client == "dead" {
			return cli.ProbeResult{}, aai.Errorf(aai.AutomationFailed, "it does not start as DEAD starts it")
		}
		return cli.ProbeResult{Server: "aai-gateway", Version: "1.2.3", Protocol: "2025-11-25", Tools: 4, Took: 1234 * time.Microsecond}, nil
	}
	return p, nil
}
