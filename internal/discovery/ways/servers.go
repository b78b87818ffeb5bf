package ways

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"aai"
)

// maxServers is how many servers are told of.
const maxServers = 200

// ofClients tells of the MCP servers that clients start. What their configurations give
// them is theirs: names are told of, and no values.
func (r *Room) ofClients(ctx context.Context) part {
	var p part
	found, unread := r.cfg.Servers(ctx)
	for _, file := range unread {
		p.notes = append(p.notes, "not read, as it is no configuration that is understood: "+clean(file))
	}
	if len(found) > maxServers {
		p.notes = append(p.notes, fmt.Sprintf("of the clients' servers %d were left out", len(found)-maxServers))
		found = found[:maxServers]
	}
	variable := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	for _, s := range found {
		name := cmp.Or(clean(s.Name), `""`) // a file may have one without a name
		w := Way{
			ID: clean(kindServer + " " + s.Client + " " + name), Kind: kindServer, App: name, State: Configured,
			Gains: "the tools of an MCP server (" + clean(s.Over) + ") that " + clean(s.Client) + " starts",
			Get:   "It is " + clean(s.Client) + "'s. To have it here too: aai-gateway import --from " + clean(s.ID) + ".",
			Where: []string{clean(s.File)}, from: "client:" + s.ID + "/" + aai.CleanLabel(strings.ReplaceAll(s.Name, "|", " "), 60),
		}
		for _, name := range s.Variables {
			if variable.MatchString(name) {
				w.Variables = append(w.Variables, name)
			}
		}
		p.ways = append(p.ways, w)
	}
	return p
}
