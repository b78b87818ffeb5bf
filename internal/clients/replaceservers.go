package clients

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// ServersOf returns the MCP servers in a client's configuration, by name, with their fields as
// written. It omits entries that start this program. The values may be secrets.
func (r *Installer) ServersOf(id string) (servers map[string]map[string]any, of Client, err error) {
	p, _, err := r.plan(id)
	if err != nil {
		return nil, Client{}, err
	}
	if p.Client.File == "" {
		return nil, p.Client, aai.Errorf(aai.AutomationNotSupported, "%s keeps its servers in no file that can be read", p.Client.Name)
	}
	spot := p.at.splicePlace()
	if _, _, err := splice.Find(p.old, spot); err != nil {
		e := aai.Errorf(aai.InvalidParams, "%s: %w", aai.CleanLabel(p.Client.File, 300), err)
		e.Hint = fmt.Sprintf("The file was not touched, and %s reads the same one. Mend it by hand, and import again.",
			p.Client.Name)
		return nil, p.Client, e
	}
	servers = splice.Others(p.old, spot)
	maps.DeleteFunc(servers, func(_ string, fields map[string]any) bool { return r.startsUs(commandOf(fields)) })
	return servers, p.Client, nil
}

// ReplaceServers plans to remove servers from a client's configuration and to add the gateway if absent. Rollback
// restores the servers, as does Uninstall if the file is unchanged since.
func (r *Installer) ReplaceServers(id string, names, args []string) (*Plan, error) {
	p, c, err := r.plan(id)
	if err != nil {
		return nil, err
	}
	spot := p.at.splicePlace()
	found, there, err := splice.Find(p.old, spot)
	if err != nil {
		return nil, r.unreadable(p.Client, err)
	}
	others := splice.Others(p.old, spot)
	p.next, p.remains = p.old, true
	for _, name := range slices.Sorted(slices.Values(names)) {
		theirs := spot
		theirs.Name = name
		if others[name] == nil {
			return nil, r.unreadable(p.Client, errors.New("it has no server of one of the names any more"))
		}
		if p.next, err = splice.Drop(p.next, theirs); err != nil {
			return nil, r.unreadable(p.Client, err)
		}
	}
	entry := c.fields(r.command(), r.launchArgs(args))
	already := false
	for _, fields := range others {
		already = already || r.startsUs(commandOf(fields))
	}
	switch {
	case already:
	case !there:
		if p.next, err = splice.Put(p.next, spot, entry); err != nil {
			return nil, r.unreadable(p.Client, err)
		}
	case !r.startsUs(commandOf(found)):
		p.Notes = append(p.Notes, "The entry "+EntryName+
			" in it is another program's, and stays: the client does not start this one.")
	}
	p.Action, p.kind = ActionReplace, stepInstall
	p.Diff = diffOf(p, texts(entry))
	return p, nil
}
