package catalog

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
)

// Marshal encodes the document as a descriptor that Parse reads as the same app. It uses the
// single-platform dialect ("platform", "app", "execution") if possible. It uses the dialect with
// "platforms" for several platforms, scripts of macOS, intents and URLs.
//
// Marshal parses its result: the error is an *aai.Error with code AAI_JSON_INVALID that names the
// place in the rejected text. The types "stdio" and "acp" always fail, because the document does
// not keep their settings.
func (d *Document) Marshal() ([]byte, error) {
	p := &parser{kinds: kinds()}
	var whole any
	single := false
	if len(d.Sections) == 1 {
		for _, e := range p.executions() {
			single = single || e.name == d.Sections[0].Automation && !e.unwritable
		}
	}
	app := appText{Name: d.Name, Description: d.Description, Aliases: d.Aliases}
	if single {
		s := &d.Sections[0]
		app.ID = d.ID
		whole = singleText{
			SchemaVersion: "1.0", Version: d.Version, Platform: s.Platform, App: app,
			Execution: executionText{Type: s.Automation, AppAddress: s.AppAddress}, Auth: authOf(s.Auth), Tools: p.toolTexts(s), Generated: d.Generated,
		}
	} else {
		sections := make(sectionTexts, len(d.Sections))
		for i := range d.Sections {
			s := &d.Sections[i]
			sections[i] = sectionText{platform: s.Platform, Automation: s.Automation, AppAddress: s.AppAddress, Auth: authOf(s.Auth), Tools: p.toolTexts(s)}
		}
		whole = multiText{SchemaVersion: "1.0", Version: d.Version, AppID: d.ID, appText: app, Platforms: sections, Generated: d.Generated}
	}
	written, err := asJSON(whole)
	if err != nil {
		return nil, aai.Errorf(aai.DescriptorInvalid, "the descriptor cannot be written: %w", err)
	}
	if _, err := Parse(written, Options{}); err != nil {
		return nil, err
	}
	return written, nil
}

// asJSON encodes a value as indented JSON.
func asJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	return b.Bytes(), err
}

type appText struct {
	ID          string   `json:"id,omitzero"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitzero"`
	Aliases     []string `json:"aliases,omitzero"`
}

type singleText struct {
	SchemaVersion string        `json:"schema_version"`
	Version       string        `json:"version,omitzero"`
	Platform      string        `json:"platform"`
	Generated     *Generated    `json:"generated,omitzero"`
	App           appText       `json:"app"`
	Execution     executionText `json:"execution"`
	Auth          *authText     `json:"auth,omitzero"`
	Tools         []toolText    `json:"tools,omitzero"`
}

type executionText struct {
	Type string `json:"type"`
	AppAddress
}

type multiText struct {
	SchemaVersion string `json:"schema_version"`
	Version       string `json:"version,omitzero"`
	AppID         string `json:"appId"`
	appText
	Generated *Generated   `json:"generated,omitzero"`
	Platforms sectionTexts `json:"platforms"`
}

type sectionText struct {
	platform   string
	Automation string `json:"automation"`
	AppAddress
	Auth  *authText  `json:"auth,omitzero"`
	Tools []toolText `json:"tools,omitzero"`
}

// sectionTexts marshals sections in order: without a driver for any, the first one counts.
type sectionTexts []sectionText

// MarshalJSON implements json.Marshaler.
func (sections sectionTexts) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, s := range sections {
		if i > 0 {
			b = append(b, ',')
		}
		text, err := asJSON(s)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, encode(s.platform)...), ':'), text...)
	}
	return append(b, '}'), nil
}

type toolText struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	Group       string `json:"group,omitzero"`
	Effect      string `json:"effect,omitzero"`

	Bus       string            `json:"bus,omitzero"`
	Service   string            `json:"service,omitzero"`
	Object    string            `json:"object,omitzero"`
	Interface string            `json:"interface,omitzero"`
	Method    string            `json:"method,omitzero"`
	Property  string            `json:"property,omitzero"`
	Access    string            `json:"access,omitzero"`
	Args      []json.RawMessage `json:"args,omitzero"`

	Script any `json:"script,omitzero"` // a text, or steps

	Action      string            `json:"action,omitzero"`
	Extras      map[string]string `json:"extras,omitzero"`
	URLTemplate string            `json:"url_template,omitzero"`
	ResultType  string            `json:"result_type,omitzero"`
	ResultURI   string            `json:"result_uri,omitzero"`
	AppGroupID  string            `json:"app_group_id,omitzero"`

	Execution *requestText `json:"execution,omitzero"`

	Timeout      float64         `json:"timeout,omitzero"`
	OutputParser string          `json:"output_parser,omitzero"`
	Parameters   json.RawMessage `json:"parameters,omitzero"`
	Returns      json.RawMessage `json:"returns,omitzero"`
	Undo         *UndoTemplate   `json:"undo,omitzero"`
}

type requestText struct {
	Path    string              `json:"path"`
	Method  string              `json:"method"`
	Headers map[string]string   `json:"headers,omitzero"`
	Public  bool                `json:"public,omitzero"`
	Send    map[string]sendText `json:"send,omitzero"`
}

type sendText struct {
	In      string `json:"in"`
	Name    string `json:"name,omitzero"`
	Style   string `json:"style,omitzero"`
	Explode *bool  `json:"explode,omitzero"`
	Whole   bool   `json:"whole,omitzero"`
}

type stepText struct {
	Action   string            `json:"action"`
	Var      string            `json:"var,omitzero"`
	Object   string            `json:"object,omitzero"`
	ProgID   string            `json:"progid,omitzero"`
	Method   string            `json:"method,omitzero"`
	Property string            `json:"property,omitzero"`
	Value    json.RawMessage   `json:"value,omitzero"`
	Args     []json.RawMessage `json:"args,omitzero"`
}

// toolTexts returns a section's tools in their written form.
func (p *parser) toolTexts(s *Section) []toolText {
	if s.Automation == "mcp" && len(s.Tools) == 0 {
		return nil // the server lists them
	}
	texts := make([]toolText, len(s.Tools))
	for i, d := range s.Tools {
		texts[i] = toolText{
			Name: d.Name, Title: d.Title, Description: d.Description, Group: d.Group, Parameters: d.Params, Returns: d.Returns, Undo: d.Undo,
			Timeout: float64(d.Timeout) / float64(timeUnit(s.Platform)), OutputParser: d.Recipe.OutputParser,
		}
		if d.Effect != nil {
			texts[i].Effect = d.Effect.String()
		}
		if k := kindOf(p.kinds, d.Recipe); k.write != nil {
			k.write(s, d.Recipe, &texts[i])
		}
	}
	return texts
}

func writeDBus(s *Section, r *aai.Recipe, tool *toolText) {
	d := r.DBus
	differs := func(own, common string) string {
		if own == common {
			return ""
		}
		return own
	}
	if s.Bus != "" || d.Bus != "session" {
		tool.Bus = differs(d.Bus, s.Bus)
	}
	tool.Service, tool.Object, tool.Interface = differs(d.Service, s.Service), differs(d.Object, s.Object), differs(d.Interface, s.Interface)
	tool.Method, tool.Property, tool.Args = d.Method, d.Property, d.Args
	if d.Access == "set" { // the default access is reading
		tool.Access = d.Access
	}
}

func writeScript(_ *Section, r *aai.Recipe, tool *toolText) { tool.Script = r.Script.Script }

func writeCOM(_ *Section, r *aai.Recipe, tool *toolText) {
	steps := make([]stepText, len(r.COM.Steps))
	for i, s := range r.COM.Steps {
		steps[i] = stepText{s.Action, s.Var, s.Object, s.ProgID, s.Method, s.Property, s.Value, s.Args}
	}
	tool.Script = steps
}

func writeIntent(_ *Section, r *aai.Recipe, tool *toolText) {
	tool.Action, tool.Extras = r.Intent.Action, r.Intent.Extras
	tool.ResultType, tool.ResultURI = r.Intent.ResultType, r.Intent.ResultURI
}

func writeURL(_ *Section, r *aai.Recipe, tool *toolText) {
	tool.URLTemplate, tool.ResultType, tool.AppGroupID = r.URL.Template, r.URL.ResultType, r.URL.AppGroupID
}

func writeHTTP(_ *Section, r *aai.Recipe, tool *toolText) {
	tool.Execution = &requestText{Path: r.HTTP.Path, Method: r.HTTP.Method, Headers: r.HTTP.Headers, Public: r.HTTP.Public}
	if r.HTTP.Send != nil {
		tool.Execution.Send = make(map[string]sendText, len(r.HTTP.Send))
	}
	for name, s := range r.HTTP.Send {
		tool.Execution.Send[name] = sendText(s)
	}
}

type authText struct {
	Type          string    `json:"type"`
	OAuth2        *formText `json:"oauth2,omitzero"`
	APIKey        *formText `json:"apiKey,omitzero"`
	AppCredential *formText `json:"appCredential,omitzero"`
	Bearer        *formText `json:"bearer,omitzero"`
	Cookie        *formText `json:"cookie,omitzero"`
}

type formText struct {
	AuthorizationEndpoint string            `json:"authorization_endpoint,omitzero"`
	TokenEndpoint         string            `json:"token_endpoint,omitzero"`
	DeviceEndpoint        string            `json:"device_authorization_endpoint,omitzero"`
	RevocationEndpoint    string            `json:"revocation_endpoint,omitzero"`
	ClientID              string            `json:"client_id,omitzero"`
	Scopes                []string          `json:"scopes,omitzero"`
	PKCE                  map[string]string `json:"pkce,omitzero"`
	Location              string            `json:"location,omitzero"`
	Name                  string            `json:"name,omitzero"`
	Prefix                *string           `json:"prefix,omitzero"`
	EnvVar                string            `json:"env_var,omitzero"`
	TokenType             string            `json:"token_type,omitzero"`
	ExpiresIn             int64             `json:"expires_in,omitzero"` // seconds
	LoginURL              string            `json:"login_url,omitzero"`
	Cookies               []string          `json:"required_cookies,omitzero"`
	Domain                string            `json:"domain,omitzero"`
	ObtainURL             string            `json:"obtain_url,omitzero"`
	Instructions          any               `json:"instructions,omitzero"` // a text, or helpText
}

type helpText struct {
	Short   string `json:"short,omitzero"`
	HelpURL string `json:"help_url"`
}

// authOf returns the authentication of a web app in its written form.
func authOf(a *aai.AuthRecipe) *authText {
	if a == nil {
		return nil
	}
	form := &formText{
		AuthorizationEndpoint: a.AuthorizationEndpoint, TokenEndpoint: a.TokenEndpoint,
		DeviceEndpoint: a.DeviceEndpoint, RevocationEndpoint: a.RevocationEndpoint, ClientID: a.ClientID, Scopes: a.Scopes,
		Location: a.In, Name: a.Name, EnvVar: a.EnvVar, TokenType: a.TokenType, ExpiresIn: int64(a.ExpiresIn / time.Second),
		LoginURL: a.LoginURL, Cookies: a.Cookies, Domain: a.Domain, ObtainURL: a.ObtainURL,
	}
	if a.Instructions != "" {
		form.Instructions = a.Instructions
	}
	if a.PKCE != "" {
		form.PKCE = map[string]string{"method": a.PKCE}
	}
	text := &authText{Type: a.Kind}
	switch a.Kind {
	case aai.AuthOAuth2:
		text.OAuth2 = form
	case aai.AuthAPIKey:
		text.APIKey, form.Prefix = form, &a.Prefix
	case aai.AuthAppCredential:
		text.AppCredential = form
	case aai.AuthBearer:
		text.Bearer, form.Prefix, form.Name = form, &a.Prefix, "" // the place implies the name
	case aai.AuthCookie:
		text.Cookie = form
	}
	if a.ObtainURL != "" && (text.OAuth2 != nil || text.Cookie != nil) { // these types have no member for it
		form.ObtainURL, form.Instructions = "", helpText{a.Instructions, a.ObtainURL}
	}
	return text
}
