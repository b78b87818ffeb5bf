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
	"github.com/gybob/aai-gateway/internal/clients"
)

const serversParams = `{
	"client": {"type": "string", "minLength": 1, "maxLength": 40, "description": "A client, as install --list has it"},
	"servers": {"type": "array", "maxItems": 50, "items": {"type": "string", "minLength": 1, "maxLength": 100}, "description": "Only these"},
	"replace": {"type": "boolean", "description": "Take them out of the client's configuration, which starts the gateway instead"}`

// Clients accesses the agents' client programs on this computer and their MCP servers.
type Clients interface {
	// Servers returns the fields of each MCP server in a client's configuration, by name, without this gateway.
	Servers(client string) (map[string]map[string]any, clients.Client, error)
	// ReplaceServers plans to replace the named servers in the client's configuration by this gateway with the
	// arguments.
	ReplaceServers(client string, names, args []string) (*clients.Plan, error)
	// Apply carries out a plan of ReplaceServers.
	Apply(ctx context.Context, p *clients.Plan) error
}

// secretID returns the vault id for the values of a server's variables. The MCP driver reads them
// there.
func secretID(app string) string { return "mcp-env/" + app }

// A takenServer is the preview of a server, without values.
type takenServer struct {
	*descriptorPreview
	Server    string   `json:"server"`
	Variables []string `json:"variables,omitempty"` // variables with values for the vault
	Login     string   `json:"login,omitempty"`     // the place of its key, which goes into the vault too
}

type skippedServer struct {
	Server string `json:"server"`
	Why    string `json:"why"`
}

// serversPreview is the result of ShowServersTool.
type serversPreview struct {
	Client  string          `json:"client"`
	File    string          `json:"file"`
	Seen    string          `json:"seen"`
	Apps    []takenServer   `json:"apps"`
	Left    []skippedServer `json:"left_out"`
	Replace *clientChange   `json:"replace,omitempty"`
	servers []*server
}

// clientChange is the planned change of the client's configuration.
type clientChange struct {
	Diff  string   `json:"diff"`
	Notes []string `json:"notes,omitempty"`
	After string   `json:"after,omitempty"`
	plan  *clients.Plan
}

func (r *Importer) showServers(_ context.Context, call *aai.Call) (*aai.Result, error) {
	shown, err := r.clientServers(call)
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: shown}, nil
}

// clientServers returns the preview of the servers that a call names.
func (r *Importer) clientServers(call *aai.Call) (*serversPreview, error) {
	client, wanted := stringArg(call, "client"), stringsArg(call, "servers")
	if r.cfg.Clients == nil {
		return nil, aai.Errorf(aai.AutomationNotSupported, "this gateway knows no clients")
	}
	all, of, err := r.cfg.Clients.Servers(client)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(all))
	for _, name := range wanted {
		if _, there := all[name]; !there {
			e := aai.Errorf(aai.InvalidParams, "servers: %s has no MCP server %s in %s", of.Name, quotedSetting(name), of.File)
			e.Candidates = aai.Nearest(name, names, 3)
			return nil, e
		}
	}
	shown := &serversPreview{Client: of.Name, File: of.File, Apps: []takenServer{}, Left: []skippedServer{}}
	ids := make(map[string]bool)
	for _, name := range names {
		if len(wanted) > 0 && !slices.Contains(wanted, name) {
			continue
		}
		s := r.serverOf(client, name, all[name])
		if s.disabled && s.skipReason == "" && len(wanted) == 0 {
			s.skipReason = "it is switched off there; name it with --server to take it all the same"
		}
		if s.skipReason == "" && ids[s.doc.ID] {
			s.skipReason = "another of them has the id " + s.doc.ID
		}
		if s.skipReason == "" {
			err = r.addPreview(shown, s)
		}
		if s.skipReason != "" {
			shown.Left = append(shown.Left, skippedServer{Server: cmp.Or(aai.CleanLabel(name, 60), `""`), Why: s.skipReason})
			continue
		}
		if err != nil {
			return nil, err
		}
		ids[s.doc.ID] = true
	}
	if replace, _ := call.Args["replace"].(bool); replace && len(shown.servers) > 0 {
		if err := r.planClientChange(shown, client); err != nil {
			return nil, err
		}
	}
	changes := make([]DescriptorChange, len(shown.Apps))
	for i := range shown.Apps {
		changes[i] = shown.Apps[i].planned
	}
	if shown.Replace != nil {
		changes = append(changes, DescriptorChange{Path: of.File, After: []byte(shown.Replace.Diff)})
	}
	shown.Seen = ReviewDigest(changes...)
	return shown, nil
}

// addPreview adds a server to the preview, or sets the reason why it cannot be imported.
func (r *Importer) addPreview(all *serversPreview, s *server) error {
	written, err := s.doc.Marshal()
	if err != nil {
		s.skipReason = "no descriptor can be made of it: " + aai.AsError(err).Message
		return nil
	}
	c, err := r.plan(s.doc, written, false)
	if err != nil {
		return err
	}
	c.Notes = append(c.Notes, s.notes...)
	one := takenServer{descriptorPreview: c, Server: s.name, Variables: slices.Sorted(maps.Keys(s.values))}
	if a := s.doc.Sections[0].Auth; a != nil {
		one.Login = a.In + " " + a.Name
	}
	all.Apps, all.servers = append(all.Apps, one), append(all.servers, s)
	return nil
}

// planClientChange plans the change of the client's configuration.
func (r *Importer) planClientChange(shown *serversPreview, client string) error {
	names := make([]string, len(shown.servers))
	for i, s := range shown.servers {
		names[i] = s.name
	}
	p, err := r.cfg.Clients.ReplaceServers(client, names, []string{"mcp", "serve"})
	if err != nil {
		return err
	}
	shown.Replace = &clientChange{Diff: p.Diff, Notes: p.Notes, After: p.NextStep, plan: p}
	return nil
}

func (r *Importer) saveServers(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	shown, err := r.clientServers(call)
	if err != nil {
		return nil, err
	}
	if shown.Seen != stringArg(call, "seen") {
		return nil, NewReviewMismatchError(shown.File + ", or one of the apps,")
	}
	var done []string
	whole := serversRecord(stringArg(call, "client"), shown)
	if err := r.saveRecord(whole); err != nil {
		return nil, err
	}
	for i, s := range shown.servers {
		if err := r.importServer(ctx, s, shown.Apps[i].descriptorPreview, whole.At); err != nil {
			return nil, partialImportError(err, done)
		}
		done = append(done, s.doc.ID)
	}
	words := "Saved: " + strings.Join(done, ", ") + "."
	if shown.Replace != nil {
		if err := r.cfg.Clients.Apply(ctx, shown.Replace.plan); err != nil {
			return nil, partialImportError(err, done)
		}
		words += " " + shown.Client + " starts the gateway instead; \"aai-gateway install --rollback --client " + stringArg(call, "client") + "\" restores its servers."
	}
	return &aai.Result{Text: words, Data: map[string]any{"apps": done, "replaced": shown.Replace != nil}}, nil
}

// partialImportError returns an error that names the apps saved before it.
func partialImportError(err error, done []string) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	if len(done) > 0 {
		e.Message += "; saved before that: " + strings.Join(done, ", ")
		e.Delivery = aai.Delivered
	}
	return &e
}

// importServer stores the secrets of a server, and saves its descriptor.
func (r *Importer) importServer(ctx context.Context, s *server, c *descriptorPreview, at time.Time) error {
	if len(s.values) > 0 {
		if err := r.storeValues(ctx, s, at); err != nil {
			return err
		}
	}
	if s.key != "" && s.doc.Sections[0].Auth != nil {
		if err := r.storeKey(ctx, s, at); err != nil {
			return err
		}
	}
	if c.Same {
		return nil
	}
	return c.planned.Save(ctx)
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
			return nil, NewReviewMismatchError("the vault")
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
	known := &aai.Recipe{App: s.doc.ID, Platform: section.Platform, HTTP: &aai.HTTPRecipe{BaseURL: section.URL, Auth: section.Auth}}
	before, err := r.cfg.Logins.ReplaceCredentials(ctx, known, map[string]string{"key": s.key})
	if err != nil || r.cfg.UndoFolder == "" || r.cfg.Secrets == nil {
		return err
	}
	return r.rememberVault(ctx, at, s.doc.ID, func(f *vaultBefore) { f.Login, f.Key, f.Given = known, before, s.key })
}
