package discovery

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/gybob/aai-gateway"
)

// maxServers limits the reported servers.
const maxServers = 200

// scanClients reports the MCP servers of clients. It reports names and no values, because a
// client's configuration is private.
func (r *Scanner) scanClients(ctx context.Context) sourceResult {
	var p sourceResult
	found, unread := r.cfg.Servers(ctx)
	for _, file := range unread {
		p.notes = append(p.notes, "not read, as its format is unknown: "+cleanName(file))
	}
	if len(found) > maxServers {
		p.notes = append(p.notes, fmt.Sprintf("of the clients' servers %d were left out", len(found)-maxServers))
		found = found[:maxServers]
	}
	variable := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	for _, s := range found {
		name := cmp.Or(cleanName(s.Name), `""`) // a file may have an entry without a name
		w := Integration{
			ID: cleanName(kindServer + " " + s.Client + " " + name), Kind: kindServer, App: name, State: StateConfigured,
			Benefit:   "the tools of an MCP server (" + cleanName(s.Transport) + ") that " + cleanName(s.Client) + " starts",
			HowTo:     "It is " + cleanName(s.Client) + "'s. To have it here too: aai-gateway import --from " + cleanName(s.ID) + ".",
			Locations: []string{cleanName(s.File)}, Source: "client:" + s.ID + "/" + aai.CleanLabel(strings.ReplaceAll(s.Name, "|", " "), 60),
		}
		for _, name := range s.Variables {
			if variable.MatchString(name) {
				w.Variables = append(w.Variables, name)
			}
		}
		p.integrations = append(p.integrations, w)
	}
	return p
}
