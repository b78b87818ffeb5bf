package importers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/clients"
)

const serversParams = `{
	"client": {"type": "string", "minLength": 1, "maxLength": 40, "description": "A client, as install --list has it"},
	"servers": {"type": "array", "maxItems": 50, "items": {"type": "string", "minLength": 1, "maxLength": 100}, "description": "Only these"},
	"project": {"type": "string", "maxLength": 4096, "description": "A project's folder, absolute: its servers too, and places such as ./x in it"},
	"replace": {"type": "boolean", "description": "Take them out of the client's configuration, which starts the gateway instead"}`

// Clients accesses the agents' client programs on this computer and their MCP servers.
type Clients interface {
	// Scopes returns the scopes of a client's configuration with their MCP servers, without this gateway; the
	// first one is for all projects. The client's file in the folder project is one of them.
	Scopes(client, project string) ([]clients.Scope, clients.Client, error)
	// ReplaceServers plans to replace the named servers in the client's configuration by this gateway with the
	// arguments.
	ReplaceServers(client string, names, args []string) (*clients.Plan, error)
	// Apply carries out a plan of ReplaceServers.
	Apply(ctx context.Context, p *clients.Plan) error
}

// secretID returns the vault id for the values of a server's variables. The MCP driver reads them
// there.
func secretID(app string) string { return "mcp-env/" + app }

// draftServers is the [Source] that converts a client's servers to apps.
func (r *Importer) draftServers(_ context.Context, call *aai.Call) (*Review, error) {
	client := stringArg(call, "client")
	if r.cfg.Clients == nil {
		return nil, aai.Errorf(aai.AutomationNotSupported, "this gateway knows no clients")
	}
	project, current := stringArg(call, "project"), ""
	if call.Caller.Door == aai.DoorCLI {
		current = r.cfg.CurrentFolder
	}
	scopes, of, err := r.cfg.Clients.Scopes(client, cmp.Or(project, current))
	if err != nil {
		return nil, err
	}
	wanted, err := wantedServers(call, scopes, of)
	if err != nil {
		return nil, err
	}
	shown := &answer.DraftedServers{Client: of.Name, File: of.File, Apps: []answer.DraftedServer{}, Left: []answer.SkippedServer{}}
	record := &importRecord{From: fromClient + client}
	review := &Review{
		Origin: of.File + ", or one of the apps,", Preview: &aai.Result{Data: shown}, Seen: &shown.Seen,
		Prepare: func(context.Context) error {
			slices.Sort(record.Vaulted)
			return r.saveRecord(record)
		},
	}
	for _, scope := range scopes {
		if scope.Fault != nil {
			shown.Left = append(shown.Left, answer.SkippedServer{Server: aai.CleanLabel(scope.Place, 300), Reason: aai.AsError(scope.Fault).Message})
		}
	}
	for _, s := range r.convertServers(client, project, scopes, wanted) {
		if s.skipReason != "" {
			name := cmp.Or(aai.CleanLabel(s.name, 60), `""`)
			if s.place != "" {
				name += ", of " + aai.CleanLabel(s.place, 300)
			}
			shown.Left = append(shown.Left, answer.SkippedServer{Server: name, Reason: s.skipReason})
		} else if err := r.addServer(review, shown, record, s); err != nil {
			return nil, err
		}
	}
	done := ""
	if replace, _ := call.Args["replace"].(bool); replace && len(shown.Apps) > 0 {
		if err := r.replaceServers(review, shown, client); err != nil {
			return nil, err
		}
	}
	if shown.Replace != nil {
		record.Client = client
		done = " " + of.Name + " starts the gateway instead; \"aai-gateway install --rollback --client " + client +
			"\" restores its servers."
	}
	review.Saved = func(apps []string) *aai.Result {
		return &aai.Result{Text: "Saved: " + strings.Join(apps, ", ") + "." + done,
			Data: map[string]any{"apps": apps, "replaced": shown.Replace != nil}}
	}
	return review, nil
}

// wantedServers returns the servers that a call names, which must exist; empty: all.
func wantedServers(call *aai.Call, scopes []clients.Scope, of clients.Client) ([]string, error) {
	wanted := stringsArg(call, "servers")
	var all []string
	for _, scope := range scopes {
		all = append(all, slices.Collect(maps.Keys(scope.Servers))...)
	}
	for _, name := range wanted {
		if !slices.Contains(all, name) {
			e := aai.Errorf(aai.InvalidParams, "servers: %s has no MCP server %s in %s", of.Name, quotedSetting(name), placesOf(scopes))
			e.Candidates = aai.Nearest(name, slices.Sorted(slices.Values(all)), 3)
			return nil, e
		}
	}
	return wanted, nil
}

func placesOf(scopes []clients.Scope) string {
	places := make([]string, len(scopes))
	for i, scope := range scopes {
		places[i] = scope.Place
	}
	return aai.CleanLabel(strings.Join(places, ", "), maxSummaryLine)
}

// convertServers converts the wanted servers in the order of their scopes and names. Of two with the same
// id, the second gets the name of its project's folder in its id, or is skipped if it has none.
func (r *Importer) convertServers(client, project string, scopes []clients.Scope, wanted []string) (list []*server) {
	ids := make(map[string]*server)
	for i, scope := range scopes {
		origin := serverOrigin{client: client, project: cmp.Or(scope.Folder, project), isScoped: scope.Folder != ""}
		for _, name := range slices.Sorted(maps.Keys(scope.Servers)) {
			if len(wanted) > 0 && !slices.Contains(wanted, name) {
				continue
			}
			s := r.serverOf(origin, name, scope.Servers[name])
			if s.doc != nil && ids[s.doc.ID] != nil && scope.Folder != "" {
				origin := origin
				origin.inID = true
				s = r.serverOf(origin, name, scope.Servers[name])
			}
			if i > 0 {
				s.place = scope.Place
			}
			switch {
			case s.skipReason != "":
			case s.disabled && len(wanted) == 0:
				s.skipReason = "it is switched off there; name it with --server to take it all the same"
			case ids[s.doc.ID] != nil:
				s.skipReason = "another of them has the id " + s.doc.ID
			default:
				var err error
				if s.text, err = s.doc.Marshal(); err != nil {
					s.skipReason = "no descriptor can be made of it: " + aai.AsError(err).Message
				} else {
					ids[s.doc.ID] = s
				}
			}
			list = append(list, s)
		}
	}
	return list
}

// addServer adds a server to the review.
func (r *Importer) addServer(review *Review, shown *answer.DraftedServers, record *importRecord, s *server) error {
	c, err := r.plan(s.doc, s.text, false)
	if err != nil {
		return err
	}
	c.Notes = append(c.Notes, s.notes...)
	one := answer.DraftedServer{DraftedApp: c.DraftedApp, Server: s.name, Place: s.place, Variables: slices.Sorted(maps.Keys(s.values))}
	if a := s.doc.Sections[0].Auth; a != nil {
		one.Login = a.In + " " + a.Name
	}
	shown.Apps, record.Apps = append(shown.Apps, one), append(record.Apps, c.change.Record(c.App))
	if len(s.values) > 0 || s.key != "" {
		record.Vaulted = append(record.Vaulted, c.App)
	}
	review.Apps = append(review.Apps,
		ReviewedApp{ID: c.App, Change: c.change, StoreSecrets: func(ctx context.Context) error {
			return r.storeSecrets(ctx, s, record.At)
		}})
	return nil
}

// replaceServers adds the change of the client's configuration to the review.
func (r *Importer) replaceServers(review *Review, shown *answer.DraftedServers, client string) error {
	var names []string
	for i := range shown.Apps {
		app := &shown.Apps[i]
		if app.Place == "" {
			names = append(names, app.Server)
		} else {
			app.Notes = append(app.Notes, "it stays in "+app.Place+", which the import does not change")
		}
	}
	if len(names) == 0 {
		return nil
	}
	p, err := r.cfg.Clients.ReplaceServers(client, names, []string{"mcp", "serve"})
	if err != nil {
		return err
	}
	shown.Replace = &answer.ClientChange{Diff: p.Diff, Notes: p.Notes, After: p.NextStep}
	review.Beside = []DescriptorChange{{Path: shown.File, After: []byte(p.Diff)}}
	review.Finish = func(ctx context.Context) error { return r.cfg.Clients.Apply(ctx, p) }
	return nil
}

// storeSecrets stores the secrets of a server.
func (r *Importer) storeSecrets(ctx context.Context, s *server, at time.Time) error {
	if len(s.values) > 0 {
		if err := r.storeValues(ctx, s, at); err != nil {
			return err
		}
	}
	if s.key != "" && s.doc.Sections[0].Auth != nil {
		return r.storeKey(ctx, s, at)
	}
	return nil
}

// storeValues stores the values of a server's variables, and remembers the previous ones.
func (r *Importer) storeValues(ctx context.Context, s *server, at time.Time) error {
	if r.cfg.Secrets == nil {
		return aai.Errorf(aai.AutomationNotSupported, "there is no place to keep the values of %s", s.doc.ID)
	}
	var before, wanted []byte
	err := r.cfg.Secrets.Update(ctx, secretID(s.doc.ID), func(old []byte) ([]byte, error) {
		values := make(map[string]string)
		if len(old) > 0 && json.Unmarshal(old, &values) != nil {
			values = make(map[string]string) // unreadable values are useless
		}
		maps.Copy(values, s.values)
		before = slices.Clone(old)
		var err error
		wanted, err = json.Marshal(values)
		return old, err
	})
	if err == nil && r.cfg.UndoFolder != "" {
		err = r.rememberVault(ctx, at, s.doc.ID, func(f *vaultBefore) { f.Values, f.Wrote = before, wanted })
	}
	if err != nil {
		return err
	}
	return r.cfg.Secrets.Update(ctx, secretID(s.doc.ID), func(old []byte) ([]byte, error) {
		if !bytes.Equal(old, before) {
			return nil, newReviewMismatchError("the vault")
		}
		return wanted, nil
	})
}

// storeKey stores the key of a remote server, and remembers the previous one.
func (r *Importer) storeKey(ctx context.Context, s *server, at time.Time) error {
	if r.cfg.Logins == nil {
		return aai.Errorf(aai.AutomationNotSupported, "there is no place to keep the key of %s", s.doc.ID)
	}
	section := s.doc.Sections[0]
	known := &aai.Recipe{App: s.doc.ID, Platform: section.Platform,
		HTTP: &aai.HTTPRecipe{BaseURL: section.URL, Auth: section.Auth}}
	before, err := r.cfg.Logins.ReplaceCredentials(ctx, known, map[string]string{"key": s.key})
	if err != nil || r.cfg.UndoFolder == "" || r.cfg.Secrets == nil {
		return err
	}
	return r.rememberVault(ctx, at, s.doc.ID, func(f *vaultBefore) { f.Login, f.Key, f.Given = known, before, s.key })
}
